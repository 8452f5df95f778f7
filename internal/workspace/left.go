package workspace

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/trust"
)

// missionRefs is the prefix of ledgers' refs.
var missionRefs = record.ID("").Ref()

// lookOn is what a [git.Repo] of a workspace tells of refs that it has read: a
// mission that does not stand where this clone left it is taken back at once,
// as a fetch, a prune or a filter of the user's own git may have moved it.
func (w *Workspace) lookOn(ctx context.Context, names []string, refs map[string]object.Hash) {
	for _, name := range names {
		if strings.HasPrefix(missionRefs, name) && strings.HasSuffix(name, "/") {
			if err := w.standArchive(ctx); err != nil {
				w.Say(err.Error(), "")
			}
			w.correctAll(ctx, refs)
		} else if id, err := record.ParseID(strings.TrimPrefix(name, missionRefs)); err == nil && id.Ref() == name {
			w.correct(ctx, id, refs)
		}
	}
}

// correctAll corrects what was read of all missions. Of those that are archived
// as they were left one look at the archive tells.
func (w *Workspace) correctAll(ctx context.Context, refs map[string]object.Hash) {
	repo := w.Repo.Watched(nil)
	objects := repo.Objects(ctx)
	defer objects.Close()
	index := sync.OnceValues(func() (*ledger.Archive, error) { return archiveIndex(ctx, repo, objects) })
	w.seen.look(w, time.Now(), len(refs), func(id record.ID, left func() (object.Hash, error)) {
		at, there := refs[id.Ref()]
		was, err := left()
		if err != nil || was.IsZero() || was == at || there && at.IsZero() {
			return // or damaged
		}
		if !there {
			if x, err := index(); err == nil {
				if e, ok, err := x.Find(id); err == nil && ok && e.Ledger == was {
					return
				}
			}
		}
		w.correct(ctx, id, refs)
	})
}

// correct corrects what was read of a mission. While another of our processes
// is at work on it, no ref is moved, and nothing is said.
func (w *Workspace) correct(ctx context.Context, id record.ID, refs map[string]object.Hash) {
	ref := id.Ref()
	left, err := w.Trust.Left(id)
	if at, there := refs[ref]; err != nil || left.At.IsZero() || left.At == at || there && at.IsZero() {
		return // or damaged
	}
	held, busy, err := w.Store.TryLockMission(id)
	if busy || err != nil { // as where the user may only read
		if s, err := w.Standing(ctx, nil, id); err == nil && s.Moves != nil {
			refs[ref] = s.At
			return
		}
	} else {
		if held == nil {
			return // this process is at work on it
		}
		defer held.Release()
		at := object.Hash{}
		if err = git.DropLeft(ctx, held); err == nil {
			at, err = w.Stand(ctx, held, id)
		}
		if err != nil {
			w.Say(err.Error(), "")
			if at == left.At { // it can be read all the same
				refs[ref] = at
				return
			}
		}
	}
	again, err := w.Repo.Watched(nil).Refs(ctx, ref) // another process may have taken it back
	if delete(refs, ref); err == nil {
		maps.Copy(refs, again)
	}
}

// Stand returns where a mission's ledger stands, live or archived, zero if
// there is none. If that is not where this clone left it, or after that, it is
// taken back there, and the user is told. held is the mission's lock; without
// it nothing is changed, and the user is told what would be.
func (w *Workspace) Stand(ctx context.Context, held *statedir.Lock, id record.ID) (object.Hash, error) {
	s, err := w.Standing(ctx, held, id)
	if err == nil && s.Moves != nil && held != nil {
		raw := w.Repo.Watched(nil)
		var proc *git.RefTransaction
		if proc, err = raw.With(git.Holding(held.File())).BeginRefs(ctx, "agent: where it was left"); err == nil {
			err = git.MoveRefs(ctx, raw, held, proc, s.Moves)
		}
		if err == nil {
			err = w.keepAlso(ctx, held, id, s.At)
		}
	}
	if err != nil {
		return s.At, fmt.Errorf("take mission %s back to where it was left: %w", id, err)
	}
	s.Tell()
	return s.At, nil
}

// A Standing is where a mission's ledger stands.
type Standing struct {
	At    object.Hash  // zero if there is none
	Moves []git.Update // what takes it back to At, its own ref's move first
	// Tell tells the user that it was taken back, once that is done.
	Tell func()
}

// Standing is [Workspace.Stand] that leaves the moves to its caller.
func (w *Workspace) Standing(ctx context.Context, held *statedir.Lock, id record.ID) (Standing, error) {
	s := &standing{Workspace: w, held: held, id: id, raw: w.Repo.Watched(nil), tell: func() {}}
	var err error
	if s.left, err = w.Trust.Left(id); err == nil {
		s.refs, err = s.raw.Refs(ctx, id.Ref(), w.Branch(id))
	}
	at, there := s.refs[id.Ref()]
	damaged := there && at.IsZero()
	if s.now = at; err == nil && !damaged && !s.left.At.IsZero() && s.left.At != at {
		s.objects = s.raw.Objects(ctx)
		defer s.objects.Close()
		at, err = s.look(ctx)
	}
	return Standing{at, s.moves, s.tell}, err
}

// A standing is a mission that does not stand where this clone left it.
type standing struct {
	*Workspace
	held    *statedir.Lock
	raw     *git.Repo
	objects *git.Objects
	id      record.ID
	left    trust.Left
	refs    map[string]object.Hash // its ledger's and its branch
	now     object.Hash            // its ledger

	moves []git.Update
	tell  func()
}

func (s *standing) look(ctx context.Context) (object.Hash, error) {
	if s.now.IsZero() {
		e, err := s.archived(ctx)
		if git.Lost(err) {
			return s.now, nil // it may be there
		}
		if err != nil || !e.Gone() && e.Ledger == s.left.At {
			return e.Ledger, err
		}
		if e.Gone() && !e.Removed.IsZero() { // another clone has removed it
			return e.Ledger, s.leave(object.Hash{})
		}
		s.now = e.Ledger
	}
	l, err := ledger.At(s.objects, s.id, s.left.At)
	if err != nil {
		return s.lost(ctx, err)
	}
	within, err := false, error(nil)
	if !s.now.IsZero() {
		if within, err = s.raw.IsAncestor(ctx, s.left.At, s.now); within {
			return s.now, s.leave(s.now)
		}
	}
	// It was about to be written when its writer died, or it was never there; but
	// a ref that is gone had what came before, whatever has become of the keeper.
	if s.now == s.left.Before && !s.left.Found && !s.kept(ctx) {
		return s.now, nil
	}
	return s.takeBack(ctx, l, err == nil)
}

func (s *standing) archived(ctx context.Context) (ledger.ArchiveEntry, error) {
	x, err := archiveIndex(ctx, s.raw, s.objects)
	if err != nil {
		return ledger.ArchiveEntry{}, err
	}
	e, _, err := x.Find(s.id)
	return e, err
}

// kept reports whether the transaction that was to write what was left came to
// its end: it moves what keeps that, too.
func (s *standing) kept(ctx context.Context) bool {
	for _, n := range []uint32{keeperOf(s.id), archiveKeeper} {
		if at, _ := s.raw.Keeper(n).At(ctx); !at.IsZero() {
			if kept, err := s.raw.IsAncestor(ctx, s.left.At, at); kept && err == nil {
				return true
			}
		}
	}
	return false
}

// lost tells once that what was left is not here any more. If what this clone
// wrote before is, and stands there no longer, that is what is taken back.
func (s *standing) lost(ctx context.Context, why error) (object.Hash, error) {
	switch {
	case !ledger.Missing(why):
		return s.now, why
	case s.now == s.left.Before && !s.now.IsZero(): // it may never have been here
		return s.now, nil
	}
	own, l, err := s.own(ctx)
	if err != nil {
		return s.now, err
	}
	if !own.IsZero() {
		s.left = trust.Left{At: own, Before: s.Trust.Before(s.id, own)}
		if err := s.leave(own); err != nil {
			return s.now, err
		}
		return s.takeBack(ctx, l, true)
	}
	if s.now == s.left.Before {
		return s.now, nil
	}
	s.tell = func() {
		s.Say(fmt.Sprintf("what was recorded here last of mission %s, in %s, is not in the repository any more", s.id, s.left.At), "")
	}
	return s.now, s.leave(s.now)
}

// own returns the newest commit that this clone wrote of what is here, and does
// not stand where the mission does, or zero.
func (s *standing) own(ctx context.Context) (object.Hash, *ledger.Ledger, error) {
	ends, err := s.Trust.Last(s.id)
	for _, at := range ends {
		l, missing := ledger.At(s.objects, s.id, at)
		for ledger.Missing(missing) && !at.IsZero() {
			if at = s.Trust.Before(s.id, at); !at.IsZero() {
				l, missing = ledger.At(s.objects, s.id, at)
			}
		}
		if at.IsZero() || missing != nil || at == s.now {
			continue
		}
		if !s.now.IsZero() {
			if within, err := s.raw.IsAncestor(ctx, at, s.now); within || err != nil {
				continue
			}
		}
		return at, l, nil
	}
	return object.Hash{}, nil, err
}

func (s *standing) leave(at object.Hash) error {
	if s.held == nil {
		return nil
	}
	return s.Trust.Leave(s.id, at, s.Repo.Format())
}

// takeBack moves the mission back to where it was left. What stands there now
// and is no part of it becomes a mission of its own.
func (s *standing) takeBack(ctx context.Context, l *ledger.Ledger, readable bool) (object.Hash, error) {
	s.moves = []git.Update{{Ref: s.id.Ref(), New: s.left.At, Old: s.refs[s.id.Ref()]}}
	text, done := s.moved(l), "it is there again"
	less := s.now.IsZero() || !readable
	if !less {
		var err error
		if less, err = s.raw.IsAncestor(ctx, s.now, s.left.At); err == nil && !less {
			less, err = s.filtered(ctx)
		}
		if err != nil {
			return s.now, err
		}
	}
	if !less {
		first, err := ledger.Diverged(ctx, s.raw, s.now, s.left.At)
		if err != nil {
			return s.now, err
		}
		aside, moves, err := s.Aside(ctx, s.raw, s.id, s.now, first)
		if err != nil {
			return s.now, err
		}
		s.moves = append(s.moves, moves...)
		done += fmt.Sprintf(", and what was there is mission %s", aside)
	}
	branch := s.Branch(s.id)
	if s.refs[s.id.Ref()].IsZero() && s.refs[branch].IsZero() && l.Mission.Branch == branch && l.Mission.Finished == nil {
		if code := s.lastCode(l); !code.IsZero() {
			s.moves = append(s.moves, git.Update{Ref: branch, New: code})
		}
	}
	s.tell = func() { s.Say(text, done) }
	return s.left.At, nil
}

// filtered reports whether what stands there is what git filter-branch has made
// of what was left, and so no other chain: it keeps the old refs.
func (s *standing) filtered(ctx context.Context) (bool, error) {
	ref := "refs/original/" + s.id.Ref()
	refs, err := s.raw.Refs(ctx, ref)
	return refs[ref] == s.left.At, err
}

// moved says what has happened.
func (s *standing) moved(l *ledger.Ledger) string {
	at := func(l *ledger.Ledger, err error) string {
		if err != nil {
			return s.now.String()
		}
		last, err := l.LastTurn()
		if err != nil || last == 0 {
			return l.Tip.String()
		}
		return fmt.Sprintf("turn %d", last)
	}
	was := at(l, nil)
	if s.now.IsZero() {
		return fmt.Sprintf("something other than git-agent deleted the ref of mission %s, which was at %s", s.id, was)
	}
	return fmt.Sprintf("something other than git-agent moved mission %s from %s to %s", s.id, was, at(ledger.At(s.objects, s.id, s.now)))
}

// lastCode returns the commit that a ledger's last turn ended in, or zero.
func (s *standing) lastCode(l *ledger.Ledger) object.Hash {
	last, err := l.LastTurn()
	if err != nil || last == 0 {
		return object.Hash{}
	}
	var t record.Turn
	data, err := l.Read(ledger.TurnPath("turns", last, ".json"))
	if err != nil || record.Decode(string(data), &t) != nil {
		return object.Hash{}
	}
	if _, err := s.objects.TreeOf(t.Code); err != nil {
		return object.Hash{}
	}
	return t.Code
}

// maxDiverged bounds the diverged chains followed; see package fetcher.
const maxDiverged = 16

// Aside returns the mission that a chain becomes which is not to be in the one
// whose ref it has, and what makes it so. It is named by its first own commit
// or, if a diverged chain has that name, the first that it lacks.
func (w *Workspace) Aside(ctx context.Context, repo *git.Repo, of record.ID, tip, first object.Hash) (record.ID, []git.Update, error) {
	id := record.OfCommit(first)
	if id == of { // it was set aside before, and is worked on
		id = record.OfCommit(tip)
	}
	for range maxDiverged {
		refs, err := repo.Refs(ctx, id.Ref())
		if err != nil {
			return "", nil, err
		}
		there, taken := refs[id.Ref()]
		move := []git.Update{{Ref: id.Ref(), New: tip, Old: there}}
		if !taken {
			return id, move, nil
		}
		kept, err := repo.IsAncestor(ctx, tip, there)
		more := false
		if err == nil && !kept {
			more, err = repo.IsAncestor(ctx, there, tip)
		}
		switch {
		case err != nil:
			return "", nil, err
		case kept:
			return id, nil, nil
		case more:
			return id, move, nil
		}
		if first, err = ledger.Diverged(ctx, repo, tip, there); err != nil {
			return "", nil, err
		}
		id = record.OfCommit(first)
	}
	return "", nil, fmt.Errorf("set a part of mission %s aside: it has more than %d sides", of, maxDiverged)
}
