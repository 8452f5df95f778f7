package finisher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// Reasons why a mission can't be finished. Git itself has said what it refuses.
var (
	ErrUnderWay     = errors.New("is under way")
	ErrAtOnce       = errors.New("another finish is under way in this worktree")
	ErrStaged       = errors.New("changes are staged")
	ErrUncommitted  = errors.New("changes that no turn has recorded")
	ErrUnresolved   = errors.New("conflicts")
	ErrNotMerged    = errors.New("git could not merge it")
	ErrNotPrepared  = errors.New("the commit could not be prepared")
	ErrNotCommitted = errors.New("git made no commit")
	ErrNotNoted     = errors.New("the ledger does not say so")
	ErrNotSplit     = errors.New("can't be split like that")
	ErrEmpty        = errors.New("nothing to commit")
	ErrElsewhere    = errors.New("not made on the mission's branch")
	ErrResolved     = errors.New("is resolved with nothing to commit")
)

// A Finishing says how a mission is finished.
type Finishing struct {
	Mission record.ID
	At      time.Time
	Message string // replaces the proposed one; trailers are added
	Edit    bool   // the user edits the message
	Trailer bool   // trailers tell of the tests that passed
	// Assisted is the name of the trailers that say which agents and models
	// helped, as [TrailerAssisted]; "" for none.
	Assisted string
	Split    []ledger.Ranges // the turns of each commit; nil for one commit
	Stdin    io.Reader       // of git, its hooks and the editor
	Talk     io.Writer       // where they write

	// Tell, unless nil, is called for a passive mission before the commit:
	// byHand are committed paths with other changes, left are other changed
	// paths.
	Tell func(byHand, left []string)
	// Marked, unless nil, is called before the commit with the files in which it
	// has marks, [scrub.Mark], in the place of what was purged.
	Marked func(paths []string)
	// Shared, unless nil, is asked whether to commit what may be others' work in
	// these paths; without an answer it stays in the worktree.
	Shared func(paths []string) (bool, error)
}

// A Finished says where the work of a mission is.
type Finished struct {
	record.Finish
	Made []object.Hash // the commits that were made, oldest first; with an error, those before it

	// Missing wraps [ErrElsewhere] if the last turns are on another branch.
	// LeftOut are earlier such turns, and those dropped from the branch.
	Missing error
	LeftOut ledger.Ranges

	Attached bool
	Branch   string // short name; empty if it has none now
	Worktree string // where Branch is checked out; empty if nowhere
}

// Finish commits the work of a mission to HEAD, as the user would: of an
// attached mission by `git merge --squash` of its branch, of a passive one by
// `git commit --only` of the paths that its turns changed. Then an event notes
// the commit. No commit is made if one has the work already, by its trailers or
// because nothing is left.
//
// Only the lock of finishing is held while git runs the editor and hooks, so
// turns are recorded meanwhile. If git makes no commit, a merge stays staged,
// with the message in SQUASH_MSG, as `git merge --squash` leaves it; a passive
// mission's work is as before. Finish goes on from there.
func Finish(ctx context.Context, w *workspace.Workspace, f Finishing) (*Finished, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	done := new(Finished)
	held, err := w.Store.TryLock("finish-" + filepath.Base(w.Repo.GitDir))
	if err == nil && held == nil {
		err = ErrAtOnce
	}
	if err == nil {
		defer held.Release() // not passed on to git: a hook's background process would keep it
		err = finish(ctx, w, objects, f, done)
	}
	if err != nil {
		return done, fmt.Errorf("finish mission %s: %w", f.Mission, err)
	}
	return done, nil
}

func finish(ctx context.Context, w *workspace.Workspace, objects *git.Objects, f Finishing, done *Finished) error {
	k, err := readUnfinished(ctx, w, objects, f.Mission)
	if err != nil {
		return err
	}
	done.Attached, done.Branch = k.attached, strings.TrimPrefix(k.branch, "refs/heads/")
	if done.Worktree, err = w.Repo.WorktreeOf(ctx, k.branch); err != nil {
		return err
	}
	if was := k.mission.Finished; k.finished && was.Holds(k.last, k.at) && (k.branch == "" || was.Tip == k.tip) {
		done.Finish = *was
		return nil
	}
	in, err := committed(ctx, w, k)
	if err != nil {
		return err
	}
	op, err := w.Repo.Operation(ctx)
	switch {
	case err != nil:
		return err
	case !in.IsZero():
	case op != "":
		return fmt.Errorf("a %s %w here", op, ErrUnderWay)
	case k.attached:
		done.Made, err = squash(ctx, w, f, k, done.Worktree)
	default:
		done.Made, err = commitPick(ctx, w, f, k)
	}
	if errors.Is(err, ErrEmpty) && !k.changed() && k.finished {
		in, err = k.mission.Finished.Commit, nil
	}
	if err != nil {
		return err
	}
	if in.IsZero() {
		if in, err = w.Repo.Resolve(context.WithoutCancel(ctx), "HEAD"); err != nil { // HEAD has the rest
			return err
		}
	}
	done.Finish = record.Finish{Commit: in, Turn: k.last, At: f.At.UTC().Truncate(time.Millisecond), Tip: k.tip}
	if k.at.After(done.At) {
		done.At = k.at
	}
	done.Missing, done.LeftOut = k.missing, k.leftOut()
	return note(context.WithoutCancel(ctx), w, f, k, done.Finish)
}

// note records that a mission is finished. Its ledger keeps the branch's tip.
func note(ctx context.Context, w *workspace.Workspace, f Finishing, k *unfinished, is record.Finish) error {
	job := ledgertx.Job{Mission: f.Mission, At: f.At, What: "finish"}
	err := ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil {
			return err
		}
		if tx.Ledger == nil {
			return fmt.Errorf("mission %s: %w", tx.ID, git.ErrNotFound)
		}
		if now := tx.Ledger.Mission.Finished; now.Holds(k.last, k.at) && now.Commit == is.Commit && now.Tip == is.Tip {
			return nil // another process was faster
		}
		tx.Ledger.Mission.Finished = &is
		if err := tx.Append(fmt.Sprintf("finish %d", is.Turn), nil, k.tip); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
	if err != nil {
		return fmt.Errorf("the commit %s has it, and %w: %w", is.Commit, ErrNotNoted, err)
	}
	_ = w.Store.Dir().Remove(begunPath(f.Mission)) // one that stays does no harm
	if k.attached {
		ledgertx.LeaveRewrites(ctx, w, f.Mission)
	}
	return nil
}

// userGit returns the git that merges and commits. The user's configuration
// counts, except what lies in an untrusted worktree.
func userGit(ctx context.Context, w *workspace.Workspace, k *unfinished) (*git.Repo, error) {
	if k.foreign {
		return w.Repo.With(git.AsUser).Foreign(ctx)
	}
	return w.Repo.With(git.AsUser), nil
}

// gitCommit runs git commit with the arguments, and returns the commit. That is
// made before git ends: a hook after it may be interrupted together with git.
func gitCommit(ctx context.Context, w *workspace.Workspace, g *git.Repo, f Finishing, args ...string) (object.Hash, error) {
	ctx = context.WithoutCancel(ctx) // an interrupt in the terminal is for git and the editor, too, which decide
	before, err := w.Repo.Head(ctx)
	if err != nil {
		return object.Hash{}, err
	}
	err = locking(ctx, w, g, func(g *git.Repo) error {
		return g.Run(ctx, f.Stdin, f.Talk, f.Talk, append([]string{"commit"}, args...)...)
	})
	now, e := w.Repo.Head(ctx)
	if e != nil {
		return object.Hash{}, errors.Join(err, e)
	}
	moved := now.Commit != before.Commit
	if err != nil && moved {
		without := ""
		if !before.Commit.IsZero() {
			without = before.Commit.String()
		}
		if newest, _, e := trailers(ctx, w.Repo, f.Mission, "HEAD", without); e == nil && newest == now.Commit {
			err = nil // else it is somebody else's
		}
	}
	switch {
	case err != nil:
		return object.Hash{}, fmt.Errorf("%w: %w", ErrNotCommitted, err)
	case !moved:
		return object.Hash{}, ErrNotCommitted
	}
	return now.Commit, nil
}

// A begun finish is noted in the local state until it is recorded: the user
// commits after conflicts, and a process may be killed before it notes that.
type begun struct {
	Worktree string      `json:"worktree"` // git directory
	Head     object.Hash `json:"head"`     // before; zero on an unborn branch
	Turn     int         `json:"turn"`     // the last one
	Tip      object.Hash `json:"tip,omitzero"`
}

// of reports whether it began in this worktree, with the branch at tip.
func (b *begun) of(worktree string, tip object.Hash) bool {
	return b != nil && b.Worktree == worktree && b.Tip == tip
}

func begunPath(id record.ID) string { return filepath.Join("finishing", string(id)) }

func begin(w *workspace.Workspace, id record.ID, k *unfinished) error {
	data, err := json.Marshal(begun{Worktree: w.Repo.GitDir, Head: k.head.Commit, Turn: k.last, Tip: k.tip})
	if err != nil {
		return err
	}
	return w.Store.Dir().WriteFile(begunPath(id), data)
}

// readBegun returns the note of a finish; nil if none can be read.
func readBegun(store session.Store, id record.ID) *begun {
	data, err := store.Dir().ReadFile(begunPath(id))
	b := new(begun)
	if err != nil || json.Unmarshal(data, b) != nil {
		return nil
	}
	return b
}

// given writes a file for git to read, and done removes it. A worktree has one
// name for it, under the lock of its finish, so that leftovers are replaced.
func given(w *workspace.Workspace, text string) (path string, done func(), err error) {
	name := "finish-given-" + filepath.Base(w.Repo.GitDir)
	if err := w.Store.Dir().WriteFile(name, []byte(text)); err != nil {
		return "", nil, err
	}
	return w.Store.Dir().Path(name), func() { _ = w.Store.Dir().Remove(name) }, nil
}

// ungrafted silences git's advice against a file of grafts.
const ungrafted = "advice.graftFileDeprecated=false"

// mergedTree returns the tree of a merge, or zero if it conflicts.
func mergedTree(ctx context.Context, g *git.Repo, ours, theirs object.Hash) (object.Hash, error) {
	out, err := g.Output(ctx, nil, "-c", ungrafted, "merge-tree", "--write-tree", "--no-messages", ours.String(), theirs.String())
	if git.Status(err) == 1 {
		return object.Hash{}, nil
	}
	if err != nil {
		return object.Hash{}, err
	}
	return object.ParseHash(strings.TrimSpace(string(out)))
}

// tellMarked calls f.Marked if trees bring marks to what the first one has.
func tellMarked(ctx context.Context, w *workspace.Workspace, f Finishing, from object.Hash, trees ...object.Hash) error {
	paths, err := marked(ctx, w, from, trees...)
	if len(paths) > 0 && f.Marked != nil {
		f.Marked(paths)
	}
	return err
}

func marked(ctx context.Context, w *workspace.Workspace, from object.Hash, trees ...object.Hash) (all []string, err error) {
	if !ledgertx.WasPurged(ctx, w.Repo) {
		return nil, nil
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	for _, tree := range trees {
		changed, err := gitdiff.Changed(ctx, w.Repo, from, tree, gitdiff.Paths{})
		if err != nil {
			return nil, err
		}
		paths, err := gitdiff.Marked(objects, from, changed)
		if err != nil {
			return nil, err
		}
		all = append(all, paths...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func treeOf(ctx context.Context, w *workspace.Workspace, commit object.Hash) (object.Hash, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	return objects.TreeOf(commit)
}

// staged reports whether the index differs from HEAD.
func staged(ctx context.Context, w *workspace.Workspace) (bool, error) {
	_, err := w.Repo.Output(ctx, nil, "diff", "--cached", "--quiet")
	if git.Status(err) == 1 {
		return true, nil
	}
	return false, err
}
