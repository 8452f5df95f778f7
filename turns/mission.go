package turns

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// missionOf decides which mission a signal belongs to:
//
//  1. the one that the signal names;
//  2. the one whose branch HEAD is on, or will be on when the rebase under way is done;
//  3. the one that this session already records to;
//  4. the one that the environment names, if its ledger exists here;
//  5. the session's own.
func (r *Recorder) missionOf(ctx context.Context, s Signal, st *session.State) (ledger.ID, error) {
	here, err := r.Mission(ctx)
	if err != nil {
		return "", err
	}
	if id := cmp.Or(s.Mission, here, ledger.ID(st.Mission)); id != "" {
		return id, nil
	}
	if asked, err := ledger.ParseID(s.Asked); err == nil {
		refs, err := r.Repo.Refs(ctx, asked.Ref())
		if err != nil {
			return "", err
		}
		if _, ok := refs[asked.Ref()]; ok {
			return asked, nil
		}
	}
	if s.Session == "" {
		return "", errors.New("there is neither a session nor a mission to record to")
	}
	return r.ownMission(ctx, s.Session)
}

// ownMission is the passive mission of a session. Its id has 12 digits instead of 8 if another
// session's mission has the same 8.
func (r *Recorder) ownMission(ctx context.Context, name string) (ledger.ID, error) {
	short, err := ledger.OfSession(name, 8)
	if err != nil {
		return "", err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, r.Repo, objects, short)
	if errors.Is(err, git.ErrNotFound) {
		return short, nil
	}
	if err != nil || slices.Contains(l.Mission.Sessions, name) {
		return short, err
	}
	return ledger.OfSession(name, 12)
}

// headBefore is HEAD as the session's last event found it.
func headBefore(st *session.State) plumbing.Hash {
	switch {
	case st.Open != nil:
		return st.Open.Head.Hash()
	case st.Last != nil:
		return st.Last.Head.Hash()
	}
	return plumbing.ZeroHash
}
