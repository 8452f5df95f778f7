package repair

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gitagent/internal/git"
)

// derived puts away a commit-graph or multi-pack index that git finds wrong:
// git crashes with it or finds nothing, and makes it again at its next gc.
func (r *repair) derived(ctx context.Context) error {
	dir := filepath.Join(r.Repo.CommonDir, "objects")
	for _, d := range []struct {
		name, command string
		files         []string
	}{
		{"the commit-graph", "commit-graph", []string{"info/commit-graph", "info/commit-graphs"}},
		{"the index of all packs", "multi-pack-index", []string{"pack/multi-pack-index"}},
	} {
		there := false
		for _, file := range d.files {
			_, err := os.Lstat(filepath.Join(dir, file))
			there = there || err == nil
		}
		if !there {
			continue
		}
		if _, err := r.Repo.Output(ctx, nil, d.command, "verify"); err == nil || ctx.Err() != nil {
			continue
		}
		r.say(Finding{What: d.name + " is damaged, or not what the objects are", Mended: "it is put away; git makes another one"})
		if r.dry { // later steps look as if it were done
			w := *r.Workspace
			w.Repo, r.Workspace = w.Repo.With(git.Underived), &w
			continue
		}
		for _, file := range d.files {
			if err := r.aside(filepath.Join(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
