package fetcher

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"gitagent/internal/purge"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// allLandings is where fetched refs wait to be merged, see docs/format.md.
const allLandings = "refs/agent/remotes/"

// DropLanded removes what killed fetches have left, not running ones: landing
// refs and archives, and counts them by remote. With dry set it only counts.
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
	for _, place := range w.Repo.Glob("objects/" + keptPlace + "*") {
		part, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(place), keptPlace), ",")
		if name, err := url.PathUnescape(part); err == nil {
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

// CompletePurge ends a purge that was killed, as one that a fetch has applied,
// or returns nil if there is none. What killed fetches and pages left goes
// before, as it may have what is purged.
func CompletePurge(ctx context.Context, w *workspace.Workspace) (*purge.Result, error) {
	if _, err := DropLanded(ctx, w, false); err != nil {
		return nil, err
	}
	if err := w.Store.DropPages(); err != nil {
		return nil, err
	}
	return purge.Complete(ctx, w)
}

// goOn ends what a fetch that was killed has begun, and tells of it.
func (f *fetch) goOn(ctx context.Context) error {
	err := f.clear(ctx)
	if err != nil || !purge.Unfinished(f.Workspace.Store) {
		return err
	}
	done, err := CompletePurge(ctx, f.Workspace)
	if err != nil || done == nil {
		return err
	}
	text := "a purge that was killed is complete now"
	if len(done.Stays) > 0 {
		text += "; " + (&KeptError{done.Stays, f.Name}).Error()
	}
	if f.Warn != nil {
		f.Warn(text)
		return nil
	}
	f.Say(text)
	return nil
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
