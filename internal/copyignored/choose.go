package copyignored

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"gitagent/internal/git"
)

// choose returns the files that have room and are ignored in the new worktree.
func (c *copier) choose(ctx context.Context, repo *git.Repo, dirs []dir) ([]dir, error) {
	tracked, err := c.tracked(ctx, repo, dirs)
	if err != nil {
		return nil, err
	}
	places := places{root: c.to, tracked: tracked, known: map[string]place{".": {exists: true}}}
	var free []dir
	for _, d := range dirs {
		at, err := places.of(d.path)
		if err != nil {
			return nil, err
		}
		free = append(free, c.keep(d, func(name string) string {
			if at.why == "" && tracked[name] {
				return whyTracked
			}
			return at.why
		}))
	}
	ignored, err := ignored(ctx, repo, free)
	if err != nil {
		return nil, err
	}
	for i, d := range free {
		free[i] = c.keep(d, func(name string) string {
			if !ignored[name] {
				return whyNotIgnored
			}
			return ""
		})
	}
	return free, nil
}

// keep returns a directory without the files that have a reason to be left out.
func (c *copier) keep(d dir, why func(name string) string) dir {
	kept := dir{path: d.path, files: make([]file, 0, len(d.files))}
	for _, f := range d.files {
		if why := why(path.Join(d.path, f.name)); why != "" {
			c.skip(path.Join(d.path, f.name), why)
		} else {
			kept.files = append(kept.files, f)
		}
	}
	return kept
}

// tracked returns the index's paths of files to be copied, and of links or
// submodules in the place of their directories. Sparse worktrees lack some.
func (c *copier) tracked(ctx context.Context, repo *git.Repo, dirs []dir) (map[string]bool, error) {
	mine := make(map[string]bool)
	var names []string
	for _, d := range dirs {
		for at := d.path; at != "." && !mine[at]; at = path.Dir(at) {
			mine[at] = true
		}
		if d.path != "." {
			names = append(names, d.path)
			continue
		}
		for _, f := range d.files {
			names = append(names, f.name)
		}
	}
	files := make(map[string]bool)
	for _, d := range dirs {
		for _, f := range d.files {
			files[path.Join(d.path, f.name)] = true
		}
	}
	tracked := make(map[string]bool)
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--cached", "--"}, pathspecs(names)...)
	return tracked, list(ctx, repo, args, func(name string) error {
		if mine[name] {
			tracked[name] = true
		}
		for at := name; at != "."; at = path.Dir(at) {
			if files[at] {
				tracked[at] = true
			}
		}
		return nil
	})
}

// A place is what the new worktree has for a directory.
type place struct {
	exists bool
	why    string // nothing can be copied into it
}

type places struct {
	root    *os.Root
	tracked map[string]bool
	known   map[string]place
}

// of looks at a directory of the new worktree and those above it. Nothing is
// written through a symbolic link or into another repository.
func (p *places) of(name string) (place, error) {
	if at, ok := p.known[name]; ok {
		return at, nil
	}
	at, err := p.of(path.Dir(name))
	if err != nil {
		return at, err
	}
	if at.why == "" && p.tracked[name] {
		at.why = whyInTheWay
	}
	if at.why == "" && at.exists {
		at, err = p.look(name)
	}
	p.known[name] = at
	return at, err
}

func (p *places) look(name string) (place, error) {
	switch info, err := p.root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return place{}, nil
	case err != nil:
		return place{}, err
	case !info.IsDir():
		return place{why: whyInTheWay}, nil
	}
	switch _, err := p.root.Lstat(path.Join(name, ".git")); {
	case err == nil:
		return place{why: whyInTheWay}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return place{}, err
	}
	return place{exists: true}, nil
}

// ignored returns the files that git would ignore if they were there. Nothing
// but directories may be in the place of their directories.
func ignored(ctx context.Context, repo *git.Repo, dirs []dir) (map[string]bool, error) {
	var names strings.Builder
	for _, d := range dirs {
		for _, f := range d.files {
			// A leading colon is magic to git.
			names.WriteString("./" + path.Join(d.path, f.name) + "\x00")
		}
	}
	is := make(map[string]bool)
	if names.Len() == 0 {
		return is, nil
	}
	// The index is not needed, and with it git fails in a submodule.
	out, err := plain(repo).Output(ctx, strings.NewReader(names.String()), "check-ignore", "--no-index", "-z", "--stdin")
	if err != nil && git.Status(err) != 1 { // none
		return nil, err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		is[strings.TrimPrefix(name, "./")] = true
	}
	return is, nil
}
