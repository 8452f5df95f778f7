package ledger

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// Tip returns the tip of a mission's ledger, live or archived. If there is
// none, the error wraps [git.ErrNotFound].
func Tip(ctx context.Context, repo *git.Repo, id record.ID) (object.Hash, error) {
	var before object.Hash
	for {
		refs, err := repo.Refs(ctx, id.Ref())
		if tip, ok := refs[id.Ref()]; ok || err != nil {
			return tip, err
		}
		// A mission is in the archive before its ref goes, and until the ref is
		// back. So look there second, and again if the archive has moved.
		index, err := indexOf(ctx, repo)
		if err != nil {
			return object.Hash{}, err
		}
		if index == before {
			return object.Hash{}, git.ErrNotFound
		}
		before = index
		objects := repo.Objects(ctx)
		e, err := Archived(objects, index, id)
		objects.Close()
		if err != nil || !e.Gone() {
			return e.Ledger, err
		}
	}
}

func indexOf(ctx context.Context, repo *git.Repo) (object.Hash, error) {
	refs, err := repo.Refs(ctx, ArchiveRef)
	if err != nil {
		return object.Hash{}, err
	}
	return ArchiveTip(refs)
}

// Archived returns a mission's entry in an archive's index, Gone if it has none.
func Archived(objects *git.Objects, index object.Hash, id record.ID) (ArchiveEntry, error) {
	x, err := OpenArchive(objects, index)
	if err != nil {
		return ArchiveEntry{}, err
	}
	e, ok, err := x.Find(id)
	if !ok {
		return ArchiveEntry{}, err
	}
	return e, err
}

// ListArchived returns the missions that are only archived, in order of ids,
// with an error all readable ones.
func ListArchived(ctx context.Context, repo *git.Repo) ([]ArchiveEntry, error) {
	_, archived, err := list(ctx, repo)
	return archived, err
}

// ListAll is [List] with archived missions, with an error all readable ones.
func ListAll(ctx context.Context, repo *git.Repo) (map[record.ID]object.Hash, error) {
	missions, archived, err := list(ctx, repo)
	for _, e := range archived {
		missions[e.ID] = e.Ledger
	}
	return missions, err
}

func list(ctx context.Context, repo *git.Repo) (missions map[record.ID]object.Hash, archived []ArchiveEntry, err error) {
	before, err := indexOf(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	for { // until the archive is unchanged, so that no mission is missed on its way in or out
		if missions, err = List(ctx, repo); err != nil {
			return nil, nil, err
		}
		index, err := indexOf(ctx, repo)
		if err != nil {
			return nil, nil, err
		}
		if index == before {
			break
		}
		before = index
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	x, err := OpenArchive(objects, before)
	if err != nil {
		return missions, nil, err
	}
	var unread ReadErrors
	for e, err := range x.All() {
		if err != nil {
			unread.Add(err)
			continue
		}
		if _, live := missions[e.ID]; !live && !e.Gone() {
			archived = append(archived, e)
		}
	}
	return missions, archived, unread.Err()
}

// ArchivedByPrefix returns the archived missions of an id prefix, in order.
func ArchivedByPrefix(ctx context.Context, repo *git.Repo, digits string) ([]ArchiveEntry, error) {
	index, err := indexOf(ctx, repo)
	if err != nil {
		return nil, err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	x, err := OpenArchive(objects, index)
	if err != nil {
		return nil, err
	}
	return x.Like(digits)
}
