package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/outside"
	"gitagent/internal/record"
)

// A Snapshot is the state of a worktree.
type Snapshot struct {
	At      time.Time     // when the pass over the worktree began
	Took    time.Duration // until all was read
	Head    git.Head      // HEAD at that moment
	Tree    object.Hash   // staged, not flushed: see [git.Objects.Flush]; with Options.Publish on the disk
	Skipped []record.Skip // paths that the tree leaves out
	Plain   bool          // [Edit] may follow: see there

	index *privateIndex
	fresh bool // the user's new index is ready
}

// Options say how to take a snapshot.
type Options struct {
	Policy Policy
	// Begun, unless nil, is called during the pass, to start what can overlap.
	Begun func()
	// Config returns git's configuration. It is called after the pass.
	Config func() (git.Config, error)
	// Stored returns the tree of an earlier snapshot, which is complete in the
	// object database, or zero. What the new one has in common with it is not
	// written again. It is called at the same time as Config; it may be nil.
	Stored func() object.Hash
	// Publish prepares an index that matches the tree; see [Snapshot.Publish].
	Publish bool
}

// Take takes a snapshot of the worktree of repo. Blobs and trees go to objects,
// or to the object database where git writes them.
//
// After a failure Take tries again without filters that status may die of: with
// a new copy of the index, in case `git gc --prune=now` removed the old one's
// objects, then with HEAD's tree, in case the user's index is broken.
func Take(ctx context.Context, repo *git.Repo, objects *git.Objects, opt Options) (*Snapshot, error) {
	index, err := openIndex(repo)
	if err != nil {
		return nil, err
	}
	t := &taker{ctx: ctx, index: index, objects: objects, opt: opt}
	s, err := t.take(func() error { return index.prepare(ctx) })
	for _, again := range []func(context.Context) error{index.copy, index.readHead} {
		if err == nil || ctx.Err() != nil {
			break
		}
		if t.config, err = opt.Config(); err != nil {
			break
		}
		s, err = t.take(func() error { return again(ctx) })
	}
	if err != nil {
		return nil, fmt.Errorf("take a snapshot of %s: %w", repo.Top, err)
	}
	s.Took = time.Since(s.At)
	s.settle(ctx, objects)
	return s, nil
}

type taker struct {
	ctx     context.Context
	index   *privateIndex
	objects *git.Objects
	opt     Options

	config  git.Config
	head    object.Hash // HEAD's commit
	branch  bool        // HEAD is on one of Policy.Branches
	skipped []record.Skip
}

func (t *taker) take(prepare func() error) (*Snapshot, error) {
	t.skipped = nil
	if err := prepare(); err != nil {
		return nil, err
	}
	at := time.Now()
	submodules := make(chan []string, 1)
	go func() { submodules <- t.dirtySubmodules() }()
	status, err := t.index.start(t.ctx, t.index.path, t.statusArgs()...)
	if t.opt.Begun != nil {
		t.opt.Begun()
	}
	var out []byte
	if err == nil {
		out, err = status.Finish(nil)
	}
	dirty := <-submodules
	if err != nil {
		return nil, err
	}
	head, entries, err := parseStatus(string(out))
	if err != nil {
		return nil, err
	}
	if t.config, err = t.opt.Config(); err != nil {
		return nil, err
	}
	if err := t.supported(); err != nil {
		return nil, err
	}
	t.head = head.Commit
	on := cmp.Or(head.Branch, t.index.repo.RebasedBranch())
	t.branch = t.opt.Policy.Branches != "" && strings.HasPrefix(on, t.opt.Policy.Branches)
	for _, path := range dirty {
		t.skip(path, record.WhySubmodule)
	}
	if status.Warned() {
		if err := t.closed(); err != nil {
			return nil, err
		}
	}
	entries = t.choose(entries)
	s := &Snapshot{At: at, Head: head, Plain: t.bytewise(entries), index: t.index}
	if files, ok := t.plain(entries); ok {
		s.Tree, err = t.overlay(head, entries, files)
	} else {
		s.Tree, s.fresh, err = t.throughGit(entries)
	}
	if err != nil {
		return nil, err
	}
	s.Skipped = t.skipped
	return s, nil
}

// statusArgs returns git status's arguments, always the same because an
// untracked cache is valid for one set of options. After a failure the config
// is known, and filters are off: status runs the clean filter of files with new
// times, and dies if a required one fails.
func (t *taker) statusArgs() []string {
	var args []string
	for key := range t.config {
		switch driver, name := strings.HasPrefix(key, "filter."), path.Ext(key); {
		case driver && name == ".required":
			args = append(args, "-c", key+"=false")
		case driver && name == ".process": // fatal if it can't be started
			args = append(args, "-c", key+"=")
		}
	}
	return append(args, "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "-uall", "--no-renames", "--ignore-submodules=dirty")
}

// supported refuses repositories that the code would get wrong.
func (t *taker) supported() error {
	if err := t.config.Supported(); err != nil {
		return err
	}
	repo := t.index.repo
	top := t.config.Get("core.worktree")
	if top == "" || repo.GitDir != repo.CommonDir && !t.config.Bool("extensions.worktreeconfig") {
		return nil // a linked worktree ignores it
	}
	if !filepath.IsAbs(top) {
		top = filepath.Join(repo.GitDir, top)
	}
	if real, err := filepath.EvalSymlinks(top); err != nil || real != repo.Top {
		return fmt.Errorf("core.worktree says that the worktree is %s", top)
	}
	return nil
}

// choose drops the paths that stay out, and looks at the files to be hashed.
func (t *taker) choose(entries []entry) []entry {
	var files []untracked
	added := t.index.added()
	for i := range entries {
		e := &entries[i]
		if e.untracked && strings.HasSuffix(e.path, "/") && t.linked(e.path) {
			continue // another worktree of the repository: a session that works there has it in its turn
		}
		e.ours = !e.untracked && added[e.path]
		if (e.work || e.ours) && !e.gone && !strings.HasSuffix(e.path, "/") {
			t.look(e)
		}
		if e.untracked && e.work || e.ours && !e.gone {
			f := untracked{path: e.path}
			if e.info != nil {
				f.size = e.info.Size()
			}
			files = append(files, f)
		}
	}
	t.pointers(files)
	taken, skipped := t.opt.Policy.apply(files)
	t.skipped = append(t.skipped, skipped...)
	take := make(map[string]bool, len(taken))
	for _, f := range taken {
		take[f.path] = true
	}
	chosen := entries[:0]
	for _, e := range entries {
		if e.ours && !take[e.path] {
			e.work, e.gone = true, true
		}
		if !e.untracked || take[e.path] {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// linked reports whether a directory is another worktree of the repository.
func (t *taker) linked(dir string) bool {
	other, err := git.Find(t.index.file(dir))
	return err == nil && other.CommonDir == t.index.repo.CommonDir
}

// maxLFS is the most bytes of an untracked file that git-lfs is to read and
// copy, while the client waits.
const maxLFS = 1 << 30

// pointers gives files that would be left out for their size, but that LFS
// stores, the size that they have in git.
func (t *taker) pointers(files []untracked) {
	var all int64
	large := false
	for _, f := range files {
		all += f.size
		large = large || f.size > t.opt.Policy.MaxFileSize
	}
	if !large && all <= t.opt.Policy.MaxUntrackedSize || !t.config.Bool("filter.lfs.required") {
		return
	}
	var paths strings.Builder
	for _, f := range files {
		paths.WriteString(f.path + "\x00")
	}
	attributes, err := t.attributes(paths.String(), "filter")
	for i := range attributes {
		if err == nil && attributes[i].value == "lfs" && files[i].size <= maxLFS {
			files[i].size = min(files[i].size, outside.MaxPointer)
		}
	}
}

func (t *taker) look(e *entry) {
	info, err := os.Lstat(t.index.file(e.path))
	switch {
	case gone(err):
		e.gone, e.work = true, !e.untracked
	case err != nil: // perhaps too long for us but not for git
	case e.mode == filemode.Submodule && e.staged.Mode != filemode.Submodule && !e.conflict:
		t.skip(e.path+"/", record.WhyRepository)
		e.gone = true
	case e.mode == filemode.Submodule:
	case info.IsDir():
		e.gone, e.work = true, !e.untracked
	case e.untracked && git.DotGit(e.path), info.Mode()&fs.ModeSymlink != 0 && git.DotGitmodules(e.path):
		t.leave(e, record.WhyRefused)
	case info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular():
		t.leave(e, record.WhyUnreadable)
	case t.purged(e, info):
		t.leave(e, record.WhyPurged)
		e.gone = e.ours // the private index may hold what was purged
	default:
		e.info = info
	}
}

// closed notes the directories that can't be read, of which status only warns:
// what is untracked there is missing from its list as if it were gone.
func (t *taker) closed() error {
	var dirs []string
	top := t.index.repo.Top
	_ = filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && file != top && !gone(err):
			name, _ := filepath.Rel(top, file)
			dirs = append(dirs, filepath.ToSlash(name)+"/")
			return nil
		case err != nil || !d.IsDir() || file == top:
			return nil
		case git.DotGit(d.Name()) || exists(filepath.Join(file, ".git")):
			return fs.SkipDir
		}
		return t.ctx.Err()
	})
	if len(dirs) == 0 {
		return t.ctx.Err()
	}
	out, err := t.index.git(t.ctx, t.index.path, "", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return err
	}
	var ignored []string
	for name := range strings.SplitSeq(out, "\x00") {
		if strings.HasSuffix(name, "/") {
			ignored = append(ignored, name)
		}
	}
	for _, dir := range dirs {
		if !slices.ContainsFunc(ignored, func(above string) bool { return strings.HasPrefix(dir, above) }) {
			t.skip(dir, record.WhyUnreadable)
		}
	}
	return nil
}

// maxPurgedFile is the most bytes of a file to be searched for what was purged.
const maxPurgedFile = 64 << 20

// purged reports whether a file or link has to stay out as it holds what was
// purged. From a text that is cut out, which is noted as well.
func (t *taker) purged(e *entry, info fs.FileInfo) bool {
	f := t.opt.Policy.Purged
	if f.Empty() || info.Size() > maxPurgedFile {
		return false
	}
	if len(f.Spans([]byte(e.path))) > 0 {
		return true
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, _ := os.Readlink(t.index.file(e.path)) // what can't be read isn't taken
		return len(f.Spans([]byte(target))) > 0
	}
	content, _ := os.ReadFile(t.index.file(e.path))
	if len(f.Spans(content)) == 0 || t.committed(e.path, content) {
		return false
	}
	clean, ok := f.Clean(content)
	if !ok || t.branch || isBinary(content) {
		return true
	}
	e.marked = clean
	t.skip(e.path, record.WhyPurged)
	return false
}

// committed reports whether HEAD has a file as it is.
func (t *taker) committed(name string, content []byte) bool {
	tree, err := t.objects.TreeOf(t.head)
	if err != nil {
		return false
	}
	e, err := t.objects.Lookup(tree, name)
	return err == nil && e.Hash == t.objects.Format().Object(plumbing.BlobObject, content)
}

// isBinary reports whether git takes a file for no text.
func isBinary(content []byte) bool { return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 }

// gone reports whether err means that nothing is at a path.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// leave keeps e's file out of the snapshot. A tracked path stays as staged.
func (t *taker) leave(e *entry, why string) {
	t.skip(e.path, why)
	e.work = false
}

func (t *taker) skip(path, why string) {
	t.skipped = append(t.skipped, record.Skip{Path: path, Why: why})
}

// overlay builds the tree in-process: HEAD's tree overlaid with staged entries
// and hashed files.
func (t *taker) overlay(head git.Head, entries []entry, files map[string]object.Entry) (object.Hash, error) {
	base, err := t.objects.TreeOf(head.Commit)
	if err != nil {
		return object.Hash{}, err
	}
	if len(entries) == 0 && !base.IsZero() {
		return base, nil
	}
	changes := make(map[string]object.Entry, len(entries))
	for _, e := range entries {
		if e.work {
			changes[e.path] = files[e.path]
			continue
		}
		changes[e.path] = e.staged
		if t.index.ahead() && e.staged.Mode != filemode.Empty && e.staged.Mode != filemode.Submodule {
			if err := t.objects.Has(e.staged.Hash); err != nil {
				return object.Hash{}, fmt.Errorf("read %s, as staged in the private index: %w", e.path, err)
			}
		}
	}
	tree, err := t.objects.EditTree(base, changes)
	if err != nil {
		return tree, err
	}
	if t.opt.Stored == nil {
		return tree, nil
	}
	return tree, t.objects.Share(tree, t.opt.Stored())
}
