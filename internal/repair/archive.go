package repair

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
)

// archive reads the list of what is archived, and restores its ref if that is
// damaged or gone. Git may not have collected the list yet; among older ones,
// the commit that keeps it tells the right one.
func (r *repair) archive(ctx context.Context) error {
	refs, err := r.Repo.Refs(ctx, ledger.ArchiveRef, ledger.ArchiveKeepRef)
	if err != nil {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	tip, err := ledger.ArchiveTip(refs)
	if err != nil {
		if tip, r.unread = r.lostIndex(ctx, objects, refs[ledger.ArchiveKeepRef]); r.unread != nil {
			return nil // searched again when the objects are mended
		}
		if err := r.indexRef(ctx, refs, tip); err != nil {
			return err
		}
	}
	r.index = tip
	r.readIndex(objects)
	return nil
}

// readIndex reads as much as it can of what is archived.
func (r *repair) readIndex(objects *git.Objects) {
	x, err := ledger.OpenArchive(objects, r.index)
	if r.unread = err; err != nil {
		return
	}
	for e, err := range x.All() {
		if err != nil {
			r.unread = err
		} else if !e.Gone() {
			r.archived[e.ID] = e
		}
	}
}

// lostIndex finds the list that the commit keep keeps among all objects. It
// returns zero if there is none, or several while keep is unknown.
func (r *repair) lostIndex(ctx context.Context, objects *git.Objects, keep object.Hash) (object.Hash, error) {
	out, err := r.Repo.Output(ctx, nil, "cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch-check=%(objecttype) %(objectname) %(objectsize)")
	if err != nil {
		return object.Hash{}, err
	}
	size := strconv.Itoa(len(ledger.ArchiveCommit(objects.Format().EmptyTree())))
	var found []object.Hash
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "commit" || words[2] != size {
			continue
		}
		hash := object.NewHash(words[1])
		tree, err := objects.TreeOf(hash)
		if err != nil || objects.Format().Object(plumbing.CommitObject, ledger.ArchiveCommit(tree)) != hash {
			continue
		}
		x, err := ledger.OpenArchive(objects, hash)
		if err != nil {
			continue
		}
		stem, kept, err := stem(objects, x)
		if err == nil && (keep.IsZero() || stem == keep || kept == keep) {
			found = append(found, hash)
		}
	}
	if len(found) != 1 {
		return object.Hash{}, nil
	}
	return found[0], nil
}

// stem returns the commits that keep what an index lists: a clone's, and a
// remote's, which a mirror also has.
func stem(objects *git.Objects, x *ledger.Archive) (stem, keep object.Hash, err error) {
	if keep, err = x.Keep(); err == nil {
		stem, err = ledger.ArchiveStem(objects, keep)
	}
	return stem, keep, err
}

// indexRef reports that the archive's list is lost, and sets its ref to tip.
func (r *repair) indexRef(ctx context.Context, refs map[string]object.Hash, tip object.Hash) error {
	f := Finding{Lost: true, What: ledger.ArchiveRef + " is gone, and so is what it said of what is archived"}
	_, broken := refs[ledger.ArchiveRef]
	if broken {
		f.What = fmt.Sprintf("the file of %s holds no hash", ledger.ArchiveRef)
	}
	if !tip.IsZero() {
		f.Mended = fmt.Sprintf("it gets back %s, the list of what is kept", tip)
	}
	r.say(f)
	if r.dry || tip.IsZero() {
		return nil
	}
	return r.moveArchive(ctx, ledger.ArchiveRef, broken, tip, object.Hash{})
}

// moveArchive moves a ref of the archive, after putting away a broken file.
func (r *repair) moveArchive(ctx context.Context, ref string, broken bool, to, from object.Hash) error {
	held, err := r.Store.LockArchive(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	if broken {
		if err := r.aside(filepath.Join(r.Repo.RefsDir(), filepath.FromSlash(ref))); err != nil {
			return err
		}
		now, err := r.Repo.Refs(ctx, ref) // an older value may be packed
		if err != nil {
			return err
		}
		from = now[ref]
	}
	return r.Repo.UpdateRefs(ctx, "agent: repair", []git.Update{{Ref: ref, New: to, Old: from}})
}

// kept makes the ref that keeps what is archived agree with the list.
func (r *repair) kept(ctx context.Context) error {
	if r.unread != nil { // the lost part may have been mended
		if err := r.archive(ctx); err != nil {
			return err
		}
		if r.unread != nil && !git.Lost(r.unread) {
			return r.unread
		}
	}
	if r.index.IsZero() {
		return nil
	}
	refs, err := r.Repo.Refs(ctx, ledger.ArchiveKeepRef)
	if err != nil {
		return err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	x, err := ledger.OpenArchive(objects, r.index)
	if err != nil {
		return nil // reported already
	}
	stem, keep, err := stem(objects, x)
	if err != nil && !git.Lost(err) {
		return err
	}
	now, there := refs[ledger.ArchiveKeepRef]
	if err != nil || now == stem || now == keep {
		return nil
	}
	f := Finding{What: "the missions in the archive are not kept as its list says: git may collect them", Mended: ledger.ArchiveKeepRef + " is made again from the list"}
	missing := 0
	for _, e := range r.archived {
		switch err := objects.Has(e.Ledger); {
		case errors.Is(err, plumbing.ErrObjectNotFound):
			missing++
		case err != nil:
			return err
		}
	}
	if missing > 0 {
		f = Finding{What: fmt.Sprintf("%s; and %d of them are not here, so %s can't be made again", f.What, missing, ledger.ArchiveKeepRef)}
	}
	r.say(f)
	if r.dry || missing > 0 {
		return nil
	}
	if err := objects.Flush(); err != nil {
		return err
	}
	return r.moveArchive(ctx, ledger.ArchiveKeepRef, there && now.IsZero(), stem, now)
}

// archivedTips returns the tips of archived missions that are or were here. A
// clone may have only the list of others.
func (r *repair) archivedTips(ctx context.Context) (tips []object.Hash, err error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	for id, e := range r.archived {
		for _, tip := range []object.Hash{e.Ledger, e.Notes, e.Branch} {
			if tip.IsZero() {
				continue
			}
			err := objects.Has(tip)
			if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
				return nil, err
			}
			if err == nil || r.Trust.Known(id) {
				tips = append(tips, tip)
			}
		}
	}
	return tips, nil
}
