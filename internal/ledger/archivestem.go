package ledger

import (
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// stemLength is how many commits a clone's refs have before the keeping commit.
//
// A fetch offers the host its 16 newest commits (32 in the older protocol).
// Those are the stem's, which no host has. Otherwise git offers the archive's,
// and goes on from each that the host has; a host with a bitmap, as `git gc`
// makes in bare repositories, then lists all that they reach: 2.7 s of CPU per
// fetch with 20,000 archived missions.
const stemLength = 32

// ArchiveStem stages a chain of commits on keep and returns the last; zero for
// zero. They depend only on keep and are never sent. They are a second newer,
// so that git visits them first even if the host has keep.
func ArchiveStem(objects *git.Objects, keep object.Hash) (object.Hash, error) {
	if keep.IsZero() {
		return keep, nil
	}
	later := archiver
	later.When = archiver.When.Add(time.Second)
	empty, err := objects.EmptyTree()
	for range stemLength {
		if err == nil {
			keep, err = objects.CommitTree(empty, []object.Hash{keep}, later, later, "kept here\n")
		}
	}
	return keep, err
}
