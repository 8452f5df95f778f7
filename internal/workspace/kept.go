package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
)

// keeperOf is the number of what keeps a mission: those that share a lock share
// a keeper, so nobody else moves it.
func keeperOf(id record.ID) uint32 { return session.MissionLock(id) }

// archiveKeeper is the number of what keeps the archive.
const archiveKeeper = session.Slots

// Keeper returns what keeps a mission's ledger from git's garbage collection,
// if its ref is moved by others; for the holder of its lock.
func (w *Workspace) Keeper(id record.ID) git.Keeper { return w.Repo.Keeper(keeperOf(id)) }

// KeepAll makes all keepers anew, of what this clone has written and did not
// remove. all is a lock of who holds those of all missions and of the archive;
// nil for who holds none of a mission.
func (w *Workspace) KeepAll(ctx context.Context, all *statedir.Lock) error {
	ids := make(map[uint32][]record.ID)
	for _, id := range w.Trust.Missions() {
		ids[keeperOf(id)] = append(ids[keeperOf(id)], id)
	}
	numbers, err := w.Repo.Kept(ctx)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if _, ok := ids[n]; !ok && n != archiveKeeper {
			ids[n] = nil
		}
	}
	err = w.keep(ctx, ids, all)
	archive := all
	if archive == nil {
		held, e := w.Store.TryLockArchive()
		if e != nil || held == nil {
			return errors.Join(err, e) // who has it keeps it
		}
		defer held.Release()
		err, archive = errors.Join(err, git.DropLeft(ctx, held)), held
	}
	return errors.Join(err, w.KeepArchive(ctx, archive))
}

// GiveUpArchive is for before the archive's refs are deleted: else they would
// be taken back. held is the archive's lock.
func (w *Workspace) GiveUpArchive(ctx context.Context, held *statedir.Lock) error {
	return moveKeepers(ctx, w.Repo.Watched(nil), held, map[uint32]object.Hash{archiveKeeper: {}})
}

// KeepArchive keeps the index of the archive and, by what is before it, what
// keeps the archived missions. held is the archive's lock.
func (w *Workspace) KeepArchive(ctx context.Context, held *statedir.Lock) error {
	repo := w.Repo.Watched(nil)
	refs, err := repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	if err != nil {
		return err
	}
	index, keep := refs[ledger.ArchiveRef], refs[ledger.ArchiveKeepRef]
	objects := repo.Objects(ctx)
	defer objects.Close()
	to := object.Hash{}
	if !index.IsZero() {
		if to, err = ledger.KeepingAlso(objects, index, keep); err == nil {
			err = objects.Flush()
		}
	}
	if err != nil {
		return err
	}
	return moveKeepers(ctx, repo, held, map[uint32]object.Hash{archiveKeeper: to})
}

// moveKeepers moves keepers to commits where they are not there. held keeps our
// other processes from moving them.
func moveKeepers(ctx context.Context, repo *git.Repo, held *statedir.Lock, to map[uint32]object.Hash) error {
	var there []uint32
	var plain []string
	for n, at := range to {
		if !at.IsZero() {
			plain = append(plain, repo.Keeper(n).Plain())
		} else if there == nil {
			var err error
			if there, err = repo.Kept(ctx); err != nil {
				return err
			}
		}
	}
	refs, err := repo.Refs(ctx, plain...)
	if err != nil {
		return err
	}
	maps.DeleteFunc(to, func(n uint32, to object.Hash) bool {
		if to.IsZero() {
			return !slices.Contains(there, n)
		}
		keeper := repo.Keeper(n)
		at, pointed := keeper.At(ctx)
		return at == to && pointed && refs[keeper.Plain()] == to
	})
	if len(to) == 0 {
		return nil
	}
	return repo.MoveKeepers(ctx, held, to)
}

// standArchive takes the archive back if its refs are gone.
func (w *Workspace) standArchive(ctx context.Context) error {
	repo := w.Repo.Watched(nil)
	at, _ := repo.Keeper(archiveKeeper).At(ctx)
	if at.IsZero() {
		return nil
	}
	refs, err := repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	if err != nil || len(refs) > 1 {
		return err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	parents, err := objects.Parents(at)
	if err != nil {
		return err
	}
	var moves []git.Update
	for i, ref := range []string{ledger.ArchiveRef, ledger.ArchiveKeepRef}[:min(len(parents), 2)] {
		switch at, there := refs[ref]; {
		case !there:
			moves = append(moves, git.Update{Ref: ref, New: parents[i]})
		case at != parents[i]:
			return nil // what keeps it is to follow
		}
	}
	if len(moves) == 0 {
		return nil
	}
	held, err := w.Store.TryLockArchive()
	if err != nil || held == nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	proc, err := repo.With(git.Holding(held.File())).BeginRefs(ctx, "agent: where it was left")
	if err == nil {
		err = git.MoveRefs(ctx, repo, held, proc, moves)
	}
	if err != nil {
		return fmt.Errorf("take the archive back: %w", err)
	}
	w.Say("something other than git-agent deleted the refs of the archive", "they are there again")
	return nil
}

// GiveUp notes that a mission is about to be removed: else it would be taken
// back. Its objects are kept until [Workspace.Forget].
func (w *Workspace) GiveUp(id record.ID) error {
	return w.Trust.Leave(id, object.Hash{}, w.Repo.Format())
}

// Forget forgets who wrote a mission, and keeps it no longer.
func (w *Workspace) Forget(ctx context.Context, id record.ID) error {
	if err := w.Trust.Forget(id); err != nil {
		return err
	}
	n := keeperOf(id)
	ids := map[uint32][]record.ID{n: nil}
	for _, other := range w.Trust.Missions() {
		if keeperOf(other) == n {
			ids[n] = append(ids[n], other)
		}
	}
	return w.keep(ctx, ids, nil)
}

// KeepAlso lets what keeps a mission keep a commit of its, too, until all
// keepers are made anew.
func (w *Workspace) KeepAlso(ctx context.Context, id record.ID, commit object.Hash) error {
	held, err := w.Store.LockMission(ctx, id)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	return w.keepAlso(ctx, held, id, commit)
}

// keepAlso lets what keeps a mission keep a commit, too, if it does not: it was
// perhaps rewritten as the mission was. held is the mission's lock.
func (w *Workspace) keepAlso(ctx context.Context, held *statedir.Lock, id record.ID, commit object.Hash) error {
	repo := w.Repo.Watched(nil)
	keeper := repo.Keeper(keeperOf(id))
	at, _ := keeper.At(ctx)
	if !at.IsZero() {
		if kept, err := repo.IsAncestor(ctx, commit, at); kept || err != nil {
			return err
		}
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	to, err := ledger.KeepingAlso(objects, commit, at)
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		return err
	}
	return keeper.Move(ctx, held, to)
}

// A keeping makes keepers anew.
type keeping struct {
	*Workspace
	raw     *git.Repo
	objects *git.Objects
	live    map[string]object.Hash // ledgers' refs
	resting map[record.ID]resting
	all     *statedir.Lock // see [Workspace.KeepAll]
}

// A resting is where the archive has a mission's ledger, zero if nowhere.
type resting struct {
	at  object.Hash
	err error
}

// keep makes keepers anew, by their numbers, of missions that this clone wrote.
func (w *Workspace) keep(ctx context.Context, ids map[uint32][]record.ID, all *statedir.Lock) error {
	k := &keeping{Workspace: w, raw: w.Repo.Watched(nil), all: all}
	k.objects = k.raw.Objects(ctx)
	defer k.objects.Close()
	var err error
	if k.live, err = k.raw.Refs(ctx, missionRefs); err == nil {
		err = k.rest(ctx, slices.Concat(slices.Collect(maps.Values(ids))...))
	}
	if err != nil {
		return err
	}
	var errs []error
	if all != nil {
		errs = append(errs, k.several(ctx, all, ids))
	} else {
		for n, of := range ids {
			held, err := w.Store.LockSlot(ctx, n)
			if err != nil {
				return err
			}
			errs = append(errs, git.DropLeft(ctx, held), k.several(ctx, held, map[uint32][]record.ID{n: of}))
			held.Release()
		}
	}
	return errors.Join(errs...)
}

// rest looks up in the archive those missions that have no ref. They are in order
// of ids, as each file of its index is read once; those of a keeper are in many.
func (k *keeping) rest(ctx context.Context, ids []record.ID) error {
	index, err := archiveIndex(ctx, k.raw, k.objects)
	if err != nil {
		return err
	}
	k.resting = make(map[record.ID]resting)
	slices.Sort(ids)
	for _, id := range ids {
		if k.live[id.Ref()].IsZero() {
			e, _, err := index.Find(id)
			k.resting[id] = resting{e.Ledger, err}
		}
	}
	return nil
}

// several makes keepers anew, by their numbers. held is their missions' lock.
func (k *keeping) several(ctx context.Context, held *statedir.Lock, ids map[uint32][]record.ID) error {
	var errs []error
	to := make(map[uint32]object.Hash)
	for n, of := range ids {
		at, err := k.commit(ctx, held, of)
		if err == nil {
			to[n] = at
		}
		errs = append(errs, err)
	}
	if err := k.objects.Flush(); err != nil {
		return fmt.Errorf("keep missions: %w", err)
	}
	return errors.Join(append(errs, moveKeepers(ctx, k.raw, held, to))...)
}

// commit makes one that keeps missions, and returns it, or zero if there is
// nothing to keep. held is their lock.
func (k *keeping) commit(ctx context.Context, held *statedir.Lock, ids []record.ID) (object.Hash, error) {
	var tips []object.Hash
	for _, id := range ids {
		tip, err := k.tip(ctx, held, id)
		if err != nil {
			return object.Hash{}, err // what is not where it was left needs the keeper as it is
		}
		if _, err := k.objects.TreeOf(tip); err == nil && !tip.IsZero() {
			tips = append(tips, tip)
		}
	}
	to, err := ledger.KeepingAll(k.objects, tips)
	if err != nil {
		return object.Hash{}, fmt.Errorf("keep missions: %w", err)
	}
	return to, nil
}

// tip returns what to keep of a mission, or zero.
func (k *keeping) tip(ctx context.Context, held *statedir.Lock, id record.ID) (object.Hash, error) {
	left, err := k.Trust.Left(id)
	if err != nil || left.At.IsZero() {
		return object.Hash{}, nil
	}
	now := k.live[id.Ref()]
	if now.IsZero() {
		if r := k.resting[id]; r.err != nil || r.at == left.At {
			return object.Hash{}, r.err // it is kept with the archive
		}
	}
	if now == left.At || k.all != nil {
		return left.At, nil
	}
	return k.Stand(ctx, held, id)
}

func archiveIndex(ctx context.Context, repo *git.Repo, objects *git.Objects) (*ledger.Archive, error) {
	refs, err := repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	if err != nil {
		return nil, err
	}
	tip, err := ledger.ArchiveTip(refs)
	if err != nil {
		return nil, err
	}
	return ledger.OpenArchive(objects, tip)
}
