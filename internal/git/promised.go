package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git/object"
)

// Promisor returns the remote with a partial clone's missing objects, or "".
func (c Config) Promisor() string {
	if name := c.Get("extensions.partialclone"); name != "" {
		return name
	}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if name, ok := strings.CutPrefix(key, "remote."); ok {
			if name, ok = strings.CutSuffix(name, ".promisor"); ok && c.Bool(key) {
				return name
			}
		}
	}
	return ""
}

// Prefetch fetches the missing blobs at once; git would fetch them one by one.
func (r *Repo) Prefetch(ctx context.Context, promisor string, blobs []object.Hash) error {
	missing := make(map[string]bool)
	var in strings.Builder
	for _, b := range blobs {
		missing[b.String()] = true
		in.WriteString(b.String() + "\n")
	}
	out, err := r.Output(ctx, strings.NewReader(in.String()),
		"rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any", "--stdin")
	if err == nil {
		for hash := range strings.Lines(string(out)) {
			delete(missing, strings.TrimSpace(hash))
		}
		if len(missing) == 0 {
			return nil
		}
		_, err = r.Output(ctx, strings.NewReader(strings.Join(slices.Sorted(maps.Keys(missing)), "\n")+"\n"),
			"-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--filter=blob:none", "--stdin", promisor)
	}
	if err != nil {
		return fmt.Errorf("get %d files that this partial clone lacks: %w", len(missing), err)
	}
	return nil
}
