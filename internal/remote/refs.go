package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
)

// Tips is what the refs of one mission point at, zero for a missing ref.
type Tips struct{ Ledger, Notes, Branch object.Hash }

// Zero reports whether there is no ref.
func (t Tips) Zero() bool { return t == Tips{} }

// The namespaces of missions' refs.
const (
	LedgerRefs = "refs/agent/missions/"
	NoteRefs   = "refs/notes/agent/"
)

// Branches returns the namespace of missions' branches.
func (r *Remote) Branches() string { return r.Workspace.Branch("") }

// ByMission groups refs by mission, and skips all others.
func (r *Remote) ByMission(refs map[string]object.Hash) map[record.ID]Tips {
	all := make(map[record.ID]Tips)
	for ref, hash := range refs {
		for _, namespace := range []string{LedgerRefs, NoteRefs, r.Branches()} {
			name, ok := strings.CutPrefix(ref, namespace)
			id, err := record.ParseID(name)
			if !ok || err != nil {
				continue
			}
			t := all[id]
			switch namespace {
			case LedgerRefs:
				t.Ledger = hash
			case NoteRefs:
				t.Notes = hash
			default:
				t.Branch = hash
			}
			all[id] = t
		}
	}
	return all
}

// Local reads the refs of one mission, or of all if id is empty.
func (r *Remote) Local(ctx context.Context, id record.ID) (map[string]object.Hash, error) {
	if id != "" {
		return r.Repo.Refs(ctx, id.Ref(), id.NotesRef(), r.Workspace.Branch(id))
	}
	return r.Repo.Refs(ctx, LedgerRefs, NoteRefs, r.Branches())
}

// Missions is [Remote.ByMission] without those that have no ref left.
func (r *Remote) Missions(refs map[string]object.Hash) map[record.ID]Tips {
	missions := r.ByMission(refs)
	maps.DeleteFunc(missions, func(_ record.ID, t Tips) bool { return t.Zero() })
	return missions
}

// Refs asks a source for the refs of missions, the archive and the purge map,
// and for those in the way of these, see [Remote.InWay].
func (r *Remote) Refs(ctx context.Context, source string) (map[string]object.Hash, error) {
	return r.list(ctx, source, func(ref string) bool {
		return strings.HasPrefix(ref, LedgerRefs) || strings.HasPrefix(ref, NoteRefs) || strings.HasPrefix(ref, r.Branches()) ||
			slices.Contains(Alone, ref) || git.InWay(map[string]object.Hash{ref: {}}, ours...) != nil
	})
}

// Alone are our refs that have none below them.
var Alone = []string{purgemap.Ref, ledger.ArchiveRef, ledger.ArchiveKeepRef}

// ours stand for all of our refs.
var ours = append([]string{LedgerRefs + "<mission>", NoteRefs + "<mission>"}, Alone...)

// InWay returns a [*git.InWayError] about the first of some refs, or of all of
// ours without any, that those of the remote keep from being made there. It
// would refuse all that is pushed together with that ref.
func (r *Remote) InWay(there map[string]object.Hash, names ...string) error {
	if len(names) == 0 {
		names = ours
	}
	err := git.InWay(there, names...)
	if e := (*git.InWayError)(nil); errors.As(err, &e) {
		e.Remote = r.Name
	}
	return err
}

// Keepers asks a source for the keepers that a mirror push of the user's has
// brought there: they keep what is to go.
func (r *Remote) Keepers(ctx context.Context, source string) (map[string]object.Hash, error) {
	return r.list(ctx, source, func(ref string) bool { return strings.HasPrefix(ref, git.Keepers) })
}

func (r *Remote) list(ctx context.Context, source string, wanted func(ref string) bool) (map[string]object.Hash, error) {
	// No patterns: git would match them here, and the remote sends all anyway.
	out, err := r.Repo.Output(ctx, nil, append(r.Options(), "ls-remote", "--refs", "--quiet", "--end-of-options", source)...)
	if err != nil {
		return nil, err
	}
	refs := make(map[string]object.Hash)
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		hash, ref, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("list the refs of %s: unexpected line %q", r, line)
		}
		if !wanted(ref) {
			continue
		}
		if refs[ref], err = object.ParseHash(hash); err != nil {
			return nil, fmt.Errorf("list the refs of %s: %w", r, err)
		}
	}
	return refs, nil
}

// Contains reports whether b is zero, a, or an ancestor of a.
func (r *Remote) Contains(ctx context.Context, a, b object.Hash) (bool, error) {
	switch {
	case a == b, b.IsZero():
		return true, nil
	case a.IsZero():
		return false, nil
	}
	return r.Repo.IsAncestor(ctx, b, a)
}

// Extends reports whether a is known here to contain all of b.
func (r *Remote) Extends(ctx context.Context, objects *git.Objects, a, b object.Hash) bool {
	for _, hash := range []object.Hash{a, b} {
		if !hash.IsZero() && objects.Has(hash) != nil {
			return false
		}
	}
	has, err := r.Contains(ctx, a, b)
	return err == nil && has
}
