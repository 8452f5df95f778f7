package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/statedir"
)

// maxLooseRefs bounds the files that listing refs opens. A mission has 2 or 3.
const maxLooseRefs = 256

// PackRefs packs refs if many are loose, like `git gc`, unless gc.packRefs is
// false. Writers wait briefly. held notes git's locks; see [DropLeftLocks].
func PackRefs(ctx context.Context, r *Repo, held *statedir.Lock) error {
	conf, err := r.Config(ctx)
	if err != nil || conf.Off("gc.packrefs") {
		return err
	}
	loose, err := looseRefs(r)
	if err == nil && len(loose) > maxLooseRefs {
		err = long(ctx, r, held, append(loose, filepath.Join(r.RefsDir(), "packed-refs")), "pack-refs", "--all", "--prune")
	}
	if err != nil {
		return fmt.Errorf("pack refs: %w", err)
	}
	return nil
}

// looseRefs returns the files of refs. Reftables have none, and git compacts
// them.
func looseRefs(r *Repo) (files []string, err error) {
	if r.InTables() {
		return nil, nil
	}
	err = filepath.WalkDir(filepath.Join(r.RefsDir(), "refs"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was just deleted
		}
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// Maintain runs `git maintenance run --auto` in the foreground, unless the user
// turned it off (gc.auto, maintenance.auto). It takes milliseconds if nothing
// is due, else perhaps minutes. held notes git's locks.
func Maintain(ctx context.Context, r *Repo, held *statedir.Lock) error {
	conf, err := r.Config(ctx)
	if err != nil || conf.Off("gc.auto") || conf.Off("maintenance.auto") {
		return err
	}
	var files []string
	for _, name := range []string{"gc.pid", "shallow", "objects/maintenance", "objects/info/", "objects/pack/"} {
		files = append(files, r.CommonDir+"/"+name)
	}
	for _, name := range []string{"packed-refs", "HEAD", "refs/", "logs/", "reftable/"} {
		files = append(files, r.RefsDir()+"/"+name)
	}
	for _, head := range r.GlobRefs("worktrees/*/HEAD") { // their logs expire, too
		files = append(files, head, filepath.Dir(head)+"/logs/", filepath.Dir(head)+"/reftable/")
	}
	err = long(ctx, r, held, files, "maintenance", "run", "--auto", "--quiet")
	if err != nil {
		return fmt.Errorf("maintain the repository: %w", err)
	}
	return nil
}

// long runs a slow git, and notes which locks it may leave, without those that
// another process holds now.
func long(ctx context.Context, r *Repo, held *statedir.Lock, files []string, args ...string) error {
	files = slices.DeleteFunc(files, func(file string) bool { return isFile(file + ".lock") })
	return r.Locking(ctx, held, statedir.Note{Words: files, Long: true}, func(r *Repo) error {
		_, err := r.Output(ctx, nil, args...)
		return err
	})
}
