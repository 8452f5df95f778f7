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

// squash commits what HEAD lacks of an attached mission, if anything. worktree
// is where its branch is checked out.
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
	if err := r.unpropose(); err != nil { // left by a git that was killed after its commit
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

// mergeable reports whether HEAD's tree lacks something of merged, which is
// zero if the merge conflicts, or returns why git must not merge.
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

// stopped returns the error of a failed merge, and replaces git's message.
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

// commitSteps commits the steps in order. After a failure the rest is staged
// and proposed. A message is written before its changes are staged: if it named
// turns that the index lacks, a later finish would claim them.
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

// stageRest stages the uncommitted steps, with a message for all of them.
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

// goOn commits an earlier merge. merging is the git of [Recorder.withSquash].
func (r *Recorder) goOn(ctx context.Context, g, merging *git.Repo, f Finishing, k *unfinished) ([]git.Hash, error) {
	proposed, err := r.proposed()
	if err != nil {
		return nil, err
	}
	b := readBegun(r.Store, k.mission.ID)
	if b == nil || k.merges(proposed) { // the user has merged it
		if err := r.begin(k.mission.ID, k); err != nil {
			return nil, err
		}
	} else if b.Turn < k.last {
		k.end(b.Turn, b.Tip) // later turns are not merged
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

// isPart reports whether a message, of one of several commits, lacks turns.
func (k *unfinished) isPart(message string) bool {
	has := k.named(message)
	return slices.ContainsFunc(k.turns, func(t worked) bool {
		return t.changed && !t.committed && !t.omitted() && !has.Has(t.number)
	})
}

// named returns the mission's turns that a message names.
func (k *unfinished) named(message string) ledger.Ranges {
	var list []int
	for _, t := range ledger.ReadTrailers(message) {
		if t.Mission == k.mission.ID {
			list = append(list, t.Turn)
		}
	}
	return ledger.RangesOf(list...)
}

// stageWhole stages the rest of a merge after a finish was killed between
// several commits. The index must be all of the merge or one commit's part of
// it; otherwise it has changes of the user's.
func (r *Recorder) stageWhole(ctx context.Context, g, merging *git.Repo, k *unfinished, proposed string, b *begun) error {
	if !b.of(r.Repo.GitDir, k.tip) {
		return ErrStaged
	}
	whole, err := mergedTree(ctx, merging, k.head.Commit, k.tip)
	if err != nil || whole.IsZero() { // a conflicting merge makes one commit
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

// editing returns git commit's arguments if SQUASH_MSG has the message.
func editing(f Finishing) []string {
	if f.Edit {
		return []string{"--edit"}
	}
	return []string{"--no-edit"}
}

func (r *Recorder) squashMessage() string { return filepath.Join(r.Repo.GitDir, "SQUASH_MSG") }

func (r *Recorder) propose(message string) error {
	if err := os.WriteFile(r.squashMessage(), []byte(message), 0o666); err != nil {
		return fmt.Errorf("%w: %w", ErrNotPrepared, err)
	}
	return nil
}

func (r *Recorder) unpropose() error {
	if err := os.Remove(r.squashMessage()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// proposed returns git's message for the next commit, or "".
func (r *Recorder) proposed() (string, error) {
	message, err := os.ReadFile(r.squashMessage())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(message), err
}

// resolved reports whether a conflicting merge is uncommitted although nothing
// is staged: HEAD's side was taken, or it was given up without git reset.
func (r *Recorder) resolved(k *unfinished) bool {
	message, err := r.proposed()
	b := readBegun(r.Store, k.mission.ID)
	return err == nil && k.names(message) && b.of(r.Repo.GitDir, k.tip) && b.Head == k.head.Commit
}

// squashed reports whether the index is an uncommitted merge of the mission: by
// our trailer or git's commit line in the proposed message or, if git was
// killed before writing that, by our note and the index.
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

func (k *unfinished) names(message string) bool {
	return hasLine(message, ledger.TrailerMission+": "+string(k.mission.ID))
}

// merges reports whether a message is git's of a squash of the branch.
func (k *unfinished) merges(message string) bool { return hasLine(message, "commit "+k.tip.String()) }

func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, "\r\n") == want {
			return true
		}
	}
	return false
}

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

const maxSome = 5

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

// unrecorded returns an error if a worktree differs from its branch.
func (r *Recorder) unrecorded(ctx context.Context, path string, tip git.Hash) error {
	repo, err := git.Find(path)
	if path == "" || err != nil || repo.CommonDir != r.Repo.CommonDir {
		return nil // not checked out, or the worktree is gone
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

// maxDiffering is how many paths of a mission are compared.
const maxDiffering = 1_000_000

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
