package pusher

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// ErrRejected reports that the remote was reached but rejected the push.
var ErrRejected = remote.ErrRejected

// A Pushed is the result of pushing one mission.
type Pushed struct {
	Mission record.ID
	As      record.ID // its name at the remote, another one if the mission diverged there
	Sent    bool      // false if the remote already had everything
	// Branch is why the branch was rejected although ledger and notes went.
	Branch error
	// Held reports that it waits for a person to decide about a purge, see
	// [purge.Held], and was not sent.
	Held bool

	sent   remote.Tips // what the remote has now
	looked bool        // whether the remote has another map of purges
}

// maxDiverged bounds the diverged chains that a push tries names for.
const maxDiverged = 16

// Push sends a mission, within the remote's level of consent: ledger and notes
// together, then its branch, whose rejection does not affect them. If the
// mission has diverged there, ours goes under its chain's name. Only notes
// change here: the remote's are merged into ours. Before, objects of LFS that
// its commits name go where [remote.Remote.LFS] says. If the remote has another
// map of purges, that is applied first, and nothing of what was purged is sent.
//
// The error wraps [remote.ErrNoConsent] or [ErrRejected], or is git's own if
// the remote was not reached.
func Push(ctx context.Context, r *remote.Remote, id record.ID) (*Pushed, error) {
	if r.Level == "" {
		return nil, fmt.Errorf("push to %s: %w", r, remote.ErrNoConsent)
	}
	return besides(ctx, r, ofMissions(r, []record.ID{id}), func() (*Pushed, error) { return pushOne(ctx, r, id) })
}

func pushOne(ctx context.Context, r *remote.Remote, id record.ID) (*Pushed, error) {
	held, err := r.LockPush(ctx, "")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	p, err := push(ctx, r, id)
	if err == nil && !p.Sent && !p.Held && !p.sent.Ledger.IsZero() && r.Level == remote.All { // it had all
		var there map[string]object.Hash
		if there, err = r.Refs(ctx, r.Source); err == nil && r.ByMission(there)[p.As].Ledger.IsZero() {
			err = warnHidden(ctx, r)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("push mission %s to %s: %w", id, r, err)
	}
	return p, nil
}

// warnHidden tells that a remote has what it does not list.
func warnHidden(ctx context.Context, r *remote.Remote) error {
	return r.WarnOf(ctx, fmt.Sprintf("%s has missions that it does not list, so nobody can fetch them; git agent-turn doctor --remote %s says more", r, r.Name))
}

// PushToEach pushes a mission that was just made, as the machine may vanish. It
// yields why it is not, or not all of it, at some of the remotes.
func PushToEach(ctx context.Context, remotes []*remote.Remote, id record.ID) iter.Seq[error] {
	return func(report func(error) bool) {
		for _, r := range remotes {
			p, err := Push(ctx, r, id)
			if err == nil {
				err = p.Branch
			}
			if err != nil && !report(err) {
				return
			}
		}
	}
}

func push(ctx context.Context, r *remote.Remote, id record.ID) (*Pushed, error) {
	p := &Pushed{Mission: id, As: r.Learned().Name(id), looked: r.Level != remote.All}
	if unclean(r) {
		if err := p.look(ctx, r); err != nil {
			return nil, err
		}
	}
	for range maxDiverged {
		refs, err := r.Local(ctx, id)
		if err != nil {
			return nil, err
		}
		ours := r.ByMission(refs)[id]
		if ours.Zero() {
			return nil, git.ErrNotFound
		}
		held, err := waiting(ctx, r, map[record.ID]object.Hash{id: ours.Ledger})
		if p.Held = held[id]; err != nil || p.Held {
			p.sent = ours
			return p, err
		}
		done, err := offer(ctx, r, p, ours)
		if err != nil {
			return nil, err
		}
		if done {
			return p, r.LearnName(ctx, id, p.As)
		}
	}
	return nil, fmt.Errorf("it has more than %d sides there", maxDiverged)
}

// look applies others' purges and replaces what the remote has of them.
func (p *Pushed) look(ctx context.Context, r *remote.Remote) error {
	p.looked = true
	_, err := clean(ctx, r, p.Mission)
	return err
}

// waiting returns those of some missions, given with the tips of their ledgers,
// that are held, or have commits of one that is, such as a fork.
func waiting(ctx context.Context, r *remote.Remote, tips map[record.ID]object.Hash) (map[record.ID]bool, error) {
	held, err := purge.AllHeld(r.Workspace.Store)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	known, err := r.Repo.Refs(ctx, purgemap.Ref)
	if err != nil {
		return nil, err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	m, err := purgemap.Read(objects, known[purgemap.Ref])
	if err != nil {
		return nil, err
	}
	tips = maps.Clone(tips)
	maps.DeleteFunc(tips, func(_ record.ID, tip object.Hash) bool { return tip.IsZero() })
	events := make(map[object.Hash]*ledger.CommitEvent) // in no order: of two forks one may come after what both have
	for e, err := range ledger.Links(ctx, r.Repo, slices.Collect(maps.Values(tips))...) {
		if err != nil {
			return nil, err
		}
		events[e.Hash] = e
	}
	purged := make(map[object.Hash]bool) // an event, or one before it
	all := make(map[record.ID]bool)
	for id, tip := range tips {
		var newer []object.Hash
		is, known := false, false
		for e := events[tip]; e != nil && !is && !known; e = events[e.Before] {
			if is, known = purged[e.Hash]; !known {
				newer = append(newer, e.Hash)
				is = m.Lists(e.Hash, r.Workspace.Trust.Keys().Trusts)
			}
		}
		for _, h := range newer {
			purged[h] = is
		}
		all[id] = is
	}
	for _, h := range held {
		all[h.Mission] = true
	}
	return all, nil
}

// offer sends ours under the name p.As, or sets p.As to the next name to try.
func offer(ctx context.Context, r *remote.Remote, p *Pushed, ours remote.Tips) (done bool, err error) {
	if !p.looked && !r.Learned().Atomic() { // git would send the others though the map is not what it has to be
		if err := p.look(ctx, r); err != nil {
			return false, err
		}
		return false, nil
	}
	if r.Level == remote.All && !ours.Ledger.IsZero() {
		refused := sendRecord(ctx, r, p, ours)
		if errors.Is(refused, errUnguarded) {
			return false, p.look(ctx, r)
		}
		if errors.Is(refused, ErrRejected) {
			return yield(ctx, r, p, ours, refused)
		}
		if refused != nil {
			return false, refused
		}
	}
	p.Branch = sendBranch(ctx, r, p, ours)
	if r.Level == remote.Code && p.Branch != nil {
		return false, p.Branch
	}
	p.sent = ours
	return true, nil
}

func sendRecord(ctx context.Context, r *remote.Remote, p *Pushed, ours remote.Tips) error {
	specs := []string{spec(r, ours.Ledger, p.As.Ref())}
	if !ours.Notes.IsZero() {
		specs = append(specs, spec(r, ours.Notes, p.As.NotesRef()))
	}
	var guards []string
	if !p.looked {
		var err error
		var more []string
		if guards, more, err = guard(ctx, r); err != nil {
			return err
		}
		specs = append(specs, more...)
	}
	sent, err := send(ctx, r, specs, false, guards...)
	p.Sent = p.Sent || sent.any
	return err
}

func sendBranch(ctx context.Context, r *remote.Remote, p *Pushed, ours remote.Tips) error {
	if ours.Branch.IsZero() {
		return nil
	}
	sent, err := send(ctx, r, []string{spec(r, ours.Branch, r.Workspace.Branch(p.As))}, true)
	p.Sent = p.Sent || sent.any
	return err
}

func spec(r *remote.Remote, hash object.Hash, ref string) string {
	return r.Workspace.Repo.Format().Text(hash) + ":" + ref
}

// yield finds out why the remote rejected the record. It returns true if the
// remote has it all, else it prepares the next attempt: another name or more
// notes. If it can't, the error is refused.
func yield(ctx context.Context, r *remote.Remote, p *Pushed, ours remote.Tips, refused error) (done bool, err error) {
	guarded := !p.looked
	p.looked = true
	there, err := r.Refs(ctx, r.Source)
	if err != nil {
		return false, errors.Join(refused, err)
	}
	none, err := noMap(ctx, r, there)
	if err == nil && none && r.ByMission(there)[p.As].Zero() { // nothing there is in the way
		return false, refused
	}
	if err == nil && !none {
		var cleaned bool
		if cleaned, err = clean(ctx, r, p.Mission); err == nil && cleaned {
			return false, nil
		}
		there, err = r.Refs(ctx, r.Source)
	}
	if err != nil {
		return false, errors.Join(refused, err)
	}
	theirs, err := fetcher.Look(ctx, r, r.Source, p.As, there)
	if err != nil {
		return false, errors.Join(refused, err)
	}
	behind, err := r.Contains(ctx, theirs.Ledger, ours.Ledger)
	if err != nil {
		return false, err
	}
	ahead, err := r.Contains(ctx, ours.Ledger, theirs.Ledger)
	if err != nil {
		return false, err
	}
	switch {
	case !ahead && !behind:
		first, err := ledger.Diverged(ctx, r.Repo, ours.Ledger, theirs.Ledger)
		if err == nil {
			p.As = record.OfCommit(first)
		}
		return false, err
	case !ahead: // the remote has all of ours, and more
		p.Branch = sendBranch(ctx, r, p, ours)
		p.sent = ours
		return true, nil
	}
	merged, err := fetcher.MergeNotes(ctx, r, p.Mission, theirs.Notes)
	if err != nil || merged || guarded { // perhaps only the map kept it back
		return false, err
	}
	return false, refused
}

// errUnguarded reports that nothing was sent: without --atomic, which a remote
// may lack, nothing would be guarded.
var errUnguarded = errors.New("it can't be sent together with the map of purges")

// send pushes refs: records all or none, branches as accepted. An error wraps
// [ErrRejected] if one is rejected, for the second time: a killed push may live
// on at the host for a moment, moving these refs or holding their locks.
func send(ctx context.Context, r *remote.Remote, specs []string, branches bool, guards ...string) (pushReport, error) {
	rep, err := sendOnce(ctx, r, specs, branches, guards)
	if !errors.Is(err, ErrRejected) {
		return rep, err
	}
	select {
	case <-time.After(rejectedPause):
	case <-ctx.Done():
		return rep, err
	}
	again, err := sendOnce(ctx, r, specs, branches, guards)
	again.any = again.any || rep.any
	return again, err
}

// rejectedPause is git's own wait for a ref's lock (core.filesRefLockTimeout).
const rejectedPause = 100 * time.Millisecond

func sendOnce(ctx context.Context, r *remote.Remote, specs []string, branches bool, guards []string) (pushReport, error) {
	known := r.Learned()
	var extra []string
	switch {
	case branches && known.Options():
		extra = []string{"-o", "ci.skip"}
	case !branches && known.Atomic():
		extra = []string{"--atomic"}
	}
	target := append([]string{"--end-of-options", r.Target}, specs...)
	out, reached, err := r.Reach(ctx, "push", slices.Concat(extra, guards, target)...)
	rep := parseReport(out)
	if err != nil && reached && len(guards) > 0 && len(rep.rejected) == 0 && ctx.Err() == nil {
		return rep, fmt.Errorf("%w: %w", errUnguarded, err)
	}
	if err != nil && reached && len(extra) > 0 && len(rep.rejected) == 0 && ctx.Err() == nil {
		// Git refuses at once to ask for a capability that is not announced.
		out, again := r.Run(ctx, "", "push", target...)
		if rep = parseReport(out); again == nil || len(rep.rejected) > 0 {
			if err := r.LearnLacking(ctx, branches); err != nil {
				return rep, err
			}
			err = again
		}
	}
	if len(rep.rejected) > 0 {
		err = fmt.Errorf("%w: %w", ErrRejected, err)
	}
	return rep, err
}
