package copyignored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
)

// links copies the symbolic links after all files. It removes those that lead
// out of the new worktree, directly or through another link.
func (c *copier) links(ctx context.Context, dirs []dir) error {
	for _, d := range dirs {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range d.files {
			if f := &d.files[i]; f.link {
				name := path.Join(d.path, f.name)
				why, err := c.link(name)
				if err != nil {
					return fmt.Errorf("copy %q: %w", name, err)
				}
				if f.copied = why == ""; !f.copied {
					c.skip(name, why)
				}
			}
		}
	}
	for _, d := range dirs {
		for i := range d.files {
			f := &d.files[i]
			if !f.link || !f.copied {
				continue
			}
			name := path.Join(d.path, f.name)
			if _, err := c.to.Stat(name); err == nil || errors.Is(err, fs.ErrNotExist) {
				c.add(0)
				continue
			}
			f.copied = false
			if err := c.to.Remove(name); err != nil {
				return fmt.Errorf("copy %q: %w", name, err)
			}
			c.skip(name, whyOut)
		}
	}
	return nil
}

func (c *copier) link(name string) (why string, err error) {
	target, err := c.from.Readlink(name)
	if err != nil {
		return whyLost(err), nil
	}
	if why := stays(name, target); why != "" {
		return why, nil
	}
	switch err := c.to.Symlink(target, name); {
	case errors.Is(err, fs.ErrExist):
		return whyThere, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
		return whyNoLinks, nil
	default:
		return "", err
	}
}

// stays returns why a link must not be copied: its text leads out of the
// worktree or to git's files. An absolute one would change the checkout.
func stays(name, target string) (why string) {
	if filepath.IsAbs(target) || strings.HasPrefix(target, "/") {
		return whyAbsolute
	}
	to := path.Join(path.Dir(name), filepath.ToSlash(target))
	if !filepath.IsLocal(filepath.FromSlash(to)) || git.DotGit(to) {
		return whyOut
	}
	return ""
}
