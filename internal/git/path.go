package git

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"gitagent/internal/git/object"
)

// FromTop returns the path from the top of a file that a person named, relative
// to the current directory or absolute. ok is false outside and for the top
// itself.
func (r *Repo) FromTop(ctx context.Context, name string) (file string, ok bool, err error) {
	if filepath.IsAbs(name) {
		file, ok = Within(r.Top, name)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); !ok && err == nil {
			file, ok = Within(r.Top, filepath.Join(dir, filepath.Base(name)))
		}
		return file, ok && file != ".", nil
	}
	out, err := r.With(Here).Output(ctx, nil, "rev-parse", "--show-prefix")
	if err != nil {
		return "", false, err
	}
	file = path.Join(strings.TrimSuffix(string(out), "\n"), filepath.ToSlash(name))
	return file, file != "." && file != ".." && !strings.HasPrefix(file, "../"), nil
}

// Within returns what a path is called in a directory, with slashes, "." for
// the directory itself. ok is false if it lies elsewhere, as far as names tell.
func Within(dir, path string) (name string, ok bool) {
	name, err := filepath.Rel(dir, path)
	return filepath.ToSlash(name), err == nil && filepath.IsLocal(name)
}

// At returns a commit's entry at a path from the top, zero if there is none.
func (o *Objects) At(commit object.Hash, path string) (object.Entry, error) {
	tree, err := o.TreeOf(commit)
	if err != nil {
		return object.Entry{}, err
	}
	return o.Lookup(tree, path)
}
