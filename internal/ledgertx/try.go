package ledgertx

import (
	"context"
	"path"
	"path/filepath"
	"syscall"

	"gitagent/internal/git"
)

// Try checks that Commit would work, and leaves nothing. To git the refs of the
// mission are to be the empty tree, which every repository has.
func (tx *Tx) Try(ctx context.Context) error {
	if err := tx.Repo.Probe(); err != nil {
		return err
	}
	proc, err := tx.beginRefs(ctx)
	if err != nil {
		return err
	}
	empty := tx.Repo.Format().EmptyTree()
	updates := []git.Update{{Ref: tx.ID.Ref(), New: empty}, {Ref: tx.ID.NotesRef(), New: empty}}
	if k := tx.Keeper(tx.ID); k.Together() {
		updates = append(updates, k.Updates(empty, false)...)
	}
	err = proc.Try(updates)
	if conf, _ := tx.Config(); err == nil && conf.Get("core.logallrefupdates") != "false" {
		err = tx.Repo.ProbeLog(tx.ID.NotesRef())
	}
	for _, ref := range []string{tx.ID.Ref(), tx.ID.NotesRef()} { // git leaves the directories that it makes for locks
		for dir := path.Dir(ref); dir != "refs"; dir = path.Dir(dir) {
			_ = syscall.Rmdir(filepath.Join(tx.Repo.RefsDir(), filepath.FromSlash(dir))) // if it is empty, and no file
		}
	}
	return err
}
