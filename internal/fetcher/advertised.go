package fetcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
)

// keptPlace begins the name of the object directory to which a remote's archive is
// fetched. By its own beginning git may prune it.
const keptPlace = "tmp_agent-archive-"

// placesOfKept matches such directories of a remote, below the common directory;
// no name that is escaped has a comma.
func placesOfKept(r *remote.Remote) string {
	return "objects/" + keptPlace + remote.Escape(r.Name) + ",*"
}

// fetchKept brings commits that a remote's archive keeps, from a host that gives
// nothing but what it advertises: the whole archive comes, and all but these
// goes again. It was not asked for, and a purge would have to find it here. It
// skips commits that the archive lacks. The caller holds the lock of fetches.
func fetchKept(ctx context.Context, r *remote.Remote, source string, commits []object.Hash) error {
	dir, err := os.MkdirTemp(filepath.Join(r.Repo.CommonDir, "objects"), filepath.Base(placesOfKept(r)))
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Mkdir(filepath.Join(dir, "info"), 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte("..\n"), 0o666)
	}
	if err != nil {
		return fmt.Errorf("make a place for the archive of %s: %w", r.Name, err)
	}
	apart := *r
	apart.Repo = r.Repo.With(git.Env("GIT_OBJECT_DIRECTORY=" + dir))
	if err := fetchRefs(ctx, &apart, source, ledger.ArchiveKeepRef+"\n"); err != nil {
		return err
	}
	var tips strings.Builder
	for _, h := range commits {
		fmt.Fprintln(&tips, h)
	}
	names, err := apart.Repo.Output(ctx, strings.NewReader(tips.String()), "rev-list", "--objects", "--ignore-missing", "--stdin", "--not", "--all")
	if err != nil || len(names) == 0 {
		return err
	}
	out, err := apart.Repo.Output(ctx, bytes.NewReader(names), "pack-objects", "--delta-base-offset", "--quiet", filepath.Join(dir, "..", "pack", "pack"))
	if err != nil {
		return err
	}
	base := filepath.Join(dir, "..", "pack", "pack-"+strings.TrimSpace(string(out)))
	for _, ext := range []string{".pack", ".idx", ".rev"} {
		if err := r.Repo.Give(ctx, base+ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
