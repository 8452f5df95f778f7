package finisher

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
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// squash commits what HEAD lacks of an attached mission, if anything. worktree
// is where its branch is checked out.
func squash(ctx context.Context, w *workspace.Workspace, f Finishing, k *unfinished, worktree string) ([]object.Hash, error) {
	name := strings.TrimPrefix(k.branch, "refs/heads/")
	switch {
	case k.branch != "" && k.head.Branch == k.branch:
		return nil, turns.ErrOwnBranch
	case k.head.Commit.IsZero():
		return nil, errors.New("HEAD has no commit yet to merge it into")
	case name == "":
		name = k.tip.String()
	}
	g, err := userGit(ctx, w, k)
	if err != nil {
		return nil, err
	}
	staged, err := staged(ctx, w)
	if err != nil {
		return nil, err
	}
	merging, forget, err := withSquash(ctx, w, g, k)
	if err != nil {
		return nil, err
	}
	defer forget()
	merged, err := mergedTree(ctx, merging, k.head.Commit, k.tip)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(ctx, w, k.head.Commit)
	if err != nil {
		return nil, err
	}
	if trees := []object.Hash{merged}; !merged.IsZero() {
		err = dropOffBranch(ctx, w, g, k, trees...)
	} else if trees[0], err = treeOf(ctx, w, k.tip); err == nil {
		err = dropOffBranch(ctx, w, g, k, append(trees, tree)...)
	}
	if err != nil {
		return nil, err
	}
	if staged {
		if ours, err := isSquashed(ctx, w, k, merged); err != nil {
			return nil, err
		} else if ours && len(f.Split) > 0 {
			return nil, fmt.Errorf("%w: it is merged here already, as one commit", ErrNotSplit)
		} else if ours {
			return goOn(ctx, w, g, merging, f, k)
		}
	}
	if err := unrecorded(ctx, w, worktree, k.tip); err != nil {
		return nil, err
	}
	lacks, err := k.mergeable(tree, merged, len(f.Split) > 0, staged, func() bool { return isResolved(w, k) })
	if err != nil || !lacks {
		return nil, err
	}
	steps, err := steps(ctx, w, g, f, k, tree, merged, nil)
	if err == nil && !merged.IsZero() {
		err = tellMarked(ctx, w, f, tree, merged)
	}
	if err == nil {
		err = begin(w, k.mission.ID, k)
	}
	if err != nil {
		return nil, err
	}
	if err := unpropose(w); err != nil { // left by a git that was killed after its commit
		return nil, err
	}
	err = locking(ctx, w, merging, func(g *git.Repo) error {
		return g.Run(ctx, nil, f.Talk, f.Talk, "-c", ungrafted, "merge", "--squash", "--ff", "--no-verify-signatures", name)
	})
	if err != nil {
		return nil, stopped(ctx, w, steps[0].message, err)
	}
	return commitSteps(ctx, w, g, f, k, steps)
}

// mergeable reports whether HEAD's tree lacks something of merged, which is
// zero if the merge conflicts, or returns why git must not merge.
func (k *unfinished) mergeable(tree, merged object.Hash, split, staged bool, resolved func() bool) (lacks bool, err error) {
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
func stopped(ctx context.Context, w *workspace.Workspace, message string, err error) error {
	err = fmt.Errorf("%w: %w", ErrNotMerged, err)
	paths, e := unresolved(ctx, w)
	if e != nil {
		return errors.Join(err, e)
	}
	if began, e := proposed(w); e != nil || began == "" && len(paths) == 0 {
		return errors.Join(err, e)
	}
	if e := propose(w, message); e != nil {
		return errors.Join(err, e)
	}
	if len(paths) > 0 {
		return unresolvedError(paths)
	}
	staged, e := staged(ctx, w) // by rerere, with rerere.autoUpdate
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
func commitSteps(ctx context.Context, w *workspace.Workspace, g *git.Repo, f Finishing, k *unfinished, steps []step) (made []object.Hash, err error) {
	for i, s := range steps {
		err = propose(w, s.message)
		if err == nil && len(steps) > 1 {
			if err = staging(ctx, w, w.Repo, "", "read-tree", "-m", "-i", s.tree.String()); err != nil {
				err = fmt.Errorf("%w: %w", ErrNotPrepared, err)
			}
		}
		var commit object.Hash
		if err == nil {
			commit, err = gitCommit(ctx, w, g, f, editing(f)...)
		}
		if err != nil {
			if len(steps) > 1 {
				err = errors.Join(err, stageRest(context.WithoutCancel(ctx), w, f, k, steps[i:]))
			}
			return made, err
		}
		made = append(made, commit)
	}
	return made, nil
}

// stageRest stages the uncommitted steps, with a message for all of them.
func stageRest(ctx context.Context, w *workspace.Workspace, f Finishing, k *unfinished, left []step) error {
	var turns ledger.Ranges
	for _, s := range left {
		turns = turns.With(s.turns)
	}
	message, err := message(ctx, w, f, k, turns, true)
	if err == nil {
		err = staging(ctx, w, w.Repo, "", "read-tree", "-m", "-i", left[len(left)-1].tree.String())
	}
	if err == nil {
		err = propose(w, message)
	}
	return err
}

// goOn commits an earlier merge. merging is the git of [withSquash].
func goOn(ctx context.Context, w *workspace.Workspace, g, merging *git.Repo, f Finishing, k *unfinished) ([]object.Hash, error) {
	proposed, err := proposed(w)
	if err != nil {
		return nil, err
	}
	b := readBegun(w.Store, k.mission.ID)
	if b == nil || k.merges(proposed) { // the user has merged it
		if err := begin(w, k.mission.ID, k); err != nil {
			return nil, err
		}
	} else if b.Turn < k.last {
		k.end(b.Turn, b.Tip) // later turns are not merged
	}
	ours := k.names(proposed)
	part := ours && k.isPart(proposed)
	if part {
		if err := stageWhole(ctx, w, g, merging, k, proposed, b); err != nil {
			return nil, err
		}
	}
	if f.Message != "" || !ours || part {
		message, err := message(ctx, w, f, k, k.numbers(), true)
		if err == nil {
			err = propose(w, message)
		}
		if err != nil {
			return nil, err
		}
	}
	paths, err := unresolved(ctx, w)
	if err == nil && len(paths) > 0 {
		err = unresolvedError(paths)
	}
	if err != nil {
		return nil, err
	}
	commit, err := gitCommit(ctx, w, g, f, editing(f)...)
	if err != nil {
		return nil, err
	}
	return []object.Hash{commit}, nil
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
func stageWhole(ctx context.Context, w *workspace.Workspace, g, merging *git.Repo, k *unfinished, proposed string, b *begun) error {
	if !b.of(w.Repo.GitDir, k.tip) {
		return ErrStaged
	}
	whole, err := mergedTree(ctx, merging, k.head.Commit, k.tip)
	if err != nil || whole.IsZero() { // a conflicting merge makes one commit
		return err
	}
	out, err := w.Repo.Output(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	staged := strings.TrimSpace(string(out))
	if staged == whole.String() {
		return nil
	}
	head, err := treeOf(ctx, w, k.head.Commit)
	if err != nil {
		return err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	part, err := apply(ctx, g, objects, k, k.named(proposed), head, nil)
	if errors.Is(err, ErrNotSplit) || err == nil && staged != part.String() {
		return ErrStaged
	}
	if err == nil {
		err = staging(ctx, w, w.Repo, "", "read-tree", "-m", "-i", whole.String())
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

func squashMessage(w *workspace.Workspace) string { return filepath.Join(w.Repo.GitDir, "SQUASH_MSG") }

func propose(w *workspace.Workspace, message string) error {
	if err := os.WriteFile(squashMessage(w), []byte(message), 0o666); err != nil {
		return fmt.Errorf("%w: %w", ErrNotPrepared, err)
	}
	return nil
}

func unpropose(w *workspace.Workspace) error {
	if err := os.Remove(squashMessage(w)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// proposed returns git's message for the next commit, or "".
func proposed(w *workspace.Workspace) (string, error) {
	message, err := os.ReadFile(squashMessage(w))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(message), err
}

// isResolved reports whether a conflicting merge is uncommitted although
// nothing is staged: HEAD's side was taken, or it was given up without git
// reset.
func isResolved(w *workspace.Workspace, k *unfinished) bool {
	message, err := proposed(w)
	b := readBegun(w.Store, k.mission.ID)
	return err == nil && k.names(message) && b.of(w.Repo.GitDir, k.tip) && b.Head == k.head.Commit
}

// isSquashed reports whether the index is an uncommitted merge of the mission:
// by our trailer or git's commit line in the proposed message or, if git was
// killed before writing that, by our note and the index.
func isSquashed(ctx context.Context, w *workspace.Workspace, k *unfinished, merged object.Hash) (bool, error) {
	message, err := proposed(w)
	if err != nil || message != "" {
		return k.names(message) || k.merges(message), err
	}
	b := readBegun(w.Store, k.mission.ID)
	if !b.of(w.Repo.GitDir, k.tip) {
		return false, nil
	}
	if paths, err := unresolved(ctx, w); err != nil || len(paths) > 0 {
		return err == nil && b.Head == k.head.Commit, err
	}
	out, err := w.Repo.Output(ctx, nil, "write-tree")
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

func unresolved(ctx context.Context, w *workspace.Workspace) ([]string, error) {
	out, err := w.Repo.Output(ctx, nil, "ls-files", "--unmerged", "-z")
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
func unrecorded(ctx context.Context, w *workspace.Workspace, path string, tip object.Hash) error {
	repo, err := git.Find(path)
	if path == "" || err != nil || repo.CommonDir != w.Repo.CommonDir {
		return nil // not checked out, or the worktree is gone
	}
	there := workspace.New(repo, w.Settings)
	var paths []string
	err = ledgertx.Worktree(ctx, there, func() error {
		objects := repo.Objects(ctx)
		defer objects.Close()
		snap, err := snapshot.Take(ctx, repo, objects, snapshot.Options{
			Policy: there.Policy(), Config: func() (git.Config, error) { return repo.Config(ctx) },
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

func differing(objects *git.Objects, from, to object.Hash) ([]string, error) {
	found, whole, err := gitdiff.Differences(objects, from, []object.Hash{to}, maxDiffering)
	if err == nil && !whole {
		err = fmt.Errorf("compare trees %s and %s: too much differs", from, to)
	}
	var paths []string
	for _, d := range found {
		paths = append(paths, d.Path)
	}
	return paths, err
}
