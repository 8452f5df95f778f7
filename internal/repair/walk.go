package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// A walk goes through all that some commits lead to.
type walk struct {
	ctx   context.Context
	repo  *git.Repo
	here  *git.Objects
	there *git.Objects         // what was borrowed; nil for nothing
	bad   map[object.Hash]bool // damaged, and not put away

	promised map[object.Hash]bool // from the remote of a partial clone, which has what they lead to

	below map[object.Hash][]object.Hash // what each commit and tree leads to
	tree  map[object.Hash]object.Hash   // of a commit
	seen  map[object.Hash]bool
	lost  map[object.Hash]bool
	got   int // objects that were borrowed
}

// leads returns what an object leads to.
func leads(t plumbing.ObjectType, content []byte, format object.Format) (tree object.Hash, commits, trees, blobs []object.Hash, err error) {
	switch t {
	case plumbing.CommitObject:
		c, err := object.ParseCommit(content)
		if err != nil {
			return tree, nil, nil, nil, err
		}
		return c.Tree, c.Parents, nil, nil, nil
	case plumbing.TreeObject:
		entries, err := object.ParseTree(format, content)
		for _, e := range entries {
			switch e.Mode {
			case filemode.Dir:
				trees = append(trees, e.Hash)
			case filemode.Submodule: // a commit of another repository
			default:
				blobs = append(blobs, e.Hash)
			}
		}
		return tree, nil, trees, blobs, err
	}
	return tree, nil, nil, nil, nil
}

// run walks from some objects on. It looks again for what was lost before.
func (w *walk) run(from []object.Hash) error {
	nodes, blobs := from, []object.Hash(nil)
	for len(nodes)+len(blobs) > 0 {
		next, more, err := w.step(nodes)
		if err == nil {
			err = w.check(append(blobs, more...))
		}
		if err != nil {
			return err
		}
		nodes, blobs = next, nil
	}
	return nil
}

// step reads commits and trees, and returns what else they lead to.
func (w *walk) step(nodes []object.Hash) (next, blobs []object.Hash, err error) {
	var wanted []git.Wanted
	for _, hash := range nodes {
		if w.promised[hash] {
			continue
		}
		if !w.bad[hash] {
			wanted = append(wanted, git.Wanted{Hash: hash, Most: git.MaxTree})
		} else if obj := w.borrow(hash); obj != nil {
			next, blobs = w.add(obj, next, blobs)
		}
	}
	err = w.here.Each(wanted, func(i int, obj *git.Object, err error) error {
		hash := wanted[i].Hash
		if err != nil && !git.Lost(err) {
			if errors.Is(err, git.ErrTooLarge) {
				return nil
			}
			return err
		}
		if err != nil {
			if obj = w.borrow(hash); obj == nil {
				return nil
			}
		}
		next, blobs = w.add(obj, next, blobs)
		return nil
	})
	return next, blobs, err
}

// add notes what an object leads to, and appends what was not seen yet.
func (w *walk) add(obj *git.Object, next, blobs []object.Hash) (nodes, files []object.Hash) {
	tree, commits, trees, some, err := leads(obj.Type, obj.Content, obj.Hash.Format())
	if err != nil {
		return next, blobs // git's own object is like that
	}
	fresh := func(list []object.Hash, hash object.Hash) []object.Hash {
		if !w.seen[hash] {
			w.seen[hash] = true
			list = append(list, hash)
		}
		return list
	}
	if !tree.IsZero() {
		w.tree[obj.Hash] = tree
		next = fresh(next, tree)
	}
	for _, hash := range slices.Concat(commits, trees) {
		next = fresh(next, hash)
	}
	for _, hash := range some {
		blobs = fresh(blobs, hash)
	}
	w.below[obj.Hash] = slices.Concat(commits, trees, some)
	return next, blobs
}

// borrow restores a lost object from what was fetched, checking its hash.
// Otherwise it notes it as lost and returns nil.
func (w *walk) borrow(hash object.Hash) *git.Object {
	w.lost[hash] = true
	if w.there == nil {
		return nil
	}
	var got *git.Object
	_ = w.there.Each([]git.Wanted{{Hash: hash, Most: maxObject}}, func(_ int, obj *git.Object, err error) error {
		if err == nil && hash.Format().Object(obj.Type, obj.Content) == hash {
			got = obj
		}
		return nil
	})
	if got == nil {
		return nil
	}
	if _, err := w.here.Write(got.Type, got.Content); err != nil {
		return nil
	}
	delete(w.lost, hash)
	delete(w.bad, hash)
	w.got++
	return got
}

// check looks whether blobs are here, without reading them.
func (w *walk) check(blobs []object.Hash) error {
	if len(blobs) == 0 {
		return nil
	}
	var ask strings.Builder
	for _, hash := range blobs {
		ask.WriteString(hash.String() + "\n")
	}
	out, err := w.repo.Output(w.ctx, strings.NewReader(ask.String()), "cat-file", "--batch-check=%(objecttype)", "--buffer")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(blobs) {
		return fmt.Errorf("look for %d objects: git answered about %d", len(blobs), len(lines))
	}
	for i, hash := range blobs {
		if w.bad[hash] || strings.HasSuffix(lines[i], " missing") {
			w.borrow(hash)
		}
	}
	return nil
}

// incomplete reports whether a tree, or anything it leads to, is lost.
func (w *walk) incomplete(hash object.Hash, known map[object.Hash]bool) bool {
	if w.lost[hash] {
		return true
	}
	if is, ok := known[hash]; ok {
		return is
	}
	known[hash] = false
	is := slices.ContainsFunc(w.below[hash], func(h object.Hash) bool { return w.incomplete(h, known) })
	known[hash] = is
	return is
}

// objects mends what our refs lead to, and reports what stays lost.
func (r *repair) objects(ctx context.Context) error {
	scratch, done, err := r.scratch(ctx) // the lock of repairs comes first
	if err != nil {
		return err
	}
	defer done()
	s, err := r.scanObjects(ctx)
	if err != nil {
		return err
	}
	bad := make(map[object.Hash]bool)
	for _, base := range s.packs {
		if err := r.pack(ctx, base, scratch, bad); err != nil {
			return err
		}
	}
	if err := r.loose(ctx, s.loose, bad); err != nil {
		return err
	}
	refs, err := r.Repo.Refs(ctx, "refs/agent/", "refs/notes/agent/", r.Branch(""))
	if err != nil {
		return err
	}
	maps.DeleteFunc(refs, func(_ string, at object.Hash) bool { return at.IsZero() }) // of damaged refs
	from := slices.Collect(maps.Values(refs))
	if refs[ledger.ArchiveKeepRef].IsZero() {
		tips, err := r.archivedTips(ctx)
		if err != nil {
			return err
		}
		from = append(from, tips...)
	}
	if len(from) == 0 || len(bad) == 0 && r.connected(ctx, from) {
		return nil
	}
	promised, err := r.promised(ctx)
	if err != nil {
		return err
	}
	w := &walk{
		ctx: ctx, repo: r.Repo, here: r.Repo.Objects(ctx), bad: bad, promised: promised,
		below: make(map[object.Hash][]object.Hash), tree: make(map[object.Hash]object.Hash),
		seen: make(map[object.Hash]bool), lost: make(map[object.Hash]bool),
	}
	defer w.here.Close()
	if err := w.run(from); err != nil {
		return err
	}
	if err := r.borrow(ctx, w, scratch); err != nil {
		return err
	}
	for ref, at := range refs {
		if strings.HasPrefix(ref, git.Keepers) { // it is made anew
			delete(w.lost, at)
		}
	}
	return r.tell(ctx, w)
}

// connected reports whether all that some commits lead to is here or promised.
func (r *repair) connected(ctx context.Context, from []object.Hash) bool {
	var in strings.Builder
	for _, hash := range from {
		in.WriteString(r.Repo.Format().Text(hash) + "\n")
	}
	args := []string{"rev-list", "--objects", "--quiet", "--stdin"}
	if conf, err := r.Repo.Config(ctx); err == nil && conf.Promisor() != "" {
		args = append(args, "--exclude-promisor-objects")
	}
	_, err := r.Repo.With(git.Underived).Output(ctx, strings.NewReader(in.String()), args...)
	return err == nil
}

func (r *repair) promised(ctx context.Context) (all map[object.Hash]bool, err error) {
	all = make(map[object.Hash]bool)
	for _, path := range r.Repo.Glob("objects/pack/*.promisor") {
		list, e := r.Repo.PackEntries(ctx, strings.TrimSuffix(path, ".promisor"))
		err = errors.Join(err, e)
		for _, o := range list {
			all[o.Hash] = true
		}
	}
	return all, err
}

// pack rescues what is whole in a pack. What is lost is added to bad in a dry
// run, or if the pack has to stay.
func (r *repair) pack(ctx context.Context, base string, scratch *git.Repo, bad map[object.Hash]bool) error {
	c, err := r.examine(ctx, base, scratch)
	if err != nil {
		return err
	}
	f := Finding{What: fmt.Sprintf("the pack %s.pack is damaged: %d of its objects are whole, %d are not", base, len(c.whole)+len(c.saved), len(c.lost))}
	switch {
	case c.index != nil:
		f = Finding{What: fmt.Sprintf("the index of the pack %s.pack is damaged or missing", base), Mended: "it is made again from the pack"}
	case c.keep != "":
		f.What += "; it stays as it is: " + c.keep
		f.Hint = "git fetch --refetch"
	default:
		f.Mended = "the whole ones are written again, and the pack is kept below " + r.Store.Dir().Path(asideDir)
	}
	r.say(f)
	if r.dry || c.keep != "" {
		for _, hash := range c.lost {
			bad[hash] = true
		}
		return nil
	}
	return r.carryOut(ctx, c, scratch)
}

// loose puts damaged loose objects away. In a dry run it adds lost ones to bad.
func (r *repair) loose(ctx context.Context, paths []string, bad map[object.Hash]bool) error {
	if len(paths) == 0 {
		return nil
	}
	r.say(Finding{
		What:   fmt.Sprintf("damaged loose objects: %d", len(paths)),
		Mended: "they are put away, below " + r.Store.Dir().Path(asideDir),
	})
	if !r.dry {
		for _, path := range paths {
			if err := r.aside(path); err != nil {
				return err
			}
		}
		return nil
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	for _, path := range paths {
		hash := hashOf(path)
		err := objects.Each([]git.Wanted{{Hash: hash, Most: maxObject}}, func(_ int, obj *git.Object, err error) error {
			if err != nil || hash.Format().Object(obj.Type, obj.Content) != hash {
				bad[hash] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hashOf returns the hash that the path of a loose object spells.
func hashOf(path string) object.Hash {
	return object.NewHash(filepath.Base(filepath.Dir(path)) + filepath.Base(path))
}

// borrow gets what is lost from the remotes, one after the other.
func (r *repair) borrow(ctx context.Context, w *walk, scratch *git.Repo) error {
	if len(w.lost) == 0 {
		return nil
	}
	names, err := remote.Names(ctx, r.Repo)
	if err != nil {
		return err
	}
	tips, err := r.tips(ctx)
	if err != nil {
		return err
	}
	missions := slices.Sorted(maps.Keys(tips))
	for _, name := range names {
		if len(w.lost) == 0 {
			break
		}
		if err := r.borrowFrom(ctx, name, w, scratch, missions); err != nil {
			r.say(Finding{What: fmt.Sprintf("the remote %s could not be asked for what is lost: %v", name, err)})
		}
	}
	if w.got == 0 {
		return nil
	}
	r.say(Finding{What: fmt.Sprintf("objects that were lost, and that a remote has: %d", w.got), Mended: "they are fetched, and checked"})
	if r.dry {
		return nil
	}
	return w.here.Flush()
}

// borrowFrom gets what is lost from one remote, as long as that helps: only a
// commit that is here tells what it leads to.
func (r *repair) borrowFrom(ctx context.Context, name string, w *walk, scratch *git.Repo, missions []record.ID) error {
	from, err := remote.Open(ctx, r.Workspace, name)
	if err != nil {
		return err
	}
	for len(w.lost) > 0 {
		wanted := slices.Collect(maps.Keys(w.lost))
		if err := fetcher.Missing(ctx, from, scratch, wanted, missions); err != nil {
			return err
		}
		w.there = scratch.Objects(ctx)
		err := w.run(wanted)
		w.there.Close()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(wanted, func(hash object.Hash) bool { return !w.lost[hash] }) {
			return nil
		}
	}
	return nil
}
