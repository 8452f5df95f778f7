package repair

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

func (r *repair) landings(ctx context.Context) error {
	counts, err := fetcher.DropLanded(ctx, r.Workspace, r.dry)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		r.say(Finding{
			What:   fmt.Sprintf("what a killed fetch from %s left: refs or an archive, %d", name, counts[name]),
			Mended: "they are removed",
		})
	}
	return nil
}

// refs puts away files of our refs that git can't read. A ledger gets back the
// newest commit that this clone wrote; a remote may have more.
func (r *repair) refs(ctx context.Context) error {
	refs, err := r.Repo.Refs(ctx, "refs/agent/missions/", "refs/notes/agent/", r.Branch(""))
	if err != nil {
		return err
	}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		id, err := record.ParseID(ref[strings.LastIndexByte(ref, '/')+1:])
		if err != nil || !refs[ref].IsZero() {
			continue
		}
		if err := r.brokenRef(ctx, id, ref, filepath.Join(r.Repo.RefsDir(), filepath.FromSlash(ref))); err != nil {
			return err
		}
	}
	return nil
}

func (r *repair) brokenRef(ctx context.Context, id record.ID, ref, path string) error {
	f := Finding{Lost: true, What: fmt.Sprintf("the file of %s holds no hash", ref)}
	restore := object.Hash{}
	switch ref {
	case id.Ref():
		var err error
		if restore, err = r.lastWritten(ctx, id); err != nil {
			return err
		}
		f.Hint = "git agent-turn fetch --mission " + string(id)
		if !restore.IsZero() {
			f.Hint, f.Mended = "", fmt.Sprintf("it gets back %s, the newest commit of it that this clone wrote", restore)
		}
	case id.NotesRef():
		f.Mended = "it is put away, and the notes are written anew from the ledger"
	default: // reported where branches are looked at
		f.Mended = "it is put away"
	}
	r.say(f)
	if r.dry {
		return nil
	}
	held, err := r.Store.LockMission(ctx, id)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := r.aside(path); err != nil || restore.IsZero() {
		return err
	}
	now, err := r.Repo.Refs(ctx, ref) // an older value may be packed
	if err != nil {
		return err
	}
	return r.Repo.UpdateRefs(ctx, "agent: repair", []git.Update{{Ref: ref, New: restore, Old: now[ref]}})
}

// lastWritten returns a mission's newest commit written by this clone, or zero.
func (r *repair) lastWritten(ctx context.Context, id record.ID) (object.Hash, error) {
	last, err := r.Trust.Last(id)
	if err != nil {
		return object.Hash{}, err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	last = slices.DeleteFunc(last, func(hash object.Hash) bool {
		_, err := ledger.At(objects, id, hash)
		return err != nil
	})
	if len(last) != 1 {
		return object.Hash{}, nil
	}
	return last[0], nil
}

// branches finds branches without a ledger, to fetch it, and the reverse.
func (r *repair) branches(ctx context.Context) error {
	prefix := r.Branch("")
	refs, err := r.Repo.Refs(ctx, "refs/agent/missions/", prefix)
	if err != nil {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	for ref, tip := range refs {
		if id, ok := r.MissionOf(ref); ok && refs[id.Ref()].IsZero() && r.archived[id].Gone() {
			r.orphan(ctx, objects, id, ref, tip)
		}
	}
	for _, id := range r.Trust.Missions() { // unless the archive is unread
		if refs[id.Ref()].IsZero() && refs[r.Branch(id)].IsZero() && r.archived[id].Gone() && r.unread == nil {
			r.vanished(ctx, id)
		}
	}
	missions, err := r.missions(ctx)
	if err != nil {
		return err
	}
	for _, id := range missions {
		l, err := ledger.At(objects, id, refs[id.Ref()])
		if err != nil || l.Mission.Branch == "" || l.Mission.Finished != nil || l.Mission.Branch != r.Branch(id) {
			continue
		}
		if code := codeOf(l); refs[r.Branch(id)].IsZero() && code != "" {
			r.say(Finding{
				What: fmt.Sprintf("mission %s has no branch any more; its last turn ended in %s", id, code),
				Hint: fmt.Sprintf("git branch %s %s", r.BranchName(id), code),
			})
		}
	}
	return nil
}

// standings takes back missions that are not where this clone left them.
func (r *repair) standings(ctx context.Context) error {
	w := *r.Workspace
	w.Say = func(text, done string) { r.say(Finding{What: text, Mended: done, Lost: done == ""}) }
	refs, err := r.Repo.Refs(ctx, record.MissionRefs)
	if err != nil {
		return err
	}
	for _, id := range r.Trust.Missions() {
		if left, err := r.Trust.Left(id); err == nil && (left.At.IsZero() || left.At == refs[id.Ref()]) {
			continue
		}
		if err := r.stand(ctx, &w, id); err != nil {
			r.say(Finding{Lost: true, What: err.Error()})
		}
	}
	return nil
}

func (r *repair) stand(ctx context.Context, w *workspace.Workspace, id record.ID) error {
	if r.dry {
		_, err := w.Stand(ctx, nil, id)
		return err
	}
	held, err := r.Store.LockMission(ctx, id)
	if err != nil {
		return err
	}
	defer held.Release()
	_, err = w.Stand(ctx, held, id)
	return err
}

// keepers makes anew what keeps missions whose refs others move.
func (r *repair) keepers(ctx context.Context) error {
	if r.dry {
		return nil
	}
	return r.KeepAll(ctx, nil)
}

// vanished reports a mission whose ref was deleted or lost, not removed by us.
func (r *repair) vanished(ctx context.Context, id record.ID) {
	if last, err := r.lastWritten(ctx, id); err == nil && !last.IsZero() {
		r.say(Finding{
			What: fmt.Sprintf("the ledger of mission %s is not here; the newest commit of it that this clone wrote is %s", id, last),
			Hint: fmt.Sprintf("git update-ref %s %s", id.Ref(), last),
		})
	}
}

// orphan looks for the ledger of a branch, if the branch's trailers name it.
func (r *repair) orphan(ctx context.Context, objects *git.Objects, id record.ID, ref string, tip object.Hash) {
	name := strings.TrimPrefix(ref, "refs/heads/")
	c, err := objects.Commit(tip)
	says := err == nil && slices.ContainsFunc(ledger.ReadTrailers(c.Message), func(t record.TurnID) bool { return t.Mission == id })
	f := Finding{What: fmt.Sprintf("the branch %s is there, and the ledger of mission %s is not", name, id)}
	if last, err := r.lastWritten(ctx, id); err == nil && !last.IsZero() {
		f.What += fmt.Sprintf("; the newest commit of it that this clone wrote is %s", last)
		f.Hint = fmt.Sprintf("git update-ref %s %s", id.Ref(), last)
	}
	if !says {
		r.say(f)
		return
	}
	names, err := remote.Names(ctx, r.Repo)
	if err == nil && r.dry && len(names) > 0 {
		f.Mended = "it is fetched, if a remote has it"
		r.say(f)
		return
	}
	for _, n := range names {
		from, err := remote.Open(ctx, r.Workspace, n)
		if err != nil {
			continue
		}
		if changes, err := fetcher.Fetch(ctx, from, id); err == nil && len(changes) > 0 {
			f.Mended, f.Hint = "it is fetched from "+n, ""
			break
		}
	}
	r.say(f)
}

func (r *repair) named(ctx context.Context) error {
	if err := r.worktrees(ctx); err != nil {
		return err
	}
	locks := r.Repo.Glob("*.lock")
	for _, pattern := range []string{"*.lock", "reftable/*.lock", "worktrees/*/reftable/*.lock"} {
		locks = append(locks, r.Repo.GlobRefs(pattern)...)
	}
	slices.Sort(locks)
	for _, path := range slices.Compact(locks) {
		r.lock(path)
	}
	return filepath.WalkDir(filepath.Join(r.Repo.RefsDir(), "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			r.lock(path)
		}
		return nil // what is gone again is no problem
	})
}

// lock reports a lock file that is older than any git needs.
func (r *repair) lock(path string) {
	info, err := os.Lstat(path)
	if err != nil || r.at.Sub(info.ModTime()) < oldLock {
		return
	}
	r.say(Finding{What: fmt.Sprintf("%s is %s old: unless a git is at work, one that was killed has left it; remove it", path, r.at.Sub(info.ModTime()).Round(time.Minute))})
}
