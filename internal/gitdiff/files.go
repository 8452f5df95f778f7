package gitdiff

import (
	"context"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Files returns the files that differ in each of the pairs of trees, by their
// paths, with both versions. One git process compares all. A moved file is a
// deleted and an added one.
func Files(ctx context.Context, r *git.Repo, pairs [][2]object.Hash, only Paths) ([]map[string]Versions, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--"}
	out, err := r.With(git.In(only.Dir), git.Wary).Output(ctx, strings.NewReader(in.String()), append(args, only.Specs...)...)
	var files []map[string]Versions
	if err == nil {
		files, err = parseFiles(string(out), pairs)
	}
	if err != nil {
		return nil, fmt.Errorf("compare %d pairs of trees: %w", len(pairs), err)
	}
	return files, nil
}

// parseFiles reads `git diff-tree --stdin -z --raw`: headings, then for each file
// `:<mode> <mode> <hash> <hash> <status>` and its path.
func parseFiles(out string, pairs [][2]object.Hash) ([]map[string]Versions, error) {
	files := make([]map[string]Versions, len(pairs))
	for i := range pairs {
		rest, ok := strings.CutPrefix(out, heading(pairs, i))
		if !ok {
			return nil, Skipped(pairs[i][0], pairs[i][1])
		}
		for strings.HasPrefix(rest, ":") {
			line, after, _ := strings.Cut(rest, "\x00")
			path, after, whole := strings.Cut(after, "\x00")
			f := strings.Fields(line)
			if len(f) != 5 || !whole {
				return nil, fmt.Errorf("unexpected line %q", line)
			}
			if files[i] == nil {
				files[i] = make(map[string]Versions)
			}
			files[i][path] = Versions{object.NewHash(f[2]), object.NewHash(f[3])}
			rest = after
		}
		out = rest
	}
	return files, nil
}
