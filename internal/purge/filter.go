package purge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A Filtered is what became of missions whose commits `git filter-repo` or `git
// filter-branch` has rewritten.
type Filtered struct {
	Followed []record.ID       // they are this clone's again
	Back     []record.ID       // nothing was left of their ledgers, and these are as before
	Unknown  []record.ID       // this clone has not recorded them: nothing says any more who wrote them
	Lost     map[record.ID]int // nothing is left of their ledgers; the number of the last turn, 0 if not known

	// Turns have no readable record any more, in missions that were followed.
	Turns []record.TurnID
}

// Mended says to a person what was mended, and Missing what could not be; nil
// has nothing to say.
func (f *Filtered) Mended() (lines []string) {
	if f == nil {
		return nil
	}
	if len(f.Followed) > 0 {
		lines = append(lines, "history was filtered: missions "+few(f.Followed)+" name the new commits now, and remotes have the old ones: git help agent-turn-doctor")
	}
	if len(f.Back) > 0 {
		lines = append(lines, "history was filtered: nothing was left of missions "+few(f.Back)+", which are as before now")
	}
	return lines
}

// Missing is described at Mended.
func (f *Filtered) Missing() (lines []string) {
	if f == nil {
		return nil
	}
	if len(f.Unknown) > 0 {
		lines = append(lines, "history was filtered: missions "+few(f.Unknown)+" were not recorded here, and nothing says any more who wrote them")
	}
	if len(f.Turns) > 0 {
		lines = append(lines, "history was filtered: nothing is left of the records of turns "+few(f.Turns))
	}
	for _, id := range slices.Sorted(maps.Keys(f.Lost)) {
		turns := "turns"
		if n := f.Lost[id]; n > 0 {
			turns = fmt.Sprintf("turns, %d,", n)
		}
		lines = append(lines, fmt.Sprintf("history was filtered: nothing is left of mission %s and its %s but what %s leads to; if a remote has it: git agent-turn fetch --mission %s", id, turns, remains+string(id), id))
	}
	return lines
}

// few lists the first of some, and how many more there are.
func few[T any](all []T) string {
	var list []string
	for _, one := range all[:min(len(all), 5)] {
		list = append(list, fmt.Sprint(one))
	}
	if more := len(all) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// remains is the prefix of refs to what a filter has left of ledgers that can't
// be read any more: states, as they were kept.
const remains = "refs/agent/filtered/"

// FollowFilter makes missions ours again whose commits git filter-repo or git
// filter-branch has rewritten. Their records get the names of the new commits
// and the sizes of what is there, their events are signed, and all that the
// filter has taken out stays out. Other missions, and the user's branches, stay
// as they are. It can be repeated at any time, which completes one that was
// killed. The caller holds no lock.
func FollowFilter(ctx context.Context, w *workspace.Workspace) (*Filtered, error) {
	if _, err := w.Store.Dir().Lstat("."); err != nil {
		return nil, nil // nothing was ever recorded here
	}
	held, err := hold(ctx, w)
	if err != nil {
		return nil, err
	}
	defer held.release()
	seen := filterSeen(w.Repo)
	told := seen != "" && !FilterPending(w)
	var done *Filtered
	err = git.Retry(git.ErrConflict, func() error {
		done, err = followFilter(ctx, w, held, told)
		return err
	})
	if err == nil && seen != "" {
		err = replaceFile(w.Store.Dir(), filterFile, []byte(seen))
	}
	if err != nil {
		return nil, fmt.Errorf("follow what was filtered: %w", err)
	}
	return done, nil
}

// A filter follows what another program has made of commits.
type filter struct {
	*Plan
	told    bool // the person knows which missions are gone
	done    Filtered
	came    map[object.Hash][]object.Hash // what a new commit was before
	vouched map[record.ID]bool            // of a mission's [purgerewrite.Chain]: this clone wrote it; else it was accepted
}

func followFilter(ctx context.Context, w *workspace.Workspace, held *holder, told bool) (*Filtered, error) {
	f := &filter{
		told: told, Plan: &Plan{Purge: &Purge{Workspace: w}, objects: w.Repo.Objects(ctx)},
		done: Filtered{Lost: make(map[record.ID]int)},
		came: make(map[object.Hash][]object.Hash), vouched: make(map[record.ID]bool),
	}
	defer f.Close()
	var err error
	if f.refs, err = f.Repo.Watched(nil).OwnRefs(ctx); err != nil {
		return nil, err
	}
	if f.Known, err = f.newCommits(); err != nil || len(f.Known) == 0 {
		return nil, err
	}
	for old, to := range f.Known {
		if !to.IsZero() {
			f.came[to] = append(f.came[to], old)
		}
	}
	err = f.plan(ctx)
	if err == nil {
		err = f.objects.Flush()
	}
	if err == nil {
		err = f.write(ctx, held)
	}
	return &f.done, err
}

func (f *filter) plan(ctx context.Context) error {
	if err := f.readArchive(); err != nil {
		return err
	}
	if err := f.newEntries(); err != nil {
		return err
	}
	if err := f.takeBack(ctx); err != nil {
		return err
	}
	for _, id := range slices.Concat(missions(f.refs), slices.Sorted(maps.Keys(f.archived))) {
		if err := f.choose(ctx, id); err != nil {
			return fmt.Errorf("mission %s: %w", id, err)
		}
	}
	// What a mission and a side of it both have is signed for the mission.
	slices.SortStableFunc(f.chains, func(a, b purgerewrite.Chain) int { return len(a.ID) - len(b.ID) })
	f.rewrite = purgerewrite.New(f.Repo, f.objects, purgerewrite.Target{}, f.Trust.Keys().Own, f.Known)
	f.rewrite.Filtered = true
	if err := f.rewrite.Ledgers(ctx, f.chains); err != nil {
		return err
	}
	for _, c := range f.chains {
		if err := f.follow(ctx, c); err != nil {
			return err
		}
	}
	if !f.told {
		deleted, err := f.deleted()
		if err != nil {
			return err
		}
		for _, id := range deleted {
			if err := f.lost(ctx, id); err != nil {
				return err
			}
		}
	}
	kept, err := f.archiveMoves(ctx)
	if err != nil {
		return err
	}
	f.updates = append(f.updates, kept...)
	for ref, tip := range f.refs { // a remote's archive is as it was, and is fetched again
		if strings.HasPrefix(ref, ledger.SeenArchives) && len(f.came[tip]) > 0 {
			f.updates = append(f.updates, git.Update{Ref: ref, Old: tip})
		}
	}
	slices.SortFunc(f.updates, func(a, b git.Update) int { return strings.Compare(a.Ref, b.Ref) })
	return nil
}

// takeBack takes missions whose refs others moved back or deleted before the
// filter to what it made of where they were left: what keeps that was filtered.
func (f *filter) takeBack(ctx context.Context) error {
	var moves []git.Update
	for _, id := range f.Trust.Missions() {
		left, err := f.Trust.Left(id)
		if err != nil {
			return err
		}
		to, now := f.Known[left.At], f.refs[id.Ref()]
		if _, archived := f.archived[id]; archived || to.IsZero() || to == now || f.objects.Has(to) != nil {
			continue
		}
		if !now.IsZero() {
			if before, err := f.Repo.IsAncestor(ctx, now, to); err != nil || !before {
				continue // the filter has changed it in another way
			}
		}
		moves = append(moves, git.Update{Ref: id.Ref(), New: to, Old: now})
		f.refs[id.Ref()] = to
	}
	if len(moves) == 0 {
		return nil
	}
	return f.Repo.Watched(nil).UpdateRefs(ctx, "agent: where it was left", moves)
}

// newEntries lets the archive name the new commits: no filter follows its index.
func (f *filter) newEntries() error {
	changes := make(map[record.ID]ledger.ArchiveEntry)
	for e, err := range f.archive.All() {
		if err != nil {
			return err
		}
		is := e
		for _, h := range []*object.Hash{&is.Ledger, &is.Notes, &is.Branch} {
			if to := f.Known[*h]; !to.IsZero() && f.objects.Has(to) == nil {
				*h = to
			}
		}
		if is != e {
			changes[e.ID] = is
		}
	}
	if len(changes) == 0 {
		return nil
	}
	index, err := f.archive.With(changes)
	if err != nil {
		return err
	}
	f.archive = index
	return f.readEntries()
}

// choose adds a mission to those that are followed if a filter has rewritten
// its ledger.
func (f *filter) choose(ctx context.Context, id record.ID) error {
	vouched, err := f.Trust.Vouched(id)
	if err != nil {
		return err
	}
	c := purgerewrite.Chain{ID: id, Tip: f.tip(id)}
	filtered := false
	var has []object.Hash
	for e, err := range ledger.Events(ctx, f.Repo, f.objects, c.Tip, math.MaxInt) {
		if err != nil {
			return ctx.Err() // a repair says so
		}
		has = append(append(has, e.Hash), e.Keeps...)
		old := f.came[e.Hash]
		filtered = filtered || len(old) > 0
		for _, h := range append(old, e.Hash) {
			if own, accepted := vouched(h); c.Usable.IsZero() && (own || accepted) {
				c.Usable, f.vouched[id] = e.Hash, own
			}
		}
	}
	if filtered {
		f.chains = append(f.chains, c)
		for _, h := range has { // an event that is signed again may be what it was before the filter
			delete(f.Known, h)
		}
	}
	return nil
}

// follow moves a mission to its new ledger and notes.
func (f *filter) follow(ctx context.Context, c purgerewrite.Chain) error {
	to := f.rewrite.Successor(c.Tip)
	l, err := ledger.At(f.objects, c.ID, to)
	if git.Lost(err) || errors.Is(err, git.ErrNotFound) {
		return f.lost(ctx, c.ID)
	}
	if err != nil {
		return err
	}
	if to == c.Tip {
		return nil // it was followed already
	}
	if c.Usable.IsZero() {
		f.done.Unknown = append(f.done.Unknown, c.ID)
	} else {
		f.done.Followed = append(f.done.Followed, c.ID)
	}
	f.unread(l)
	f.move(c.ID.Ref(), to)
	if tip := f.refs[c.ID.NotesRef()]; !tip.IsZero() {
		if to, err = f.rewrite.Notes(ctx, c.ID, tip); err != nil {
			return err
		}
		f.move(c.ID.NotesRef(), to)
	}
	return nil
}

// move adds the move of a ref; an archived mission has none.
func (f *filter) move(ref string, to object.Hash) {
	if from, ok := f.refs[ref]; ok && from != to {
		f.updates = append(f.updates, git.Update{Ref: ref, New: to, Old: from})
	}
}

// unread notes the turns of a ledger whose records are gone or can't be read.
func (f *filter) unread(l *ledger.Ledger) {
	last, err := l.LastTurn()
	if err != nil {
		return // a repair says so
	}
	for n := 1; n <= last; n++ {
		var t record.Turn
		data, err := l.Read(ledger.TurnPath("turns", n, ".json"))
		if err == nil {
			err = record.Decode(string(data), &t)
		}
		if err != nil {
			f.done.Turns = append(f.done.Turns, record.TurnID{Mission: l.ID, Turn: n})
		}
	}
}

// lost moves a mission of which a filter left no ledger back to what it was, if
// that is here, else out of the way.
func (f *filter) lost(ctx context.Context, id record.ID) error {
	before, err := f.Trust.Last(id)
	if err != nil {
		return err
	}
	for _, tip := range before {
		if _, err := ledger.At(f.objects, id, tip); err != nil {
			continue
		}
		if _, err := f.Repo.Output(ctx, nil, "rev-list", "--objects", "--quiet", tip.String(), "--"); err != nil {
			continue // a part of it is gone
		}
		f.done.Back = append(f.done.Back, id)
		f.updates = append(f.updates, git.Update{Ref: id.Ref(), New: tip, Old: f.refs[id.Ref()]})
		if notes := f.refs[original+id.NotesRef()]; !notes.IsZero() {
			f.updates = append(f.updates, git.Update{Ref: id.NotesRef(), New: notes, Old: f.refs[id.NotesRef()]})
		}
		return nil
	}
	if tip := f.refs[id.Ref()]; !tip.IsZero() {
		f.updates = append(f.updates, git.Update{Ref: id.Ref(), Old: tip}, git.Update{Ref: remains + string(id), New: tip, Old: f.refs[remains+string(id)]})
	}
	f.done.Lost[id] = 0
	for _, st := range f.Store.All() {
		if st.Last != nil && st.Last.Mission == id {
			f.done.Lost[id] = max(f.done.Lost[id], st.Last.Turn)
		}
	}
	return nil
}

// write does what is planned. The refs move last, so one that was killed before
// is planned again, with the same result.
func (f *filter) write(ctx context.Context, held *holder) error {
	for _, c := range f.chains {
		to := f.rewrite.Successor(c.Usable)
		var err error
		switch {
		case to == c.Usable:
		case f.vouched[c.ID]:
			err = f.Trust.Own(c.ID, to, object.Hash{})
		default:
			err = f.Trust.Accept(to, c.ID)
		}
		if left, e := f.Trust.Left(c.ID); err == nil && e == nil && !left.At.IsZero() {
			err = f.Trust.Leave(c.ID, f.rewrite.Successor(c.Tip), f.Repo.Format())
		}
		if err != nil {
			return err
		}
	}
	for id := range f.done.Lost {
		if err := f.GiveUp(id); err != nil {
			return err
		}
	}
	text := &fileScrub{successor: func(h object.Hash) object.Hash { return f.rewrite.Successor(f.rewrite.Successor(h)) }}
	if err := text.sessions(stateDirs(f.Repo)); err != nil {
		return fmt.Errorf("change local state: %w", err)
	}
	if err := f.keepMap(); err != nil {
		return err
	}
	if len(f.updates) > 0 {
		proc, err := held.repo(f.Repo).BeginRefs(ctx, "agent: follow a filter")
		if err == nil {
			err = git.MoveRefs(ctx, f.Repo, held.purge, proc, f.updates)
		}
		if err != nil {
			return err
		}
	}
	return f.KeepAll(ctx, held.purge)
}
