package recorder

import (
	"fmt"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
)

// A turn may end of which no event told that it began: its prompt came before
// recording was switched on, or its client has no event for prompts. It began in
// the last state that the worktree's journal has from before, whoever left that.
// Without one, its base is unknown: what was there before is nobody's.

// byHand reports whether a person recorded the turn: that began at HEAD.
func (s Signal) byHand() bool { return s.Session == "" || s.Strict || s.Outcome != "" }

// untold returns the start of a turn that began at a time, zero if unknown,
// without an event. s is what else is known: where the session's last turn ended
// or, if not known, HEAD.
func (r *recording) untold(s start, known bool, began time.Time) (start, error) {
	s.unknown = !known
	entries, err := journal.Read(r.Repo)
	if err != nil {
		r.warn("in which state the turn began is not known: %v", err)
	}
	kept, err := r.tx.Objects.TreeOf(s.base)
	if err != nil {
		return s, err
	}
	e := lastBefore(entries, r.who(), began.UnixMilli())
	if e == nil || e.Head != r.head || !r.complete(kept, e.Tree) {
		return s, nil
	}
	tree, ok, err := touchedBefore(r.tx.Objects, r.Repo, e.Tree, r.tx.Snap.Tree, began)
	if err != nil || !ok {
		return s, err
	}
	if s.unknown = false; tree == kept {
		return s, nil
	}
	s.base, err = r.tx.CommitTree(tree, []object.Hash{s.base}, ledger.CodeMessage(fmt.Sprintf("before turn %d", r.last+1), r.id, 0, r.Session))
	return s, err
}

// lastBefore returns the last state before a session's running turn, which began
// at a time in ms, or as late as its calls say. It is nil if there is none.
func lastBefore(entries []*journal.Entry, session string, began int64) (last *journal.Entry) {
	for _, e := range entries {
		switch mine := e.Session == session; {
		case mine && e.Event != "": // the turn before
			last = nil
		case mine && !e.Before:
			return last
		}
		if !e.Tree.IsZero() && (last == nil || e.At <= began || last.At > began) {
			last = e
		}
	}
	return last
}

// tick is how late a file system may note when a file was written: its clock goes
// by the kernel's ticks, of 10 ms at most.
const tick = 20 * time.Millisecond

// touchedBefore returns a state with the files as they are now that were written
// before a time. ok is false if too much differs.
func touchedBefore(objects *git.Objects, repo *git.Repo, tree, now object.Hash, began time.Time) (found object.Hash, ok bool, err error) {
	differs, ok, err := gitdiff.Differences(objects, tree, []object.Hash{now}, maxSeparated)
	if err != nil || !ok || began.IsZero() {
		return tree, ok, err
	}
	changes := make(map[string]object.Entry)
	for _, d := range differs {
		if at := ctime(repo, d.Path); at != 0 && at < began.Add(-tick).UnixMilli() {
			changes[d.Path] = d.New
		}
	}
	if len(changes) == 0 {
		return tree, true, nil
	}
	giveWay(changes)
	found, err = objects.EditTree(tree, changes)
	return found, true, err
}
