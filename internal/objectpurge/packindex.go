package objectpurge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeGraph rewrites an existing commit-graph for the refs. It comes first, as
// git would look for the commits of the old one.
func (e *eraser) writeGraph(ctx context.Context) error {
	info := filepath.Join(e.dir, "info")
	for _, graph := range []struct {
		file  string
		flags []string
	}{
		{filepath.Join(info, "commit-graph"), nil},
		{filepath.Join(info, "commit-graphs", "commit-graph-chain"), []string{"--split=replace", "--expire-time=now"}},
	} {
		before, err := os.Stat(graph.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		// It only names doomed commits, so without one git is just slower.
		_, err = e.repo.Output(ctx, nil, append([]string{"commit-graph", "write", "--reachable", "--no-progress"}, graph.flags...)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		after, statErr := os.Stat(graph.file)
		if err != nil || statErr == nil && os.SameFile(before, after) { // a shallow repository has no use for it
			if err := os.Remove(graph.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// writeMultiPackIndex rewrites an existing multi-pack index without the packs
// that are about to go. Its bitmap goes.
func (e *eraser) writeMultiPackIndex(ctx context.Context, without []string) error {
	file := filepath.Join(e.packDir(), "multi-pack-index")
	chain := file + ".d" // of several, see git's multi-pack-index(5)
	if !isFile(file) && !isFile(filepath.Join(chain, "multi-pack-index-chain")) {
		return nil
	}
	names, err := e.packNames()
	if err != nil {
		return err
	}
	var in strings.Builder
	for _, name := range names {
		if !slices.Contains(without, name) {
			in.WriteString(name + ".idx\n")
		}
	}
	if in.Len() == 0 {
		for _, file := range e.repo.Glob("objects/pack/multi-pack-index*") {
			err = errors.Join(err, os.RemoveAll(file))
		}
		return err
	}
	_, err = e.repo.Output(ctx, strings.NewReader(in.String()), "multi-pack-index", "write", "--stdin-packs", "--no-progress")
	if err == nil {
		err = os.RemoveAll(chain)
	}
	return err
}
