package missionstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrInUse reports a mission whose worktree can't be removed: it has changes,
// git refuses, or the command runs in it.
var ErrInUse = errors.New("its worktree is in use")

// ErrUnseen reports a mission whose worktree is not here, and need not be gone:
// it may have work that nobody could see. It wraps [ErrInUse].
var ErrUnseen = fmt.Errorf("its worktree can't be seen from here, as from a container that has only the repository, or after a move: %w", ErrInUse)

// A Removed is the result of a removal, or the expected one.
type Removed struct {
	ID       record.ID
	Branch   string      // short name; empty if it had none
	Worktree string      // empty if it had none
	Bytes    int64       // on disk, freed when git collects garbage; -1 if unknown
	Forks    []record.ID // missions that keep what they inherited
}

// Remove removes a mission: the worktree, if clean or with force, then branch
// and notes, then the ledger. Forks keep what they inherited. With dry nothing
// is changed. The error wraps [ErrInUse] if the worktree can't be removed, and
// without force [ErrAtWork] if a turn is running, and [ErrUnmerged] if the
// branch has commits of the user's.
func Remove(ctx context.Context, w *workspace.Workspace, id record.ID, live func(context.Context) ([]turns.Live, error), force, dry bool) (*Removed, error) {
	refs, err := w.Repo.Refs(ctx, id.Ref(), id.NotesRef(), w.Branch(id))
	if err != nil {
		return nil, err
	}
	if _, ok := refs[id.Ref()]; !ok {
		return removeArchived(ctx, w, id, force, dry)
	}
	if !force {
		if err := noTurn(ctx, w, id, live); err != nil {
			return nil, err
		}
	}
	done, err := Removal(ctx, w, id, refs, force)
	if err != nil {
		return nil, err
	}
	if done.Bytes, err = freed(ctx, w, refs); err != nil {
		done.Bytes = -1 // an object is missing or too large
	}
	if done.Forks, err = forksOf(ctx, w, id); err != nil {
		return nil, err
	}
	if dry {
		return done, nil
	}
	if done.Worktree != "" {
		if err := RemoveWorktree(ctx, w, done.Worktree, force); err != nil {
			return nil, fmt.Errorf("remove mission %s: %w", id, err)
		}
	}
	if err := forgetArchived(ctx, w, id); err != nil { // else its archived state would come back
		return nil, err
	}
	if err := w.GiveUp(id); err != nil {
		return nil, err
	}
	last := map[string]object.Hash{id.Ref(): refs[id.Ref()]}
	delete(refs, id.Ref())
	// Git deletes one by one: ledger last, a killed removal can be repeated.
	for _, some := range []map[string]object.Hash{refs, last} {
		job := ledgertx.Job{Mission: id, What: "removed"}
		err = ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
			for ref, old := range some {
				tx.Move(ref, object.Hash{}, old)
			}
			return tx.Commit(ctx)
		})
		if err != nil {
			return nil, fmt.Errorf("remove mission %s: %w", id, err)
		}
	}
	ledgertx.LeaveRewrites(ctx, w, id)
	return done, errors.Join(w.Forget(ctx, id), w.Store.Forget(ctx, id))
}

// noTurn returns an error if a turn of the mission, or in its worktree, runs.
func noTurn(ctx context.Context, w *workspace.Workspace, id record.ID, live func(context.Context) ([]turns.Live, error)) error {
	sessions, err := live(ctx)
	sessions = slices.DeleteFunc(sessions, func(l turns.Live) bool { return l.Open == nil })
	if err != nil || len(sessions) == 0 {
		return err
	}
	branch := w.Branch(id)
	path, err := w.Repo.WorktreeOf(ctx, branch)
	if err != nil {
		return err
	}
	var there []occupied
	if linked := linkedWorktree(w, path); path != "" && linked != nil {
		there = append(there, occupied{gitDir: linked.GitDir, branch: branch})
	}
	return busy(id, branch, there, sessions)
}

// Removal returns what would be removed besides ledger and notes, with the
// errors of [Remove]. refs has the mission's branch and ledger.
func Removal(ctx context.Context, w *workspace.Workspace, id record.ID, refs map[string]object.Hash, force bool) (*Removed, error) {
	branch := w.Branch(id)
	worktree, err := removable(ctx, w, id, branch, force)
	if err != nil {
		return nil, err
	}
	done := &Removed{ID: id, Worktree: worktree, Bytes: -1}
	tip, ok := refs[branch]
	if !ok {
		return done, nil
	}
	done.Branch = strings.TrimPrefix(branch, "refs/heads/")
	if !force {
		if err := noneHidden(w, worktree); err != nil {
			return nil, fmt.Errorf("mission %s: %w", id, err)
		}
		if err := unmerged(ctx, w, branch, tip, refs[id.Ref()]); err != nil {
			return nil, fmt.Errorf("mission %s: %w", id, err)
		}
	}
	return done, nil
}

func removeArchived(ctx context.Context, w *workspace.Workspace, id record.ID, force, dry bool) (*Removed, error) {
	done, left, err := RemoveArchived(ctx, w, []record.ID{id}, force, dry)
	if err == nil {
		err = errors.Join(left...)
	}
	if errors.Is(err, git.ErrNotFound) {
		err = turns.Missing(ctx, w.Repo, "mission "+string(id), string(id))
	}
	if err != nil {
		return nil, err
	}
	return done[0], nil
}

// RemoveArchived removes archived missions together. left has an error for each
// that stays, as for Remove, because of the user's commits on its branch.
func RemoveArchived(ctx context.Context, w *workspace.Workspace, ids []record.ID, force, dry bool) (done []*Removed, left []error, err error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	index, err := archiveOf(ctx, w, objects)
	if err != nil {
		return nil, nil, err
	}
	var gone []record.ID
	for _, id := range ids {
		e, ok, err := index.Find(id)
		if err == nil && !ok {
			err = git.ErrNotFound
		}
		if err != nil {
			return nil, nil, fmt.Errorf("mission %s in the archive: %w", id, err)
		}
		one := &Removed{ID: id, Bytes: -1}
		if !e.Branch.IsZero() {
			branch := w.Branch(id)
			one.Branch = strings.TrimPrefix(branch, "refs/heads/")
			if !force {
				err = unmerged(ctx, w, branch, e.Branch, e.Ledger)
			}
		}
		switch {
		case errors.Is(err, ErrUnmerged):
			left = append(left, fmt.Errorf("mission %s: %w", id, err))
			continue
		case err != nil:
			return nil, nil, err
		}
		done, gone = append(done, one), append(gone, id)
	}
	if dry || len(gone) == 0 {
		return done, left, nil
	}
	err = forgetArchived(ctx, w, gone...)
	for _, id := range gone {
		if err == nil {
			err = errors.Join(w.Forget(ctx, id), w.Store.Forget(ctx, id))
		}
	}
	return done, left, err
}

// RemoveWorktree removes a linked worktree. A refusal of git's wraps
// [ErrInUse].
func RemoveWorktree(ctx context.Context, w *workspace.Workspace, path string, force bool) error {
	err := removeWorktree(ctx, w, path, force)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return err
}

// removeWorktree removes a linked worktree, noting the locks of a killed git.
func removeWorktree(ctx context.Context, w *workspace.Workspace, path string, force bool) error {
	args := []string{"worktree", "remove", "--", path}
	if force {
		args = []string{"worktree", "remove", "--force", "--", path}
	}
	if linked := linkedWorktree(w, path); linked != nil {
		git.Unlock(path)
		doing := removing(linked)
		held, err := w.Store.Dir().Lock(ctx, doing)
		if err != nil {
			return err
		}
		defer release(w, held, doing)
		if err := held.Note(statedir.Note{Words: []string{path, linked.GitDir + "/"}}); err != nil {
			return err
		}
	} else if at := w.Repo.Behind(path); force && at != nil && replaced(path) && !pathExists(filepath.Join(at.GitDir, "locked")) {
		return forget(ctx, w, at)
	}
	_, err := w.Repo.With(git.Others).Output(ctx, nil, args...)
	return err
}

// removing returns the lock of a worktree's removal, with its note.
func removing(linked *git.Repo) string {
	return filepath.Join(plantings, "remove-"+filepath.Base(linked.GitDir))
}

// replaced reports whether something is at the path of a linked worktree that
// is not a worktree: the rest of it, or what was put there since.
func replaced(path string) bool {
	return pathExists(path) && !pathExists(filepath.Join(path, ".git"))
}

// forget removes what the repository has of a linked worktree. What is at its
// path goes only if a removal that was killed has left it.
func forget(ctx context.Context, w *workspace.Workspace, at *git.Repo) error {
	doing := removing(at)
	held, err := w.Store.Dir().Lock(ctx, doing)
	if err != nil {
		return err
	}
	defer release(w, held, doing)
	if slices.Equal(held.Left().Words, []string{at.Top, at.GitDir + "/"}) {
		git.Unlock(at.Top)
		err = os.RemoveAll(at.Top)
	}
	if err == nil {
		err = os.RemoveAll(at.GitDir)
	}
	_ = os.Remove(filepath.Dir(at.GitDir)) // as git does after the last one
	return err
}

// finishRemoval removes the rest of a worktree whose removal was killed, with
// its locks. Nothing goes if the removal had not begun, or files were added.
func finishRemoval(ctx context.Context, w *workspace.Workspace, path, gitDir string) error {
	if filepath.Dir(filepath.Clean(gitDir)) != filepath.Join(w.Repo.CommonDir, "worktrees") || !filepath.IsAbs(path) {
		return errors.New("the note of its removal names no worktree of this repository")
	}
	if err := git.DropLeftLocks(ctx, statedir.Note{Words: []string{gitDir + "/"}}); err != nil {
		return err
	}
	if !pathExists(gitDir) || !pathExists(path) {
		return nil // git was done: anything there now is new
	}
	if !pathExists(filepath.Join(path, ".git")) {
		changes, err := changesIn(ctx, w.Repo.With(git.Others, git.Env("GIT_DIR="+gitDir, "GIT_WORK_TREE="+path)))
		if err != nil || len(changes) > 0 && !onlyDeleted(changes) {
			return err
		}
		return os.RemoveAll(path)
	}
	linked := linkedWorktree(w, path)
	if linked == nil {
		return nil
	}
	changes, err := changesIn(ctx, linked)
	if err != nil || !onlyDeleted(changes) {
		return err
	}
	_, err = w.Repo.With(git.Others).Output(ctx, nil, "worktree", "remove", "--force", "--", path)
	return err
}

func changesIn(ctx context.Context, repo *git.Repo) ([]byte, error) {
	return repo.With(git.Env("GIT_OPTIONAL_LOCKS=0")).Output(ctx, nil, "status", "--porcelain=v2", "-z", "-uall")
}

// onlyDeleted reports whether a worktree differs from HEAD in missing tracked
// files only, so that its removal loses nothing.
func onlyDeleted(status []byte) bool {
	entries := strings.Split(strings.TrimSuffix(string(status), "\x00"), "\x00")
	return !slices.ContainsFunc(entries, func(e string) bool { return !strings.HasPrefix(e, "1 .D ") })
}

// linkedWorktree returns the repository of the linked worktree at a path, or
// nil.
func linkedWorktree(w *workspace.Workspace, path string) *git.Repo {
	repo, err := git.Find(path)
	if err != nil || repo.CommonDir != w.Repo.CommonDir || repo.GitDir == repo.CommonDir || !pathExists(filepath.Join(path, ".git")) {
		return nil
	}
	return repo
}

// removable returns the linked worktree that has the mission's branch, or "". A
// second one is an error, since it would lose its branch.
func removable(ctx context.Context, w *workspace.Workspace, id record.ID, branch string, force bool) (string, error) {
	list, err := w.Repo.Worktrees(ctx)
	if err != nil {
		return "", err
	}
	path, linked, err := checkedOut(id, branch, w.Repo.Top, list, func(path string) *git.Repo { return linkedWorktree(w, path) })
	switch {
	case err != nil:
		return "", err
	case linked == nil && path != "" && !force && (replaced(path) || w.Repo.Unseen(ctx, path)):
		return "", fmt.Errorf("mission %s: %w: %s", id, ErrUnseen, path)
	case linked == nil:
		return path, nil
	}
	changes, err := changesIn(ctx, linked)
	if err != nil {
		return "", err
	}
	if !force {
		if len(changes) > 0 {
			return "", fmt.Errorf("mission %s has changes in %s that are not committed: %w", id, path, ErrInUse)
		}
		switch within, err := nested(path); {
		case err != nil:
			return "", fmt.Errorf("mission %s: look for repositories in its worktree: %w: %w", id, ErrInUse, err)
		case within != "":
			return "", fmt.Errorf("mission %s: another repository, or a worktree, is in %s: %w", id, within, ErrInUse)
		}
		if err := notLookedAt(ctx, linked); err != nil {
			return "", fmt.Errorf("mission %s: %w", id, err)
		}
	}
	return path, nil
}

// noneHidden returns an error if a mission's branch, which no known worktree
// has, may be checked out where this user may not look.
func noneHidden(w *workspace.Workspace, worktree string) error {
	if dir := w.Repo.Hidden(); worktree == "" && dir != "" {
		return fmt.Errorf("%w: this user may not look at %s", ErrUnseen, dir)
	}
	return nil
}

// checkedOut returns the linked worktree with the branch, or one whose
// directory is gone, which git forgets; "" if there is none. The main worktree
// comes first in worktrees, and top is the current one.
func checkedOut(id record.ID, branch, top string, worktrees []git.Worktree, linkedAt func(path string) *git.Repo) (path string, linked *git.Repo, err error) {
	gone := ""
	for i, w := range worktrees {
		if w.Branch != branch {
			continue
		}
		at := linkedAt(w.Path)
		switch {
		case i == 0 || w.Path == top:
			return "", nil, fmt.Errorf("mission %s is checked out in %s: %w", id, w.Path, ErrInUse)
		case at == nil:
			gone = w.Path
		case linked != nil:
			return "", nil, fmt.Errorf("mission %s is checked out in %s, and in %s as well: %w", id, path, w.Path, ErrInUse)
		default:
			path, linked = w.Path, at
		}
	}
	return cmp.Or(path, gone), linked, nil
}

// nested returns a repository or worktree inside a worktree, or "". Git does
// not report an ignored one, which may hold the only copy of its content.
func nested(worktree string) (within string, err error) {
	err = filepath.WalkDir(worktree, func(path string, d fs.DirEntry, err error) error {
		switch dir := filepath.Dir(path); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case filepath.Base(path) == ".git" && dir != filepath.Clean(worktree):
			within = dir
			return fs.SkipAll
		}
		return nil
	})
	return within, err
}

// freed returns the size on disk of objects that only these refs reach.
func freed(ctx context.Context, w *workspace.Workspace, refs map[string]object.Hash) (int64, error) {
	args := []string{"rev-list", "--objects", "--disk-usage"}
	for _, h := range refs {
		args = append(args, h.String())
	}
	args = append(args, "--not")
	for ref := range refs {
		args = append(args, "--exclude="+ref)
	}
	out, err := w.Repo.With(git.Wary).Output(ctx, nil, append(args, "--all", "HEAD")...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

func forksOf(ctx context.Context, w *workspace.Workspace, id record.ID) ([]record.ID, error) {
	lines, err := turns.Missions(ctx, w.Repo)
	if err := cmp.Or(ctx.Err(), err); err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		return nil, err
	}
	var forks []record.ID
	for _, l := range lines {
		if l.ForkedFrom != nil && l.ForkedFrom.Mission == id {
			forks = append(forks, l.ID)
		}
	}
	slices.Sort(forks)
	return forks, nil
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
