package git

import (
	"context"
	"path"
	"path/filepath"
	"strings"
)

// FromTop returns the path from the top of the worktree, as git has it, of a file that a person names: relative
// to the current directory, or absolute. ok is false for one that lies outside, and for the top itself.
func (r *Repo) FromTop(ctx context.Context, name string) (file string, ok bool, err error) {
	if filepath.IsAbs(name) {
		file, ok = below(r.Top, filepath.Clean(name))
		if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); !ok && err == nil {
			file, ok = below(r.Top, filepath.Join(dir, filepath.Base(name)))
		}
		return file, ok, nil
	}
	out, err := r.Here().Output(ctx, nil, "rev-parse", "--show-prefix")
	if err != nil {
		return "", false, err
	}
	file = path.Join(strings.TrimSuffix(string(out), "\n"), filepath.ToSlash(name))
	return file, file != "." && file != ".." && !strings.HasPrefix(file, "../"), nil
}

// below is the path of a file from a directory, if it is in that.
func below(dir, file string) (string, bool) {
	rest, err := filepath.Rel(dir, file)
	if dir == "" || err != nil || !filepath.IsLocal(rest) || rest == "." {
		return "", false
	}
	return filepath.ToSlash(rest), true
}

// At returns what a commit has at a path from the top, the zero Entry for nothing.
func (o *Objects) At(commit Hash, path string) (Entry, error) {
	tree, err := o.TreeOf(commit)
	if err != nil {
		return Entry{}, err
	}
	return o.Lookup(tree, path)
}
