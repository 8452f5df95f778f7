package finisher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/workspace"
)

// A pick is the work of a passive mission that is in the worktree.
type pick struct {
	head, tree object.Hash     // trees: of HEAD, and with the paths
	paths      map[string]bool // that the turns changed and that differ from HEAD
	mixed      map[string]bool // those of paths that others changed in the same turns, or other sessions between them
	fresh      []string        // those of paths that HEAD lacks
	byHand     []string        // those of paths that something else has changed, too
	left       []string        // other paths that differ from HEAD
	replaced   bool            // a directory replaces a file, which git commit --only can't commit
}

func commitPick(ctx context.Context, w *workspace.Workspace, f Finishing, k *unfinished) ([]object.Hash, error) {
	if err := k.decideShared(ctx, w, f); err != nil {
		return nil, err
	}
	p, err := look(ctx, w, f, k)
	if err != nil {
		return nil, err
	}
	if len(p.paths) == 0 {
		return nil, nil // HEAD has it all
	}
	g, err := userGit(ctx, w, k)
	if err != nil {
		return nil, err
	}
	// Through the index, in which there must be nothing else.
	through := len(f.Split) > 0 || p.replaced || len(p.mixed) > 0
	if through {
		if staged, err := staged(ctx, w); err != nil {
			return nil, err
		} else if staged {
			return nil, ErrStaged
		}
	}
	if len(p.mixed) > 0 {
		if err := k.unmix(ctx, w, g, p); err != nil {
			return nil, err
		}
		if len(p.paths) == 0 {
			return nil, nil
		}
	}
	steps, err := steps(ctx, w, g, f, k, p.head, p.tree, p.paths)
	if err == nil {
		err = begin(w, k.mission.ID, k)
	}
	if err != nil {
		return nil, err
	}
	if f.Tell != nil {
		f.Tell(p.byHand, p.left)
	}
	if !through {
		commit, err := commitPaths(ctx, w, g, f, k.head.Commit, p, steps[0].message)
		if err != nil {
			return nil, err
		}
		return []object.Hash{commit}, nil
	}
	var trees []object.Hash
	for _, s := range steps {
		trees = append(trees, s.tree)
	}
	if err := tellMarked(ctx, w, f, p.head, trees...); err != nil {
		return nil, err
	}
	var made []object.Hash
	for _, s := range steps {
		var commit object.Hash
		err := staging(ctx, w, w.Repo, "", "read-tree", "-m", "-i", s.tree.String())
		if err == nil {
			commit, err = gitCommit(ctx, w, g, f, messaged(f, s.message)...)
		}
		if err != nil {
			none := []string{"read-tree", "-m", "-i", "HEAD"} // nothing was staged
			if k.head.Commit.IsZero() && len(made) == 0 {
				none = []string{"read-tree", "--empty"}
			}
			e := staging(context.WithoutCancel(ctx), w, w.Repo, "", none...)
			return made, errors.Join(err, e)
		}
		made = append(made, commit)
	}
	return made, nil
}

func messaged(f Finishing, message string) []string {
	args := []string{"-m", message}
	if f.Edit {
		args = append(args, "--edit")
	}
	return args
}

// commitPaths commits the paths as the worktree has them. Other staged changes
// stay staged; without a commit, the paths are not staged.
func commitPaths(ctx context.Context, w *workspace.Workspace, g *git.Repo, f Finishing, head object.Hash, p *pick, message string) (commit object.Hash, err error) {
	// Git reads --only's files from this list; the editor needs standard input.
	specs, done, err := given(w, literally(slices.Sorted(maps.Keys(p.paths))))
	if err != nil {
		return commit, err
	}
	defer done()
	added, err := notInIndex(ctx, w, p.fresh)
	if err == nil && len(added) > 0 {
		err = staging(ctx, w, g, literally(added), "add", "--intent-to-add", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	if err != nil {
		return commit, err
	}
	args := append(messaged(f, message), "--only", "--pathspec-from-file="+specs, "--pathspec-file-nul")
	if commit, err = gitCommit(ctx, w, g, f, args...); err == nil {
		return commit, restage(context.WithoutCancel(ctx), w, p.tree, commit)
	}
	if now, e := w.Repo.Head(context.WithoutCancel(ctx)); len(added) > 0 && e == nil && now.Commit == head {
		e := staging(context.WithoutCancel(ctx), w, w.Repo, strings.Join(added, "\x00")+"\x00", "update-index", "-z", "--force-remove", "--stdin")
		err = errors.Join(err, e)
	}
	return commit, err
}

// restage stages what a hook added to a commit of paths. The hook gets a
// temporary index; in the real one, its changes would look reverted. What the
// user has staged stays.
func restage(ctx context.Context, w *workspace.Workspace, wanted, commit object.Hash) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	tree, err := objects.TreeOf(commit)
	if err != nil || tree == wanted {
		return err
	}
	paths, err := differing(objects, wanted, tree)
	if err != nil {
		return err
	}
	out, err := w.Repo.Output(ctx, nil, "diff-index", "--cached", "-z", "--name-only", "--no-renames", wanted.String())
	if err != nil {
		return err
	}
	staged := strings.Split(string(out), "\x00")
	paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(staged, p) })
	if len(paths) == 0 {
		return nil
	}
	return staging(ctx, w, w.Repo, literally(paths), "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
}

func literally(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(":(top,literal)" + p + "\x00")
	}
	return b.String()
}

func notInIndex(ctx context.Context, w *workspace.Workspace, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := w.Repo.Output(ctx, nil, "ls-files", "-z", "--full-name")
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool)
	for path := range strings.SplitSeq(string(out), "\x00") {
		has[path] = true
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return has[p] }), nil
}

// look compares the worktree with HEAD and the turns.
func look(ctx context.Context, w *workspace.Workspace, f Finishing, k *unfinished) (p *pick, err error) {
	others, err := othersHere(ctx, w, k)
	if err != nil {
		return nil, err
	}
	err = ledgertx.Worktree(ctx, w, func() error {
		job := ledgertx.Job{Mission: f.Mission, At: f.At, What: "finish", Warm: k.head.Commit}
		return ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
			if err := tx.Look(ctx, false); err != nil {
				return err
			}
			if tx.Snap.Head.Commit != k.head.Commit {
				return errors.New("HEAD has moved meanwhile")
			}
			var err error
			if p, err = k.pick(tx.Objects, tx.Snap.Tree, others); err != nil {
				return err
			}
			return tx.Objects.Flush()
		})
	})
	return p, err
}

func (k *unfinished) pick(objects *git.Objects, tree object.Hash, others map[string]bool) (*pick, error) {
	p := &pick{paths: make(map[string]bool), mixed: make(map[string]bool)}
	var err error
	if p.head, err = objects.EmptyTree(); err == nil && !k.head.Commit.IsZero() {
		p.head, err = objects.TreeOf(k.head.Commit)
	}
	if err != nil {
		return nil, err
	}
	touched, outside, beside := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	own := make([]map[string]bool, len(k.turns)) // the paths that each turn changed
	var last object.Hash                         // the tree that the previous turn ended with
	add := func(to map[string]bool, from, at object.Hash) {
		var paths []string
		if err == nil && !from.IsZero() {
			paths, err = differing(objects, from, at)
		}
		for _, path := range paths {
			to[path] = true
		}
	}
	if !k.before.IsZero() {
		last, _ = objects.TreeOf(k.before) // zero if it is gone: then nothing can be said
	}
	for i, t := range k.turns {
		var base, from, code object.Hash
		if base, err = objects.TreeOf(t.base); err == nil {
			from, err = objects.TreeOf(t.own)
		}
		if err == nil {
			code, err = objects.TreeOf(t.code)
		}
		add(outside, last, base)
		if own[i] = make(map[string]bool); !t.committed {
			add(own[i], from, code)
			maps.Copy(touched, own[i])
			add(beside, base, from)
		}
		if err != nil {
			return nil, fmt.Errorf("compare turn %d: %w", t.number, err)
		}
		last = code
	}
	if len(touched) == 0 {
		return nil, fmt.Errorf("%w: no turn changed anything", ErrEmpty)
	}
	add(outside, last, tree)
	if err != nil {
		return nil, err
	}
	found, _, err := gitdiff.Differences(objects, p.head, []object.Hash{tree}, maxDiffering)
	if err != nil {
		return nil, err
	}
	for path := range beside {
		if touched[path] {
			p.mixed[path] = true
		}
	}
	for path := range outside {
		if touched[path] && others[path] {
			p.mixed[path] = true
		}
	}
	k.mixed = len(p.mixed) > 0
	changes := k.choose(p, own, touched, outside, found)
	if p.tree, err = objects.EditTree(p.head, changes); err != nil || len(changes) > 0 {
		return p, err
	}
	return p, k.inHead(objects, p.head, last, touched)
}

// choose sorts paths that differ from HEAD into p, and returns the entries to
// commit. own are each turn's changes unless committed, touched all of them,
// and outside the changes of others.
func (k *unfinished) choose(p *pick, own []map[string]bool, touched, outside map[string]bool, found []gitdiff.Difference) map[string]object.Entry {
	changes := make(map[string]object.Entry)
	for _, d := range found {
		switch {
		case !touched[d.Path]:
			p.left = append(p.left, d.Path)
			continue
		case d.Old == object.Entry{}:
			p.fresh = append(p.fresh, d.Path)
		}
		p.paths[d.Path], changes[d.Path] = true, d.New
		if outside[d.Path] && !p.mixed[d.Path] {
			p.byHand = append(p.byHand, d.Path)
		}
	}
	for i, paths := range own { // all of it was committed already, or is on another branch
		k.turns[i].elsewhere = len(paths) > 0 && !overlap(paths, p.paths)
	}
	for _, path := range p.fresh {
		for dir := path; strings.Contains(dir, "/"); {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			p.replaced = p.replaced || p.paths[dir]
		}
	}
	return changes
}

func overlap(a, b map[string]bool) bool {
	for path := range a {
		if b[path] {
			return true
		}
	}
	return false
}

// inHead returns an error unless HEAD has the turns' last state of their paths.
func (k *unfinished) inHead(objects *git.Objects, head, last object.Hash, touched map[string]bool) error {
	var other []string
	for _, path := range slices.Sorted(maps.Keys(touched)) {
		is, err := objects.Lookup(head, path)
		if err != nil {
			return err
		}
		if was, err := objects.Lookup(last, path); err != nil {
			return err
		} else if is != was {
			other = append(other, path)
		}
	}
	if len(other) == 0 {
		return nil
	}
	return fmt.Errorf("%w: the worktree has no changes where its turns made some, and not their state in HEAD: %s", ErrEmpty, some(other))
}
