package turns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
)

// squash commits what HEAD lacks of an attached mission; nothing if it lacks nothing. worktree is where its
// branch is checked out.
func (r *Recorder) squash(ctx context.Context, f Finishing, k *unfinished, worktree string) ([]git.Hash, error) {
	name := strings.TrimPrefix(k.branch, "refs/heads/")
	switch {
	case k.branch != "" && k.head.Branch == k.branch:
		return nil, ErrOwnBranch
	case k.head.Commit.IsZero():
		return nil, errors.New("HEAD has no commit yet to merge it into")
	case name == "":
		name = k.tip.String()
	}
	g, err := r.git(ctx, k)
	if err != nil {
		return nil, err
	}
	staged, err := r.staged(ctx)
	if err != nil {
		return nil, err
	}
	merging, forget, err := r.withSquash(ctx, g, k)
	if err != nil {
		return nil, err
	}
	defer forget()
	merged, err := mergedTree(ctx, merging, k.head.Commit, k.tip)
	if err != nil {
		return nil, err
	}
	tree, err := r.treeOf(ctx, k.head.Commit)
	if err != nil {
		return nil, err
	}
	if trees := []git.Hash{merged}; !merged.IsZero() {
		err = r.dropOffBranch(ctx, g, k, trees...)
	} else if trees[0], err = r.treeOf(ctx, k.tip); err == nil {
		err = r.dropOffBranch(ctx, g, k, append(trees, tree)...)
	}
	if err != nil {
		return nil, err
	}
	if staged {
		if ours, err := r.squashed(ctx, k, merged); err != nil {
			return nil, err
		} else if ours && len(f.Split) > 0 {
			return nil, fmt.Errorf("%w: it is merged here already, as one commit", ErrNotSplit)
		} else if ours {
			return r.goOn(ctx, g, merging, f, k)
		}
	}
	if err := r.unrecorded(ctx, worktree, k.tip); err != nil {
		return nil, err
	}
	lacks, err := k.mergeable(tree, merged, len(f.Split) > 0, staged, func() bool { return r.resolved(k) })
	if err != nil || !lacks {
		return nil, err
	}
	steps, err := r.steps(ctx, g, f, k, tree, merged, nil)
	if err == nil {
		err = r.begin(k.mission.ID, k)
	}
	if err != nil {
		return nil, err
	}
	if err := r.unpropose(); err != nil { // a git that was killed after its commit has left it
		return nil, err
	}
	err = r.locking(ctx, merging, func(g *git.Repo) error {
		return g.Run(ctx, nil, f.Talk, f.Talk, "-c", ungrafted, "merge", "--squash", "--ff", name)
	})
	if err != nil {
		return nil, r.stopped(ctx, steps[0].message, err)
	}
	return r.commitSteps(ctx, g, f, k, steps)
}

// mergeable reports whether the tree of HEAD lacks something of what comes of the merge, which is zero if that has
// conflicts; or an error, if git must not merge.
func (k *unfinished) mergeable(tree, merged git.Hash, split, staged bool, resolved func() bool) (lacks bool, err error) {
	switch {
	case tree == merged && !k.changed() && k.missing != nil:
		return false, k.missing
	case tree == merged && !k.changed():
		return false, fmt.Errorf("%w: no turn changed anything", ErrEmpty)
	case tree == merged:
		return false, nil
	case merged.IsZero() && split:
		return false, fmt.Errorf("%w: its merge has conflicts", ErrNotSplit)
	case staged:
		return false, ErrStaged
	case merged.IsZero() && resolved():
		return false, fmt.Errorf("the merge of its branch %w", ErrResolved)
	}
	return true, nil
}

// stopped is the error of a merge that git did not make, or not to the end: then it has written a message, in
// the place of which ours is put.
func (r *Recorder) stopped(ctx context.Context, message string, err error) error {
	err = fmt.Errorf("%w: %w", ErrNotMerged, err)
	paths, e := r.unresolved(ctx)
	if e != nil {
		return errors.Join(err, e)
	}
	if began, e := r.proposed(); e != nil || began == "" && len(paths) == 0 {
		return errors.Join(err, e)
	}
	if e := r.propose(message); e != nil {
		return errors.Join(err, e)
	}
	if len(paths) > 0 {
		return unresolvedError(paths)
	}
	staged, e := r.staged(ctx) // by rerere, with rerere.autoUpdate
	switch {
	case e != nil:
		return errors.Join(err, e)
	case staged:
		return fmt.Errorf("%w: all conflicts are resolved as they were before", ErrNotCommitted)
	}
	return fmt.Errorf("the merge of its branch %w", ErrResolved)
}

// commitSteps commits one step after the other. If that fails, all that is left is staged, and proposed. The
// message never has a turn that the index has not, or a finish that goes on would claim it: it comes first.
func (r *Recorder) commitSteps(ctx context.Context, g *git.Repo, f Finishing, k *unfinished, steps []step) (made []git.Hash, err error) {
	for i, s := range steps {
		err = r.propose(s.message)
		if err == nil && len(steps) > 1 {
			if err = r.staging(ctx, r.Repo, "", "read-tree", "-m", "-i", s.tree.String()); err != nil {
				err = fmt.Errorf("%w: %w", ErrNotPrepared, err)
			}
		}
		var commit git.Hash
		if err == nil {
			commit, err = r.commit(ctx, g, f, editing(f)...)
		}
		if err != nil {
			if len(steps) > 1 {
				err = errors.Join(err, r.stageRest(context.WithoutCancel(ctx), f, k, steps[i:]))
			}
			return made, err
		}
		made = append(made, commit)
	}
	return made, nil
}

// stageRest stages what was not committed of several commits, with a message for all of it.
func (r *Recorder) stageRest(ctx context.Context, f Finishing, k *unfinished, left []step) error {
	var turns ledger.Ranges
	for _, s := range left {
		turns = turns.With(s.turns)
	}
	message, err := r.message(ctx, f, k, turns, true)
	if err == nil {
		err = r.staging(ctx, r.Repo, "", "read-tree", "-m", "-i", left[len(left)-1].tree.String())
	}
	if err == nil {
		err = r.propose(message)
	}
	return err
}

// followFile commits what was merged before. merging is the git that knows what was.
func (r *Recorder) goOn(ctx context.Context, g, merging *git.Repo, f Finishing, k *unfinished) ([]git.Hash, error) {
	proposed, err := r.proposed()
	if err != nil {
		return nil, err
	}
	b := readBegun(r.Store, k.mission.ID)
	if b == nil || k.merges(proposed) { // the user has merged it by hand
		if err := r.begin(k.mission.ID, k); err != nil {
			return nil, err
		}
	} else if b.Turn < k.last {
		k.end(b.Turn, b.Tip) // what came later is not merged
	}
	ours := k.names(proposed)
	part := ours && k.isPart(proposed)
	if part {
		if err := r.stageWhole(ctx, g, merging, k, proposed, b); err != nil {
			return nil, err
		}
	}
	if f.Message != "" || !ours || part {
		message, err := r.message(ctx, f, k, k.numbers(), true)
		if err == nil {
			err = r.propose(message)
		}
		if err != nil {
			return nil, err
		}
	}
	paths, err := r.unresolved(ctx)
	if err == nil && len(paths) > 0 {
		err = unresolvedError(paths)
	}
	if err != nil {
		return nil, err
	}
	commit, err := r.commit(ctx, g, f, editing(f)...)
	if err != nil {
		return nil, err
	}
	return []git.Hash{commit}, nil
}

// isPart reports whether a message is of one commit of several, which lacks some of the turns.
func (k *unfinished) isPart(message string) bool {
	has := k.named(message)
	return slices.ContainsFunc(k.turns, func(t worked) bool {
		return t.changed && !t.committed && !t.omitted() && !has.Has(t.number)
	})
}

// named are the turns of the mission that a message names.
func (k *unfinished) named(message string) ledger.Ranges {
	var list []int
	for _, t := range ledger.ReadTrailers(message) {
		if t.Mission == k.mission.ID {
			list = append(list, t.Turn)
		}
	}
	return ledger.RangesOf(list...)
}

// stageWhole stages all that is left of a merge where a finish was killed while it made several commits: it is
// in the worktree. What it has staged is all of that, or what one commit was to have; anything else is the user's.
func (r *Recorder) stageWhole(ctx context.Context, g, merging *git.Repo, k *unfinished, proposed string, b *begun) error {
	if !b.of(r.Repo.GitDir, k.tip) {
		return ErrStaged
	}
	whole, err := mergedTree(ctx, merging, k.head.Commit, k.tip)
	if err != nil || whole.IsZero() { // with conflicts there is one commit
		return err
	}
	out, err := r.Repo.Output(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	staged := strings.TrimSpace(string(out))
	if staged == whole.String() {
		return nil
	}
	head, err := r.treeOf(ctx, k.head.Commit)
	if err != nil {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	part, err := apply(ctx, g, objects, k, k.named(proposed), head, nil)
	if errors.Is(err, ErrNotSplit) || err == nil && staged != part.String() {
		return ErrStaged
	}
	if err == nil {
		err = r.staging(ctx, r.Repo, "", "read-tree", "-m", "-i", whole.String())
	}
	return err
}

// editing are the arguments of a commit whose message git has.
func editing(f Finishing) []string {
	if f.Edit {
		return []string{"--edit"}
	}
	return []string{"--no-edit"}
}

// squashMessage is where git keeps the message of a squash that is not committed.
func (r *Recorder) squashMessage() string { return filepath.Join(r.Repo.GitDir, "SQUASH_MSG") }

// propose makes a message the one that git proposes for the next commit.
func (r *Recorder) propose(message string) error {
	if err := os.WriteFile(r.squashMessage(), []byte(message), 0o666); err != nil {
		return fmt.Errorf("%w: %w", ErrNotPrepared, err)
	}
	return nil
}

// unpropose drops the message that git would propose.
func (r *Recorder) unpropose() error {
	if err := os.Remove(r.squashMessage()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// proposed is the message that git proposes for the next commit; empty if it has none, or was killed before
// it had written any.
func (r *Recorder) proposed() (string, error) {
	message, err := os.ReadFile(r.squashMessage())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(message), err
}

// resolved reports whether a merge that had conflicts is still to be committed, though nothing of it is
// staged: HEAD's side was taken everywhere, or it was given up without git reset.
func (r *Recorder) resolved(k *unfinished) bool {
	message, err := r.proposed()
	b := readBegun(r.Store, k.mission.ID)
	return err == nil && k.names(message) && b.of(r.Repo.GitDir, k.tip) && b.Head == k.head.Commit
}

// squashed reports whether what is staged is a merge of the mission that was not committed: by its trailer in
// the message that git proposes; as git's own message names the commit; or, if git was killed before it wrote
// one, as we were about to merge it here, and the index is what comes of that.
func (r *Recorder) squashed(ctx context.Context, k *unfinished, merged git.Hash) (bool, error) {
	message, err := r.proposed()
	if err != nil || message != "" {
		return k.names(message) || k.merges(message), err
	}
	b := readBegun(r.Store, k.mission.ID)
	if !b.of(r.Repo.GitDir, k.tip) {
		return false, nil
	}
	if paths, err := r.unresolved(ctx); err != nil || len(paths) > 0 {
		return err == nil && b.Head == k.head.Commit, err
	}
	out, err := r.Repo.Output(ctx, nil, "write-tree")
	return err == nil && strings.TrimSpace(string(out)) == merged.String(), err
}

// names reports whether a message has the mission's trailer.
func (k *unfinished) names(message string) bool {
	return hasLine(message, ledger.TrailerMission+": "+string(k.mission.ID))
}

// merges reports whether a message is git's of a squash of the mission's branch.
func (k *unfinished) merges(message string) bool { return hasLine(message, "commit "+k.tip.String()) }

func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, "\r\n") == want {
			return true
		}
	}
	return false
}

// unresolved are the paths that have conflicts in the index.
func (r *Recorder) unresolved(ctx context.Context) ([]string, error) {
	out, err := r.Repo.Output(ctx, nil, "ls-files", "--unmerged", "-z")
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if _, path, ok := strings.Cut(entry, "\t"); ok && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

func unresolvedError(paths []string) error { return fmt.Errorf("%w in %s", ErrUnresolved, some(paths)) }

// maxSome is how many paths an error names.
const maxSome = 5

// some names some paths.
func some(paths []string) string {
	var quoted []string
	for _, p := range paths[:min(len(paths), maxSome)] {
		quoted = append(quoted, fmt.Sprintf("%q", p))
	}
	list := strings.Join(quoted, ", ")
	if more := len(paths) - len(quoted); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// unrecorded is an error if the worktree of a mission is not as its branch says.
func (r *Recorder) unrecorded(ctx context.Context, path string, tip git.Hash) error {
	repo, err := git.Find(path)
	if path == "" || err != nil || repo.CommonDir != r.Repo.CommonDir {
		return nil // it is checked out nowhere, or the worktree is gone
	}
	w := workspace.New(repo, r.Settings)
	var paths []string
	err = ledgertx.Worktree(ctx, w, func() error {
		objects := repo.Objects(ctx)
		defer objects.Close()
		snap, err := snapshot.Take(ctx, repo, objects, snapshot.Options{
			Policy: w.Policy(), Config: func() (git.Config, error) { return repo.Config(ctx) },
		})
		if err != nil {
			return err
		}
		tree, err := objects.TreeOf(tip)
		if err == nil {
			paths, err = differing(objects, tree, snap.Tree)
		}
		return err
	})
	if err == nil && len(paths) > 0 {
		err = fmt.Errorf("%w in %s: %s", ErrUncommitted, path, some(paths))
	}
	return err
}

// maxDiffering is how many paths of a mission are looked at.
const maxDiffering = 1_000_000

// differing are the paths in which two trees differ.
func differing(objects *git.Objects, from, to git.Hash) ([]string, error) {
	found, whole, err := objects.Differences(from, []git.Hash{to}, maxDiffering)
	if err == nil && !whole {
		err = fmt.Errorf("compare trees %s and %s: too much differs", from, to)
	}
	var paths []string
	for _, d := range found {
		paths = append(paths, d.Path)
	}
	return paths, err
}
