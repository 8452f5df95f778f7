package blame

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// An Added is a file of a commit, with lines that the commit brought.
type Added struct {
	Path  string
	Lines []Line // written by turns, in order
	Err   error  // why nothing is known of the file: [ErrTimeout]; else nil
}

// ErrEnd reports a commit at the end of a shallow clone: without its parents,
// new lines can't be told from old ones.
var ErrEnd = errors.New("the history ends there, in a shallow clone")

// Added returns the files of a commit, in order of their paths, with the lines
// that no parent of it has and turns wrote: those that plain `git blame` gives
// to the commit. Of a merge they are what was made of conflicts. What has no
// lines is left out, such as binary files, links and submodules.
func (h *History) Added(ctx context.Context, commit object.Hash) ([]Added, error) {
	files, err := h.brought(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("lines of commit %s: %w", commit, err)
	}
	return files, nil
}

func (h *History) brought(ctx context.Context, commit object.Hash) ([]Added, error) {
	c, err := h.objects.Commit(commit)
	if err != nil {
		return nil, err
	}
	shallow, err := h.w.Repo.Shallow()
	if err != nil {
		return nil, err
	}
	if len(c.Parents) > 0 && slices.Contains(shallow, commit) {
		return nil, ErrEnd
	}
	if h.early(c.Committer.When) {
		return nil, nil
	}
	var since object.Hash
	if len(c.Parents) > 0 {
		since = c.Parents[0]
	}
	paths, err := h.grown(ctx, c.Parents, h.w.Repo.Format().OrEmpty(since), commit)
	if err != nil {
		return nil, err
	}
	var files []Added
	for _, path := range paths {
		f := Added{Path: path}
		lines, err := h.Blame(ctx, Request{Commit: commit, Path: path, Since: since})
		switch {
		case errors.Is(err, ErrTimeout):
			f.Err = err
		case err != nil:
			return nil, err
		}
		for _, line := range lines {
			known := !line.Unsure || len(line.Others) > 0 // else it may be nobody's who is known
			if line.Turn != nil && known && line.Blame.Commit == commit {
				f.Lines = append(f.Lines, line)
			}
		}
		if len(f.Lines) > 0 || f.Err != nil {
			files = append(files, f)
		}
	}
	return files, nil
}

// grown are the files in which a commit may have lines of turns' that none of
// its parents has. From is the first of those, or nothing.
func (h *History) grown(ctx context.Context, parents []object.Hash, from, commit object.Hash) ([]string, error) {
	changed, err := gitdiff.Changed(ctx, h.w.Repo, from, commit, gitdiff.Paths{})
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(parents); i++ {
		other, err := gitdiff.Changed(ctx, h.w.Repo, parents[i], commit, gitdiff.Paths{})
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(changed, func(path string, _ object.Entry) bool { _, ok := other[path]; return !ok })
	}
	maps.DeleteFunc(changed, func(_ string, e object.Entry) bool {
		return e.Mode != filemode.Regular && e.Mode != filemode.Executable && e.Mode != filemode.Deprecated
	})
	if len(changed) == 0 {
		return nil, nil
	}
	stats, err := gitdiff.OfPaths(ctx, h.w.Repo, from, commit)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, s := range stats {
		if _, ok := changed[s.Path]; !ok || s.Binary || s.Insertions == 0 {
			continue
		}
		// Without a rename, only turns that changed it can have lines in it.
		old := s.Deletions > 0 && len(parents) == 1
		if old && len(h.touching([]string{s.Path})) == 0 {
			continue
		}
		paths = append(paths, s.Path)
	}
	return paths, nil
}
