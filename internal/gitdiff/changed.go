package gitdiff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Paths are pathspecs relative to a directory of the worktree; none mean all.
type Paths struct {
	Dir   string // "" for the top of the worktree
	Specs []string
}

// Excludes reports whether a pathspec excludes paths, as `:!docs` does.
func Excludes(spec string) bool {
	magic, ok := strings.CutPrefix(spec, ":")
	if !ok || magic == "" {
		return false
	}
	if words, long := strings.CutPrefix(magic, "("); long {
		words, _, _ = strings.Cut(words, ")")
		return slices.Contains(strings.Split(words, ","), "exclude")
	}
	return strings.ContainsAny(magic[:len(magic)-len(strings.TrimLeft(magic, "!^/"))], "!^")
}

// FromTop returns the pathspec of a path from the worktree's top, in any
// directory of it.
func FromTop(path string) string {
	plain := func(c byte) bool { return c == '.' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
	if path == "" || !plain(path[0]) || strings.ContainsAny(path, `*?[\`) { // it may be magic
		return ":(top,literal)" + path
	}
	return ":/" + path
}

// Changed returns the paths that differ between two trees on disk, with their
// entries in the tree to, zero if it has none.
func Changed(ctx context.Context, r *git.Repo, from, to object.Hash, only Paths) (map[string]object.Entry, error) {
	args := []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from.String(), to.String(), "--"}
	out, err := r.With(git.In(only.Dir)).Output(ctx, nil, append(args, only.Specs...)...)
	if err != nil {
		return nil, err
	}
	changed := make(map[string]object.Entry)
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// :<mode> <mode> <hash> <hash> <status>
		f := strings.Fields(fields[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("compare trees %s and %s: unexpected line %q", from, to, fields[i])
		}
		mode, err := filemode.New(f[1])
		if err != nil {
			return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
		}
		e := object.Entry{}
		if mode != filemode.Empty {
			if e.Hash, err = object.ParseHash(f[3]); err != nil {
				return nil, fmt.Errorf("compare trees %s and %s: %w", from, to, err)
			}
			e.Mode = mode
		}
		changed[fields[i+1]] = e
	}
	return changed, nil
}
