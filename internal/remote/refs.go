package remote

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
)

// tips are what the refs of one mission point at, zero for a missing ref.
type tips struct{ ledger, notes, branch git.Hash }

func (t tips) zero() bool { return t == tips{} }

// The namespaces of missions' refs.
const (
	ledgers = "refs/agent/missions/"
	notes   = "refs/notes/agent/"
)

func (r *Remote) branches() string { return r.w.Branch("") }

// byMission groups refs by mission, and skips all others.
func (r *Remote) byMission(refs map[string]git.Hash) map[record.ID]tips {
	all := make(map[record.ID]tips)
	for ref, hash := range refs {
		for _, namespace := range []string{ledgers, notes, r.branches()} {
			name, ok := strings.CutPrefix(ref, namespace)
			id, err := record.ParseID(name)
			if !ok || err != nil {
				continue
			}
			t := all[id]
			switch namespace {
			case ledgers:
				t.ledger = hash
			case notes:
				t.notes = hash
			default:
				t.branch = hash
			}
			all[id] = t
		}
	}
	return all
}

// local reads the refs of one mission, or of all if id is empty.
func (r *Remote) local(ctx context.Context, id record.ID) (map[string]git.Hash, error) {
	if id != "" {
		return r.repo.Refs(ctx, id.Ref(), id.NotesRef(), r.w.Branch(id))
	}
	return r.repo.Refs(ctx, ledgers, notes, r.branches())
}

func (r *Remote) missions(refs map[string]git.Hash) map[record.ID]tips {
	missions := r.byMission(refs)
	maps.DeleteFunc(missions, func(_ record.ID, t tips) bool { return t.zero() })
	return missions
}

// refs asks a source for the refs of missions, the archive and the purge map.
func (r *Remote) refs(ctx context.Context, source string) (map[string]git.Hash, error) {
	// No patterns: git would match them here, and the remote sends all anyway.
	out, err := r.repo.Output(ctx, nil, append(r.always(), "ls-remote", "--refs", "--quiet", "--end-of-options", source)...)
	if err != nil {
		return nil, err
	}
	refs := make(map[string]git.Hash)
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		hash, ref, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("list the refs of %s: unexpected line %q", r.Name, line)
		}
		if !strings.HasPrefix(ref, ledgers) && !strings.HasPrefix(ref, notes) && !strings.HasPrefix(ref, r.branches()) &&
			ref != purgemap.Ref && ref != archive.IndexRef && ref != archive.KeepRef {
			continue
		}
		if refs[ref], err = git.ParseHash(hash); err != nil {
			return nil, fmt.Errorf("list the refs of %s: %w", r.Name, err)
		}
	}
	return refs, nil
}

// contains reports whether b is zero, a, or an ancestor of a.
func (r *Remote) contains(ctx context.Context, a, b git.Hash) (bool, error) {
	switch {
	case a == b, b.IsZero():
		return true, nil
	case a.IsZero():
		return false, nil
	}
	return r.repo.IsAncestor(ctx, b, a)
}

// extends reports whether a is known here to contain all of b.
func (r *Remote) extends(ctx context.Context, objects *git.Objects, a, b git.Hash) bool {
	for _, hash := range []git.Hash{a, b} {
		if !hash.IsZero() && objects.Has(hash) != nil {
			return false
		}
	}
	has, err := r.contains(ctx, a, b)
	return err == nil && has
}
