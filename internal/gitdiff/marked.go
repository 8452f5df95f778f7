package gitdiff

import (
	"bytes"
	"errors"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/scrub"
)

// maxSearched is the most bytes of a file that is searched for marks.
const maxSearched = 64 << 20

// Marked returns those of the paths that are changed from what a tree has, in
// order, whose new content has more of [scrub.Mark]: something was purged there.
func Marked(o *git.Objects, tree object.Hash, changed map[string]object.Entry) (paths []string, err error) {
	for path, e := range changed {
		is, err := marks(o, e)
		if err != nil {
			return nil, err
		}
		if is == 0 {
			continue
		}
		old, err := o.Lookup(tree, path)
		if err != nil {
			return nil, err
		}
		was, err := marks(o, old)
		if err != nil {
			return nil, err
		}
		if is > was {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// marks counts the marks in a file. What is not here is not checked out.
func marks(o *git.Objects, e object.Entry) (int, error) {
	if !e.Mode.IsFile() {
		return 0, nil
	}
	content, err := o.Blob(e.Hash, maxSearched)
	if errors.Is(err, git.ErrTooLarge) || git.Lost(err) {
		return 0, nil
	}
	return bytes.Count(content, []byte(scrub.Mark)), err
}
