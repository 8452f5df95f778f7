package copyignored

import (
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

	"gitagent/internal/git"
)

// Find finds the ignored files of a checkout that patterns, or its own [File],
// which counts less, name. Beyond most the error is a [*LimitError].
func Find(ctx context.Context, from *git.Repo, patterns []string, most Amount) (*Files, error) {
	f := &Files{from: from}
	if from.Top == "" {
		return f, nil
	}
	top, err := os.OpenRoot(from.Top)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	all := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == "" })
	var excludes []string
	for _, p := range all {
		excludes = append(excludes, "--exclude="+p)
	}
	own, err := readPatterns(top)
	if err != nil {
		return nil, err
	}
	if len(own) > 0 {
		excludes = append(excludes, "--exclude-from="+filepath.Join(from.Top, File))
	}
	if all = append(all, own...); len(all) == 0 {
		return f, nil
	}
	w := walk{top: top, most: most, files: f, dirs: make(map[string]*dir), tops: make(map[string]Amount)}
	if err := w.find(ctx, from, all, excludes); err != nil {
		if e := (*LimitError)(nil); errors.As(err, &e) {
			return nil, e
		}
		return nil, fmt.Errorf("find the ignored files that are to be copied: %w", err)
	}
	for _, d := range w.dirs {
		slices.SortFunc(d.files, byName)
		f.dirs = append(f.dirs, *d)
	}
	slices.SortFunc(f.dirs, func(a, b dir) int { return strings.Compare(a.path, b.path) })
	return f, nil
}

func byName(a, b file) int { return strings.Compare(a.name, b.name) }

func (w *walk) find(ctx context.Context, from *git.Repo, patterns, excludes []string) error {
	var ignored []string // by path; directories end in a slash, and nothing in them is in the list
	err := others(ctx, from, []string{"--exclude-standard"}, nil, func(name string) error {
		if mayName(patterns, name) {
			ignored = append(ignored, name)
		}
		return nil
	})
	if err != nil || len(ignored) == 0 {
		return err
	}
	known := make(map[string]bool, len(ignored))
	for _, name := range ignored {
		known[name] = true
	}
	return others(ctx, from, excludes, pathspecs(ignored), func(name string) error {
		if known[name] || inOne(known, name) {
			return w.entry(ctx, name)
		}
		// Git ignores some of what is in this directory.
		if strings.HasSuffix(name, "/") {
			i, _ := slices.BinarySearch(ignored, name)
			for ; i < len(ignored) && strings.HasPrefix(ignored[i], name); i++ {
				if err := w.entry(ctx, ignored[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inOne reports whether a file is below one of the directories.
func inOne(dirs map[string]bool, name string) bool {
	for i, c := range name {
		if c == '/' && dirs[name[:i+1]] {
			return true
		}
	}
	return false
}

// others calls each, by path, with what is untracked and matches an exclude. A
// directory that matches as a whole is one entry that ends in a slash.
func others(ctx context.Context, repo *git.Repo, excludes, specs []string, each func(string) error) error {
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--directory"}, excludes...)
	last := ""
	err := list(ctx, repo, append(append(args, "--"), specs...), func(name string) error {
		before := last
		last = name
		// A directory with files that match singly is listed before them.
		if before == "" || strings.HasSuffix(before, "/") && strings.HasPrefix(name, before) {
			return nil
		}
		return each(before)
	})
	if err == nil && last != "" {
		err = each(last)
	}
	return err
}

// plain returns the repository without settings for paths from the environment.
func plain(repo *git.Repo) *git.Repo {
	return repo.With(git.Env("GIT_LITERAL_PATHSPECS=0", "GIT_GLOB_PATHSPECS=0", "GIT_NOGLOB_PATHSPECS=0", "GIT_ICASE_PATHSPECS=0"))
}

// list calls each with what git prints, split at NUL, until that fails.
func list(ctx context.Context, repo *git.Repo, args []string, each func(string) error) error {
	return plain(repo).Split(ctx, nil, 0, func(name []byte) error { return each(string(name)) }, args...)
}

// mostSpecs limits the paths that git compares each file with.
const mostSpecs = 200

// pathspecs returns a few paths that cover all names; nil if too many. The
// first is in no list of files. It keeps the others from having a directory in
// common: git 2.39 fails to list it ("directory entry not superset of prefix").
func pathspecs(names []string) []string {
	for depth := 16; depth > 0; depth /= 2 {
		specs := []string{".git"}
		size := 0
		for _, name := range names {
			if parts := strings.SplitN(name, "/", depth+1); len(parts) > depth {
				name = strings.Join(parts[:depth], "/")
			}
			if name = strings.TrimSuffix(name, "/"); specs[len(specs)-1] != name {
				specs = append(specs, name)
				size += len(name)
			}
		}
		if len(specs) <= mostSpecs && size < 16<<10 { // Windows has room for 32 KB
			return specs
		}
	}
	return nil
}

type walk struct {
	top   *os.Root
	most  Amount
	files *Files
	dirs  map[string]*dir
	tops  map[string]Amount // by the first part of the path
}

func (w *walk) entry(ctx context.Context, name string) error {
	if git.DotGit(name) {
		w.leave(name, whyName)
		return nil
	}
	if name, ok := strings.CutSuffix(name, "/"); ok {
		info, err := w.top.Lstat(name)
		if err != nil || !info.IsDir() {
			w.leave(name, whyLost(err))
			return nil
		}
		return w.dir(ctx, name)
	}
	info, err := w.top.Lstat(name)
	if err != nil {
		w.leave(name, whyLost(err))
		return nil
	}
	return w.file(name, info)
}

func (w *walk) dir(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := w.top.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		w.leave(name+"/", whyLost(err))
		return nil
	}
	entries, err := f.ReadDir(-1)
	_ = f.Close()
	if err != nil {
		w.leave(name+"/", whyLost(err))
		return nil
	}
	if holdsRepository(entries) {
		w.leave(name+"/", whyRepository)
		return nil
	}
	for _, e := range entries {
		path := name + "/" + e.Name()
		if git.DotGit(e.Name()) {
			w.leave(path, whyName)
			continue
		}
		var err error
		if e.IsDir() {
			err = w.dir(ctx, path)
		} else if info, lost := e.Info(); lost != nil {
			w.leave(path, whyLost(lost))
		} else {
			err = w.file(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holdsRepository reports whether entries are of a worktree or git directory.
func holdsRepository(entries []fs.DirEntry) bool {
	has := 0
	for _, e := range entries {
		switch e.Name() {
		case ".git":
			return true
		case "HEAD", "objects", "refs":
			has++
		}
	}
	return has == 3
}

func (w *walk) file(name string, info fs.FileInfo) error {
	link := info.Mode().Type() == fs.ModeSymlink
	if !link && !info.Mode().IsRegular() {
		w.leave(name, whyType)
		return nil
	}
	base := path.Base(name)
	dirName := path.Dir(name)
	d := w.dirs[dirName]
	if d == nil {
		d = &dir{path: dirName}
		w.dirs[dirName] = d
	}
	d.files = append(d.files, file{name: base, link: link})
	size := info.Size()
	if link {
		size = 0
	}
	first, _, _ := strings.Cut(name, "/")
	at := w.tops[first]
	at.add(size)
	w.tops[first] = at
	if w.files.amount.add(size); w.files.amount.exceeds(w.most) {
		return w.tooMuch()
	}
	return nil
}

func (w *walk) tooMuch() error {
	e := &LimitError{Most: w.most, Found: w.files.amount}
	byBytes := e.Found.Files <= w.most.Files
	for name, has := range w.tops {
		order := cmp.Compare(has.Files, e.Has.Files)
		if byBytes {
			order = cmp.Compare(has.Bytes, e.Has.Bytes)
		}
		if order > 0 || order == 0 && name < e.In {
			e.In, e.Has = name, has
		}
	}
	return e
}

func (w *walk) leave(name, why string) { w.files.left = append(w.files.left, Skipped{name, why}) }
