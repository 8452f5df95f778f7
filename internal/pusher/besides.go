package pusher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/outside"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// besides pushes refs after what their commits name outside of the object
// database: a host may refuse pointers of LFS whose objects it lacks. What it
// may lack is warned of, and said with a rejection.
func besides[T any](ctx context.Context, r *remote.Remote, of selection, push func() (T, error)) (T, error) {
	if !outside.UsesLFS(r.Repo, r.Config()) && !outside.UsesSubmodules(r.Repo) {
		return push()
	}
	refs, err := unseen(ctx, r, of)
	if err != nil || len(refs) == 0 {
		return push()
	}
	lacks, unsent := sendOutside(ctx, r, refs)
	done, err := push()
	if text := lacks.String(); text != "" {
		if errors.Is(err, ErrRejected) {
			return done, fmt.Errorf("%w; %s", err, text)
		}
		err = errors.Join(err, r.WarnOf(ctx, text))
	}
	if err == nil && !unsent {
		err = r.Learn(ctx, func(l *remote.Learned) {
			if l.Outside == nil {
				l.Outside = make(map[string]object.Hash)
			}
			maps.Copy(l.Outside, refs)
		})
	}
	return done, err
}

// A selection reports whether a ref here is to be pushed.
type selection func(ref string) bool

// ofMissions selects the refs with the states of missions, nil for all.
func ofMissions(r *remote.Remote, ids []record.ID) selection {
	return func(ref string) bool {
		id, ok := r.Workspace.MissionOf(ref)
		if name, ledger := strings.CutPrefix(ref, remote.LedgerRefs); ledger {
			id, ok = record.ID(name), r.Level == remote.All
		}
		return ok && (ids == nil || slices.Contains(ids, id))
	}
}

// unseen returns the selected refs whose commits were not looked at yet.
func unseen(ctx context.Context, r *remote.Remote, of selection) (map[string]object.Hash, error) {
	refs, err := r.Repo.Refs(ctx, remote.LedgerRefs, r.Branches(), ledger.ArchiveKeepRef)
	seen := r.Learned().Outside
	maps.DeleteFunc(refs, func(ref string, tip object.Hash) bool { return seen[ref] == tip || !of(ref) })
	return refs, err
}

// Lacks says in words what a remote may lack, "" for nothing.
type Lacks struct {
	Objects    string // of LFS; a host that checks them refuses what names them
	Submodules string // commits of submodules
}

func (l Lacks) String() string {
	if l.Objects != "" && l.Submodules != "" {
		return l.Objects + "; " + l.Submodules
	}
	return l.Objects + l.Submodules
}

// Outside tells what the remote may lack of what missions name outside of the
// object database, and sends nothing. The error may be a [*remote.LFSError].
func Outside(ctx context.Context, r *remote.Remote) (Lacks, error) {
	if !outside.UsesLFS(r.Repo, r.Config()) && !outside.UsesSubmodules(r.Repo) {
		return Lacks{}, nil
	}
	refs, err := unseen(ctx, r, ofMissions(r, nil))
	if err != nil || len(refs) == 0 {
		return Lacks{}, err
	}
	here, lacks, err := lacking(ctx, r, refs)
	if err == nil && len(here) > 0 {
		_, err = r.LFS(ctx)
	}
	return lacks, err
}

// sendOutside sends the objects of LFS that are here and may go to the remote,
// and tells what it may lack then. With unsent it is to be tried again.
func sendOutside(ctx context.Context, r *remote.Remote, refs map[string]object.Hash) (lacks Lacks, unsent bool) {
	here, lacks, err := lacking(ctx, r, refs)
	if err == nil && len(here) > 0 {
		var urls []string
		urls, err = r.LFS(ctx)
		for _, to := range urls {
			err = errors.Join(err, r.SendLFS(ctx, to, here))
		}
	}
	if err != nil {
		lacks.Objects = strings.TrimPrefix(lacks.Objects+"; it may lack objects of LFS: "+err.Error(), "; ")
	}
	return lacks, err != nil
}

// lacking returns the objects of LFS that commits add and that are here, and
// tells of what else they add.
func lacking(ctx context.Context, r *remote.Remote, refs map[string]object.Hash) (here []string, lacks Lacks, err error) {
	commits := outside.Commits{Tips: slices.Collect(maps.Values(refs)), Known: slices.Collect(maps.Values(r.Learned().Outside))}
	if r.Source == r.Name { // else its refs here tell of another place
		commits.Remote = r.Name
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	added, err := outside.In(ctx, r.Repo, objects, commits)
	if err != nil {
		return nil, lacks, err
	}
	var missing, modules []string
	for oid, path := range added.Objects {
		if oid.Here(r.Repo, r.Config()) {
			here = append(here, string(oid))
		} else {
			missing = append(missing, fmt.Sprintf("%q (%.12s)", path, oid))
		}
	}
	for commit, path := range added.Submodules {
		if outside.Unpushed(ctx, r.Repo, path, commit) != "" {
			modules = append(modules, fmt.Sprintf("%q at %.12s", path, commit))
		}
	}
	if len(missing) > 0 {
		lacks.Objects = "objects of LFS are not here, and it may lack them: " + some(missing)
	}
	if len(modules) > 0 {
		lacks.Submodules = "no remote of a submodule has its commit: " + some(modules)
	}
	return here, lacks, nil
}

// maxNamed bounds what is named of many.
const maxNamed = 10

func some(names []string) string {
	slices.Sort(names)
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
