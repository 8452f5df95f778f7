package missionstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A creation is a new mission with its refs and, if named, its worktree.
type creation struct {
	id       record.ID
	tip      object.Hash        // of the ledger
	from     object.Hash        // commit at which the branch begins
	branch   string             // full name
	worktree string             // empty for none
	here     bool               // the branch is checked out in the current worktree
	foreign  bool               // what is checked out is untrusted
	include  *copyignored.Files // files that the worktree gets besides the tree; may be nil
	copying  func(copyignored.Amount)
	progress io.Writer // git's, of the checkout; may be nil
	unhooked func(error)
}

// create makes the mission or changes nothing; event adds the first event of
// its ledger. undo removes everything again; its error says what is left.
//
// A locked file names what is being made. If the process is killed,
// [ClearDead] finds the file and removes what was made.
func create(ctx context.Context, w *workspace.Workspace, p creation, at time.Time, event func(*ledgertx.Tx) error) (undo func() error, got *copyignored.Copied, err error) {
	if p.worktree != "" {
		// Existing files must not be removed when a later step fails.
		if entries, err := os.ReadDir(p.worktree); len(entries) > 0 {
			return nil, nil, fmt.Errorf("the directory %s is not empty", p.worktree)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	repo, err := checkingOut(ctx, w, p)
	if err != nil {
		return nil, nil, err
	}
	ClearDead(ctx, w)
	planting := filepath.Join(plantings, string(p.id))
	held, err := w.Store.Dir().Lock(ctx, planting)
	if err != nil {
		return nil, nil, err
	}
	defer release(w, held, planting)
	job := ledgertx.Job{Mission: p.id, At: at, What: "begin"}
	err = ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil {
			return err
		}
		refs, err := tx.Repo.Refs(ctx, p.id.Ref(), p.branch)
		_, taken := refs[p.id.Ref()]
		switch {
		case err != nil:
			return err
		case taken || tx.Ledger != nil: // or archived
			return fmt.Errorf("mission %s already exists", p.id)
		case len(refs) > 0:
			return fmt.Errorf("the branch %s already exists", strings.TrimPrefix(p.branch, "refs/heads/"))
		}
		if err := event(tx); err != nil {
			return err
		}
		p.tip = tx.Ledger.Tip
		tx.Move(p.branch, p.from, object.Hash{})
		if err := held.Note(statedir.Note{Words: p.words(w.Repo)}); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
	if err != nil {
		return nil, nil, err
	}
	undo = func() error { return undoCreation(context.WithoutCancel(ctx), w, p, "--force", "--") }
	if err := p.checkOut(ctx, repo.With(git.Holding(held.File()))); err != nil {
		return nil, nil, errors.Join(err, undo())
	}
	if p.include != nil {
		if got, err = include(ctx, w, p); err != nil {
			return nil, nil, errors.Join(err, undo())
		}
	}
	return undo, got, nil
}

func include(ctx context.Context, w *workspace.Workspace, p creation) (*copyignored.Copied, error) {
	repo, err := git.Find(p.worktree)
	if err != nil {
		return nil, err
	}
	if p.foreign {
		if repo, err = repo.Foreign(ctx); err != nil {
			return nil, err
		}
	}
	return p.include.Copy(ctx, repo, p.copying)
}

// plantings is the directory of files that name what is being made or removed.
const plantings = "planting"

func release(w *workspace.Workspace, held *statedir.Lock, path string) {
	_ = w.Store.Dir().Remove(path)
	_ = w.Store.Dir().Remove(plantings) // if it is empty
	held.Release()
}

// foreignWord marks an untrusted creation in its lock note, before file paths.
const foreignWord = "foreign"

// words returns the lock note: the fields, and files that git locks.
func (p creation) words(repo *git.Repo) []string {
	words := []string{string(p.id), repo.Format().Text(p.tip), repo.Format().Text(p.from), p.branch, p.worktree}
	if p.foreign {
		words = append(words, foreignWord)
	}
	if p.here {
		return append(append(words, filepath.Join(repo.GitDir, "index")), repo.LockedBy(nil)...)
	}
	return append(words, repo.TableLists()...)
}

func parsePlant(words []string) (p creation, files []string, ok bool) {
	if len(words) < 5 {
		return p, nil, false
	}
	p = creation{
		id: record.ID(words[0]), tip: object.NewHash(words[1]), from: object.NewHash(words[2]), branch: words[3], worktree: words[4],
	}
	files = words[5:]
	if p.foreign = len(files) > 0 && files[0] == foreignWord; p.foreign {
		files = files[1:]
	}
	return p, files, true
}

// ClearDead removes what our killed processes left: locks, and half-made
// missions unless they are in use already. Failures are logged.
func ClearDead(ctx context.Context, w *workspace.Workspace) {
	if err := ledgertx.ClearDead(ctx, w); err != nil {
		w.Store.Log(time.Now(), err.Error())
	}
	if err := w.Store.DropPages(); err != nil {
		w.Store.Log(time.Now(), err.Error())
	}
	entries, err := w.Store.Dir().ReadDir(plantings)
	if err != nil {
		return // usually there are none
	}
	for _, e := range entries {
		path := filepath.Join(plantings, e.Name())
		held, err := w.Store.Dir().TryLock(path)
		if held == nil || err != nil {
			continue // its process is alive
		}
		words := held.Left().Words
		if at := worktreeOf(words); at != "" && w.Repo.Unseen(ctx, at) {
			held.Release() // for who sees it
			continue
		}
		if len(words) == 2 {
			if err := finishRemoval(ctx, w, words[0], words[1]); err != nil {
				w.Store.Log(time.Now(), fmt.Sprintf("the worktree %s was being removed by a process that was killed: %v", words[0], err))
			}
		} else if p, files, ok := parsePlant(words); ok {
			err := git.DropLeftLocks(ctx, statedir.Note{At: held.Left().At, Words: files})
			if err == nil {
				// The checkout locks the branch, too, which is still unknown to
				// others.
				_, err = w.Repo.AwaitLocks(ctx, p.branch)
			}
			if err == nil {
				err = undoLeftCreations(ctx, w, p)
			}
			if err != nil {
				w.Store.Log(time.Now(), fmt.Sprintf("mission %s was being made by a process that was killed: %v", p.id, err))
			}
		}
		release(w, held, path)
	}
	_ = w.Store.Dir().Remove(plantings) // if it was empty already
}

// worktreeOf returns the worktree that a note of a creation or a removal is
// about, or "".
func worktreeOf(words []string) string {
	if len(words) == 2 {
		return words[0]
	}
	p, _, _ := parsePlant(words)
	return p.worktree
}

// undoLeftCreations removes a killed process's creation, if unchanged.
func undoLeftCreations(ctx context.Context, w *workspace.Workspace, p creation) error {
	if err := clearWorktree(w, p); err != nil { // first: git fails at a half-made one
		return err
	}
	refs, err := w.Repo.Refs(ctx, p.id.Ref(), p.branch)
	if err != nil {
		return err
	}
	for ref, made := range p.refs() {
		if now, ok := refs[ref]; ok && now != made {
			return nil
		}
	}
	list, err := w.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, tree := range list {
		if tree.Branch == p.branch && tree.Path != p.worktree {
			return nil // it is checked out already, and whole
		}
	}
	return undoCreation(ctx, w, p, "--") // git refuses if there are changes
}

func (p creation) refs() map[string]object.Hash {
	return map[string]object.Hash{p.id.Ref(): p.tip, p.branch: p.from}
}

// clearWorktree removes a half-made or half-removed worktree: git keeps it
// locked as "initializing" until it is made; a removal may have taken its .git.
func clearWorktree(w *workspace.Workspace, p creation) error {
	if p.worktree == "" {
		return nil
	}
	admin := ""
	for _, dir := range w.Repo.Glob("worktrees/*") {
		reason, _ := os.ReadFile(filepath.Join(dir, "locked")) // usually there is none
		half := strings.TrimSpace(string(reason)) == "initializing"
		of, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		switch link := strings.TrimSpace(string(of)); {
		case err == nil && link != "" && git.SameFile(filepath.Dir(link), p.worktree) && (half || !pathExists(link)),
			half && link == "" && strings.HasPrefix(filepath.Base(dir), filepath.Base(p.worktree)): // no gitdir yet
			admin = dir
		}
	}
	if admin == "" {
		return nil // complete, or not begun
	}
	git.Unlock(p.worktree)
	if err := os.RemoveAll(p.worktree); err != nil {
		return err
	}
	return os.RemoveAll(admin)
}

// undoCreation removes a creation, the worktree first: if a user's hook fails,
// git keeps that, and won't delete its branch. args are for git worktree
// remove.
func undoCreation(ctx context.Context, w *workspace.Workspace, p creation, args ...string) error {
	if p.worktree != "" && pathExists(filepath.Join(p.worktree, ".git")) {
		git.Unlock(p.worktree)
		repo, err := checkingOut(ctx, w, p)
		if err == nil {
			_, err = repo.With(git.Others).Output(ctx, nil, append(append([]string{"worktree", "remove"}, args...), p.worktree)...)
		}
		if err != nil {
			return fmt.Errorf("what is left: the mission %s, its branch and the worktree %s; remove them with git agent-turn remove --force %s: %w",
				p.id, p.worktree, p.id, err)
		}
	}
	job := ledgertx.Job{Mission: p.id, What: "undone"}
	if err := w.GiveUp(p.id); err != nil {
		return err
	}
	err := ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		left, err := w.Repo.Refs(ctx, p.id.Ref(), p.branch)
		if err != nil {
			return err
		}
		for ref := range left { // git moves two refs one after the other
			tx.Move(ref, object.Hash{}, p.refs()[ref])
		}
		return tx.Commit(ctx)
	})
	if err == nil {
		err = w.Forget(ctx, p.id)
	}
	if err != nil {
		return fmt.Errorf("what is left: the mission %s and its branch; remove them with git agent-turn remove %s: %w", p.id, p.id, err)
	}
	return nil
}

func checkingOut(ctx context.Context, w *workspace.Workspace, p creation) (*git.Repo, error) {
	repo, err := w.Repo.Forgiving(ctx)
	if err == nil && p.foreign {
		repo, err = repo.Foreign(ctx, p.worktree)
	}
	return repo, err
}

// checkOut checks out the branch. Git also fails if a hook of the user's fails
// after that: then the checkout stays, and p.unhooked is told why.
func (p creation) checkOut(ctx context.Context, repo *git.Repo) error {
	if p.worktree == "" && !p.here {
		return nil
	}
	var before git.Head
	if p.here {
		var err error
		if before, err = repo.Head(ctx); err != nil {
			return err
		}
	}
	err := p.runCheckout(ctx, repo)
	if err == nil || !p.isCheckedOut(context.WithoutCancel(ctx), repo) {
		return err
	}
	if ctx.Err() == nil && git.Status(err) > 0 { // it was not stopped
		if p.unhooked != nil {
			p.unhooked(err)
		}
		return nil
	}
	if p.here {
		err = errors.Join(err, switchBack(context.WithoutCancel(ctx), repo, before))
	}
	return err
}

func (p creation) runCheckout(ctx context.Context, repo *git.Repo) error {
	name := strings.TrimPrefix(p.branch, "refs/heads/")
	repo = repo.With(git.Hooked)
	if p.here {
		_, err := repo.Output(ctx, nil, "switch", "--quiet", name)
		return err
	}
	repo = repo.With(git.Others)
	repo.MakeWays(filepath.Join(repo.CommonDir, "worktrees", "any"))
	if p.progress != nil {
		return repo.Run(ctx, nil, io.Discard, p.progress, "worktree", "add", "--", p.worktree, name)
	}
	_, err := repo.Output(ctx, nil, "worktree", "add", "--quiet", "--", p.worktree, name)
	return err
}

// isCheckedOut reports whether the branch is checked out as a whole: git writes
// the index after the files, and switches HEAD after that.
func (p creation) isCheckedOut(ctx context.Context, repo *git.Repo) bool {
	if !p.here {
		var err error
		if repo, err = git.Find(p.worktree); err != nil || !pathExists(filepath.Join(repo.GitDir, "index")) {
			return false
		}
	}
	now, err := repo.HeadRef(ctx)
	return err == nil && now == p.branch
}

// A Beginning is a new attached mission.
type Beginning struct {
	ID       record.ID
	Title    string
	From     object.Hash // its first commit
	Worktree string      // to be made for it; empty for the current one
	Session  string      // the session that will record to it, if known
	At       time.Time

	Include  *copyignored.Files       // files that a new worktree gets besides the tree; may be nil
	Copying  func(copyignored.Amount) // is told now and then how much of them is copied; may be nil
	Unhooked func(error)              // is told how a hook of the user's failed after the checkout; may be nil
}

// Begin makes an attached mission: ledger and branch in one transaction, then
// the checkout, which keeps uncommitted changes as `git switch` does. If that
// fails, both are removed. included is nil if nothing was to be copied.
func Begin(ctx context.Context, w *workspace.Workspace, b Beginning) (m *record.Mission, included *copyignored.Copied, err error) {
	branch := w.Branch(b.ID)
	m = &record.Mission{
		Title: turns.GivenTitle(w.Settings.Rules(), b.Title), Created: b.At.UTC().Truncate(time.Millisecond),
		Base: b.From.String(), Branch: branch,
	}
	m.AddSession(b.Session)
	p := creation{
		id: b.ID, from: b.From, branch: branch, worktree: b.Worktree, here: b.Worktree == "", include: b.Include, copying: b.Copying,
		unhooked: b.Unhooked,
	}
	_, included, err = create(ctx, w, p, b.At, func(tx *ledgertx.Tx) error {
		tx.Begin(m)
		return tx.Append("start "+string(b.ID), nil, b.From)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("start mission %s: %w", b.ID, err)
	}
	if b.Session == "" {
		return m, included, nil
	}
	return m, included, w.Store.Update(ctx, b.Session, func(st *session.Known) error {
		st.Mission, st.Seen = b.ID, b.At
		return nil
	})
}

// switchBack returns HEAD to where it was, without the hooks, one of which was
// stopped.
func switchBack(ctx context.Context, repo *git.Repo, to git.Head) error {
	back := []string{"switch", "--quiet"}
	if to.Branch == "" {
		back = append(back, "--detach", to.Commit.String())
	} else {
		back = append(back, strings.TrimPrefix(to.Branch, "refs/heads/"))
	}
	_, err := repo.Output(ctx, nil, back...)
	return err
}
