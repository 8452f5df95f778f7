package missionstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrAtWork reports a mission with an agent in its worktree.
var ErrAtWork = errors.New("an agent is at work")

var errUnderWay = errors.New("is under way")

// Leave removes the worktree and branch of an unfinished mission, like
// [RemoveFinished]; the ledger stays. With dry nothing is changed.
//
// If anything would be lost, all stays. The error wraps [ErrInUse] if the
// worktree has unrecorded changes, is locked, is the current one, or git has an
// operation under way there; [ErrAtWork] if a live session is there;
// [ErrUnmerged] if only the branch has some commits of the user's; and
// [workspace.ErrUntrusted] for an untrusted mission.
func Leave(ctx context.Context, w *workspace.Workspace, id record.ID, live func(context.Context) ([]turns.Live, error), dry bool) (gone *Removed, err error) {
	ClearDead(ctx, w)
	branch := w.Branch(id)
	path, err := w.Repo.WorktreeOf(ctx, branch)
	if err != nil {
		return nil, err
	}
	leave := func() error {
		gone, err = leaveWorktree(ctx, w, id, branch, live, dry)
		return err
	}
	if linked := linkedWorktree(w, path); path != "" && linked != nil {
		return gone, ledgertx.Worktree(ctx, workspace.New(linked, w.Settings), leave) // no turn is recorded there
	}
	return gone, leave()
}

func leaveWorktree(ctx context.Context, w *workspace.Workspace, id record.ID, branch string, live func(context.Context) ([]turns.Live, error), dry bool) (*Removed, error) {
	refs, err := w.Repo.Refs(ctx, id.Ref(), branch)
	if err != nil {
		return nil, err
	}
	tip, ok := refs[branch]
	if !ok {
		return &Removed{ID: id, Bytes: -1}, nil
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	standing, err := w.TrustLevel(ctx, objects, id, refs[id.Ref()])
	if err == nil && (!standing.Whole || standing.By == trust.Unknown) {
		err = fmt.Errorf("mission %s was %w", id, workspace.ErrUntrusted)
	}
	if err == nil {
		err = idle(ctx, w, id, branch, live)
	}
	if err != nil {
		return nil, err
	}
	gone, err := leaving(ctx, w, id, branch)
	if err != nil {
		return nil, err
	}
	if err := unmerged(ctx, w, branch, tip, refs[id.Ref()]); err != nil {
		return nil, fmt.Errorf("mission %s: %w", id, err)
	}
	if !dry {
		err = removeBranch(ctx, w, gone, tip, "left")
	}
	return gone, err
}

// idle returns an error if an agent or a git operation is at work on a mission.
func idle(ctx context.Context, w *workspace.Workspace, id record.ID, branch string, live func(context.Context) ([]turns.Live, error)) error {
	sessions, err := live(ctx)
	if err != nil {
		return err
	}
	worktrees, err := w.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	var there []occupied
	for _, tree := range worktrees {
		at, err := git.Find(tree.Path)
		if err != nil || at.CommonDir != w.Repo.CommonDir {
			if at = w.Repo.Behind(tree.Path); at == nil {
				continue // it is gone
			}
		}
		op, err := at.Operation(ctx)
		if err != nil {
			return err
		}
		there = append(there, occupied{
			path: tree.Path, gitDir: at.GitDir, branch: tree.Branch, operation: op, returns: []string{at.RebasedBranch(), bisected(at)},
			locked: pathExists(filepath.Join(at.GitDir, "locked")),
		})
	}
	return busy(id, branch, there, sessions)
}

// An occupied is a worktree with what may be going on in it.
type occupied struct {
	path, gitDir string
	branch       string   // full name; empty when detached
	operation    string   // of git, under way
	returns      []string // branches that it will go back to
	locked       bool
}

// busy returns an error if the mission with this branch is being worked on.
func busy(id record.ID, branch string, worktrees []occupied, sessions []turns.Live) error {
	there := make(map[string]bool) // git directories
	for _, w := range worktrees {
		if w.operation != "" && (w.branch == branch || slices.Contains(w.returns, branch)) {
			return fmt.Errorf("mission %s: a %s %w in %s: %w", id, w.operation, errUnderWay, w.path, ErrInUse)
		}
		if w.branch != branch {
			continue
		}
		there[w.gitDir] = true
		if w.locked {
			return fmt.Errorf("mission %s: git has locked %s: %w", id, w.path, ErrInUse)
		}
	}
	for _, l := range sessions {
		switch {
		case l.Mission != id && !there[l.Worktree]:
		case l.Open != nil:
			return fmt.Errorf("turn %s is running: %w", l.ID(), ErrAtWork)
		default:
			return fmt.Errorf("mission %s waits for a prompt: %w", id, ErrAtWork)
		}
	}
	return nil
}

// bisected returns the branch, as a full ref, to which a bisect goes back.
func bisected(repo *git.Repo) string {
	name, err := os.ReadFile(filepath.Join(repo.GitDir, "BISECT_START"))
	if err != nil {
		return ""
	}
	return "refs/heads/" + strings.TrimSpace(string(name))
}

// leaving returns what goes when only the ledger stays. If the worktree has
// changes, the error wraps [ErrInUse].
func leaving(ctx context.Context, w *workspace.Workspace, id record.ID, branch string) (*Removed, error) {
	worktree, err := removable(ctx, w, id, branch, false)
	if err != nil {
		return nil, err
	}
	if err := noneHidden(w, worktree); err != nil {
		return nil, fmt.Errorf("mission %s: %w", id, err)
	}
	return &Removed{ID: id, Branch: strings.TrimPrefix(branch, "refs/heads/"), Worktree: worktree, Bytes: -1}, nil
}

// notLookedAt returns an error if git status hides changes of a file because of
// its skip-worktree or assume-unchanged bit.
func notLookedAt(ctx context.Context, linked *git.Repo) error {
	out, err := linked.Output(ctx, nil, "ls-files", "-v", "-s", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		name, hash, hidden := parseHidden(entry)
		if !hidden {
			continue
		}
		path := filepath.Join(linked.Top, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() {
			continue // git reports the content of a directory
		}
		var now []byte
		if info.Mode().IsRegular() {
			now, err = linked.Output(ctx, nil, "hash-object", "--", name)
		} else if to, e := os.Readlink(path); e == nil {
			now, err = linked.Output(ctx, strings.NewReader(to), "hash-object", "--stdin")
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(now)) != hash {
			return fmt.Errorf("%q in %s has changes that git does not look at: %w", name, linked.Top, ErrInUse)
		}
	}
	return nil
}

// parseHidden parses an entry of git ls-files -v -s: skip-worktree has the tag
// S, and assume-unchanged one in lower case.
func parseHidden(entry string) (name, hash string, hidden bool) {
	about, name, _ := strings.Cut(entry, "\t")
	fields := strings.Fields(about) // tag, mode, hash, stage
	if len(fields) != 4 || fields[0] != "S" && fields[0] == strings.ToUpper(fields[0]) {
		return "", "", false
	}
	return name, fields[2], true
}

// removeBranch removes a worktree and its branch, which is at tip; a reflog
// says what.
func removeBranch(ctx context.Context, w *workspace.Workspace, gone *Removed, tip object.Hash, what string) error {
	if gone.Worktree != "" {
		if err := removeWorktree(ctx, w, gone.Worktree, false); err != nil {
			return fmt.Errorf("remove the worktree of mission %s: %w: %w", gone.ID, ErrInUse, err)
		}
	}
	job := ledgertx.Job{Mission: gone.ID, At: time.Now(), What: what}
	err := ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		tx.Move("refs/heads/"+gone.Branch, object.Hash{}, tip)
		return tx.Commit(ctx)
	})
	if err != nil {
		return fmt.Errorf("remove the branch of mission %s: %w", gone.ID, err)
	}
	return nil
}
