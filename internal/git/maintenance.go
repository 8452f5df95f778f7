package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/lock"
)

// maxLooseRefs is how many refs may have a file of their own: each costs whoever lists refs an open. A mission
// has two or three.
const maxLooseRefs = 256

// PackRefs packs all refs if many are loose, as `git gc` does, unless gc.packRefs is false. Whoever moves a ref
// meanwhile waits for a moment. The holder of held notes which locks git may leave there; see [DropLeftLocks].
func (r *Repo) PackRefs(ctx context.Context, held *lock.Lock) error {
	conf, err := r.Config(ctx)
	if err != nil || conf.Off("gc.packrefs") {
		return err
	}
	loose, err := r.looseRefs()
	if err == nil && len(loose) > maxLooseRefs {
		err = r.long(ctx, held, append(loose, filepath.Join(r.CommonDir, "packed-refs")), "pack-refs", "--all", "--prune")
	}
	if err != nil {
		return fmt.Errorf("pack refs: %w", err)
	}
	return nil
}

// looseRefs returns the files of refs. Where refs are in tables there are none, and git puts tables together as it adds
// to them.
func (r *Repo) looseRefs() (files []string, err error) {
	if r.InTables() {
		return nil, nil
	}
	err = filepath.WalkDir(filepath.Join(r.CommonDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has been deleted
		}
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// Maintain runs `git maintenance run --auto`, in the foreground, unless gc.auto is 0 or maintenance.auto is false:
// then the user has said that nothing does that by itself. It takes what git takes: milliseconds if nothing is
// due, and else perhaps minutes. The holder of held notes which locks git may leave there.
func (r *Repo) Maintain(ctx context.Context, held *lock.Lock) error {
	conf, err := r.Config(ctx)
	if err != nil || conf.Off("gc.auto") || conf.Off("maintenance.auto") {
		return err
	}
	var files []string
	for _, name := range []string{"packed-refs", "HEAD", "gc.pid", "shallow", "objects/maintenance", "refs/", "logs/", "reftable/", "objects/info/", "objects/pack/"} {
		files = append(files, r.CommonDir+"/"+name)
	}
	for _, head := range r.Glob("worktrees/*/HEAD") { // of which the logs expire
		files = append(files, head, filepath.Dir(head)+"/logs/", filepath.Dir(head)+"/reftable/")
	}
	err = r.long(ctx, held, files, "-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false", "maintenance", "run", "--auto", "--quiet")
	if err != nil {
		return fmt.Errorf("maintain the repository: %w", err)
	}
	return nil
}

// long runs a git that takes long, and may leave locks beside files if it is killed. Those that another process
// has locked now are not noted.
func (r *Repo) long(ctx context.Context, held *lock.Lock, files []string, args ...string) error {
	files = slices.DeleteFunc(files, func(file string) bool { return isFile(file + ".lock") })
	return r.Locking(ctx, held, lock.Note{Words: files, Long: true}, func(r *Repo) error {
		_, err := r.Output(ctx, nil, args...)
		return err
	})
}
