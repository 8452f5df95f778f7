package fetcher

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// allLandings is where fetched refs wait to be merged, see docs/format.md.
const allLandings = "refs/agent/remotes/"

// DropLanded removes the landing refs of killed fetches, not of running ones,
// and counts them by remote. With dry set it only counts.
func DropLanded(ctx context.Context, w *workspace.Workspace, dry bool) (map[string]int, error) {
	refs, err := w.Repo.Refs(ctx, allLandings)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int)
	for ref := range refs {
		part, _, ok := strings.Cut(strings.TrimPrefix(ref, allLandings), "/")
		if name, err := url.PathUnescape(part); ok && err == nil {
			counts[name]++
		}
	}
	for name := range counts {
		free, err := dropLanded(ctx, remote.Named(w, name), dry)
		if err != nil {
			return counts, fmt.Errorf("remove what a killed fetch from %s left: %w", name, err)
		}
		if !free {
			delete(counts, name)
		}
	}
	return counts, nil
}

// dropLanded reports whether no fetch runs.
func dropLanded(ctx context.Context, r *remote.Remote, dry bool) (bool, error) {
	held, err := r.Workspace.Store.TryLock("fetch-" + remote.Escape(r.Name))
	if err != nil || held == nil {
		return false, err
	}
	defer held.Release()
	if dry {
		return true, nil
	}
	err = held.With(noteLandings(r), func() error { return (&fetch{r, held}).clear(ctx) })
	if err == nil {
		err = Left(ctx, r)
	}
	return true, err
}
