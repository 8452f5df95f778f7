package recorder

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/hooks"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/owners"
	"gitagent/internal/record"
	"gitagent/turns"
)

const (
	// maxSeparated is how many paths that differ between two states are told
	// apart. Beyond, as after a switch of branches, all is the turn's, as it is
	// where nobody keeps a journal.
	maxSeparated = 10_000
	// maxWeighed is the most bytes of a file whose lines are told apart.
	maxWeighed = 8 << 20
	// maxCommits is how many commits of a turn are looked at, and maxOwn of how
	// many a record says that they are its own.
	maxCommits = 1000
	maxOwn     = 100
)

// A share is what a turn's own change takes to say and to keep.
type share struct {
	record *record.Own
	keep   []object.Hash
}

// own finds what a turn changed itself, from the journal of the worktree and
// its segment of the conversation. The share is empty if nobody else worked and
// nothing was lost.
//
// The turn is recorded in any case: what can't be told apart is in its change,
// as ever.
func (r *recording) own(ctx context.Context, t *turns.Turn, s start, segment []byte) (share, error) {
	if s.at.IsZero() { // nothing told of its beginning
		return share{}, nil
	}
	during, err := journal.During(r.Repo, r.who(), s.promptID, s.at)
	if err != nil {
		r.warn("whose changes turn %s has can't be told: %v", t.ID(), err)
		return share{}, nil
	}
	if s.shared {
		during.Seen = apart(during.Seen, r.who(), s.promptID)
	}
	r.during = &during
	if during.Began.IsZero() {
		if len(during.Seen) > 0 {
			r.warn("whose changes turn %s has can't be told: the journal of the worktree lacks its beginning", t.ID())
		}
		return share{}, nil
	}
	p := span{Span: during, who: r.who(), to: r.seenAt(), head: s.head}
	own, err := r.separate(ctx, t, p, segment)
	if err != nil && ctx.Err() == nil {
		r.warn("whose changes turn %s has can't be told: %v", t.ID(), err)
		return share{}, nil
	}
	return own, err
}

// separate tells the turn's changes from those of others.
func (r *recording) separate(ctx context.Context, t *turns.Turn, p span, segment []byte) (share, error) {
	base, err := r.tx.Objects.TreeOf(t.Base)
	if err != nil {
		return share{}, err
	}
	claims := p.claims()
	if read := r.agent().Claims; read != nil && !p.quiet(base, r.tx.Snap.Tree, claims) {
		claims = append(claims, p.untold(r.Repo, read(segment))...)
	}
	lacks, elsewhere := p.lacks(r.Repo, t, segment, func(path string) bool {
		e, err := r.tx.Objects.Lookup(base, path)
		return err != nil || e != (object.Entry{})
	})
	r.result.Elsewhere = elsewhere
	own, told := share{record: &record.Own{Of: t.Code}}, claims
	if mine := slices.ContainsFunc(claims, func(c owners.Claim) bool { return c.Who == p.who }); !mine && !r.heard() {
		// Its client does not tell of its calls.
		if len(claims) == 0 {
			return share{}, nil
		}
		claims = append(claims, owners.Claim{Who: p.who, From: p.From, To: p.to})
	}
	for _, c := range r.Untold {
		claims = append(claims, p.untold(r.Repo, []hooks.Ran{{Call: c, From: p.From, To: p.to}})...)
	}
	if lacks { // a hook did not run, or could not write
		claims = append(claims, owners.Claim{Who: p.who, From: p.From, To: p.to})
	}
	if t.Outcome == record.Interrupted { // clients do not tell of the call that was interrupted
		claims = append(claims, owners.Claim{Who: p.who, From: max(p.last(), r.lastBatch()), To: p.to})
	}
	if p.quiet(base, r.tx.Snap.Tree, claims) {
		return share{}, nil
	}
	states, steps, err := r.states(base, p)
	if err == nil && states == nil && slices.ContainsFunc(p.Seen, func(e *journal.Entry) bool { return e.Session != p.who }) {
		r.warn("whose changes turn %s has can't be told: more than %d paths differ", t.ID(), maxSeparated)
	}
	if err != nil || states == nil {
		return share{}, err
	}
	turn := owners.Turn{
		Who: p.who, From: p.From, To: p.to, States: states, Claims: claims,
		Start: func(path string) (object.Entry, error) { return r.tx.Objects.Lookup(base, path) },
		Read:  func(h object.Hash) ([]byte, error) { return r.tx.Objects.Blob(h, maxWeighed) },
	}
	found, err := owners.Of(turn)
	if err == nil && found == nil {
		found = new(owners.Result)
		if changedAgain(states) {
			found.Lost, err = owners.Lost(turn)
		}
	}
	if err != nil {
		return share{}, err
	}
	own.record.With, own.record.Steps = together(found.With), len(steps)
	if len(found.With) > 0 {
		own.record.Commits = r.commits(p, told)
	}
	if err := r.project(ctx, t, found, &own); err != nil {
		return share{}, err
	}
	if err := r.keepSteps(t, base, steps, found.Lost, &own); err != nil {
		return share{}, err
	}
	if err := r.tellGone(t, base, steps, found.Lost, own.record.Kept); err != nil {
		return share{}, err
	}
	if len(own.keep) == 0 {
		return share{}, nil
	}
	return own, nil
}

// commits returns what HEAD moved to in the turn's own calls: commits that were
// made while one of them ran, and none of another session. A person who commits
// in the same second is not seen.
func (r *recording) commits(p span, claims []owners.Claim) (list []object.Hash) {
	own := func(from int64) bool {
		mine := false
		for _, c := range claims {
			if c.Paths != nil || c.From > from+999 || c.To < from {
				continue
			}
			if c.Who != p.who {
				return false
			}
			mine = true
		}
		return mine
	}
	seen := map[object.Hash]bool{{}: true, p.head: true}
	heads := make([]object.Hash, 0, len(p.Seen)+1)
	for _, e := range p.Seen {
		heads = append(heads, e.Head)
	}
	for _, at := range append(heads, r.head) {
		for !seen[at] && len(seen) < maxCommits && len(list) < maxOwn {
			seen[at] = true
			c, err := r.tx.Objects.Commit(at)
			if err != nil || c.Committer.When.Unix() < p.From/1000 {
				break
			}
			// A code commit, which moved a mission's branch, is the recorder's.
			if id, ok := ledger.ReadCodeMessage(c.Message); (!ok || id.Turn == 0) && own(c.Committer.When.UnixMilli()) {
				list = append(list, at)
			}
			if len(c.Parents) == 0 {
				break
			}
			at = c.Parents[0]
		}
	}
	return list
}

// changedAgain reports whether a file changed more than once: what it was may be
// gone.
func changedAgain(states []owners.State) bool {
	seen := make(map[string]bool)
	for _, s := range states {
		for path := range s.Changed {
			if seen[path] {
				return true
			}
			seen[path] = true
		}
	}
	return false
}

// heard reports whether the session's client tells of calls: then a turn
// without any made none that could write. A visit begins with one, also that by
// which a session finds its home.
func (r *recording) heard() bool { return r.Away || r.IfChanged || r.Store.Monitors(r.Session) }

// lastBatch returns when the session's last calls had run, wherever, in ms; not
// positive if that is unknown.
func (r *recording) lastBatch() int64 {
	if !r.Began.IsZero() { // a visit's end, maybe of a session that finds its home by it
		return r.Began.UnixMilli()
	}
	var m contextmeter.Memory
	r.Store.LoadMonitor(r.Session, &m)
	return m.Batch
}

// states returns the states since the turn's start, of which the last is its
// end, and the journal's entries of the others. They are nil if too much differs.
func (r *recording) states(base object.Hash, p span) (states []owners.State, steps []*journal.Entry, err error) {
	last := base
	r.hidden = make(map[string]bool)
	for _, e := range p.Seen {
		if e.Tree.IsZero() || p.Began != base && e.Head != r.head {
			continue // in the second case HEAD has jumped, and the turn begins there
		}
		if e.Tree != last {
			if _, err := r.tx.Objects.Tree(e.Tree, git.MaxTree); git.Lost(err) {
				continue // it was collected: the next one has what came of it
			}
		}
		changed, ok, err := r.changed(last, e.Tree, func(path string) int64 { return e.Ctimes[path] })
		if err != nil || !ok {
			return nil, nil, err
		}
		states, steps, last = append(states, owners.State{At: e.At, Changed: changed, Looked: looked(e)}), append(steps, e), e.Tree
	}
	end := r.tx.Snap.Tree
	changed, ok, err := r.changed(last, end, func(path string) int64 { return ctime(r.Repo, path) })
	if err != nil || !ok {
		return nil, nil, err
	}
	return append(states, owners.State{At: p.to, Changed: changed}), steps, nil
}

// looked returns the files that a step by paths was made of; nil for a look at
// the whole worktree.
func looked(e *journal.Entry) []string {
	if e.Event != "" || e.Before || e.Cost > 0 {
		return nil
	}
	paths := []string{}
	for _, call := range e.Calls {
		if call.Path == "" {
			return nil
		}
		paths = append(paths, call.Path)
	}
	return paths
}

// changed compares two trees. ok is false if too much differs.
func (r *recording) changed(from, to object.Hash, ctime func(path string) int64) (changed map[string]owners.Change, ok bool, err error) {
	found, ok, err := gitdiff.Differences(r.tx.Objects, from, []object.Hash{to}, maxSeparated)
	changed = make(map[string]owners.Change, len(found))
	for _, d := range found {
		at := ctime(d.Path)
		if d.New == (object.Entry{}) && at != 0 {
			r.hidden[d.Path] = true // it is there, and was ignored since
			continue
		}
		changed[d.Path] = owners.Change{Entry: d.New, Ctime: at}
	}
	return changed, ok, err
}

// project makes the states without what the turn did.
func (r *recording) project(ctx context.Context, t *turns.Turn, found *owners.Result, own *share) error {
	if len(found.With) == 0 || t.Base == t.Code {
		own.record.With = nil
		return nil
	}
	tree := func(of func(owners.File) owners.Content) (object.Hash, error) {
		changes := make(map[string]object.Entry, len(found.Files))
		for path, f := range found.Files {
			if r.hidden[path] {
				continue
			}
			c := of(f)
			if c.Text != nil {
				var err error
				if c.Entry.Hash, err = r.tx.Objects.Write(plumbing.BlobObject, c.Text); err != nil {
					return object.Hash{}, err
				}
			}
			changes[path] = c.Entry
		}
		giveWay(changes)
		return r.tx.Objects.EditTree(r.tx.Snap.Tree, changes)
	}
	others, err := tree(func(f owners.File) owners.Content { return f.Others })
	if err != nil {
		return err
	}
	shared, err := tree(func(f owners.File) owners.Content { return f.Shared })
	if err != nil {
		return err
	}
	o := own.record
	o.Others, err = r.tx.CommitTree(others, []object.Hash{t.Base}, ledger.CodeMessage(fmt.Sprintf("others in turn %d", t.Turn), r.id, 0, r.Session))
	if err != nil {
		return err
	}
	own.keep = append(own.keep, o.Others)
	if shared != others {
		o.Shared, err = r.tx.CommitTree(shared, []object.Hash{o.Others}, ledger.CodeMessage(fmt.Sprintf("shared in turn %d", t.Turn), r.id, 0, r.Session))
		if err != nil {
			return err
		}
		own.keep = append(own.keep, o.Shared)
	}
	stats, err := r.lines(ctx, t, shared, r.tx.Snap.Tree)
	if err != nil {
		return err
	}
	o.Files, o.Insertions, o.Deletions, o.Paths = count(stats)
	return nil
}

// giveWay removes a file where a directory is wanted, too: one of those who
// worked made it of the file.
func giveWay(changes map[string]object.Entry) {
	for path, e := range changes {
		for dir := path; e.Mode != filemode.Empty && strings.Contains(dir, "/"); {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			if changes[dir].Mode != filemode.Empty {
				changes[dir] = object.Entry{}
			}
		}
	}
}
