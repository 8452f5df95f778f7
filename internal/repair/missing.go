package repair

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

// lostOf is what is lost of a turn or handoff.
type lostOf struct{ record, conversation, code bool }

// say describes it for a person, "" if nothing is lost.
func (l lostOf) say(what string) string {
	var parts []string
	for _, p := range []struct {
		lost bool
		name string
	}{{l.record, "record"}, {l.conversation, "conversation"}, {l.code, "code"}} {
		if p.lost {
			parts = append(parts, p.name)
		}
	}
	if parts == nil {
		return ""
	}
	return what + ": " + strings.Join(parts, ", ") + " missing"
}

// tell reports what stays lost, by mission and turn.
func (r *repair) tell(ctx context.Context, w *walk) error {
	if len(w.lost) == 0 {
		return nil
	}
	tips, err := r.tips(ctx)
	if err != nil {
		return err
	}
	before := len(r.found)
	for _, id := range slices.Sorted(maps.Keys(tips)) {
		r.mission(ctx, w, id, tips[id])
	}
	if before == len(r.found) {
		r.say(Finding{Lost: true, What: fmt.Sprintf("lost objects of the repository's own history, or of notes: %d; see what git says", len(w.lost)), Hint: "git fsck"})
	}
	return nil
}

// tips returns the newest events of all missions, also archived ones.
func (r *repair) tips(ctx context.Context) (map[record.ID]object.Hash, error) {
	tips, err := ledger.List(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	for id, e := range r.archived {
		if _, live := tips[id]; !live {
			tips[id] = e.Ledger
		}
	}
	return tips, nil
}

// mission reports what of a mission is lost.
func (r *repair) mission(ctx context.Context, w *walk, id record.ID, tip object.Hash) {
	l, err := ledger.At(w.here, id, tip)
	if err != nil {
		f := Finding{Lost: true, What: fmt.Sprintf("mission %s: the newest commit of its ledger, %s, can't be read, and so nothing of it: %v", id, tip, err)}
		if before := r.Trust.Before(id, tip); !before.IsZero() {
			if _, err := ledger.At(w.here, id, before); err == nil {
				f.What += fmt.Sprintf("; the event before it was %s, and to go back to that gives up what came after", before)
				f.Hint = fmt.Sprintf("git update-ref %s %s %s", id.Ref(), before, tip)
			}
		}
		r.say(f)
		return
	}
	known := make(map[object.Hash]bool)
	lost := func(path string) bool {
		e, err := l.Entry(path)
		return err != nil || w.lost[e.Hash]
	}
	for n, err := range l.Turns() {
		if err != nil {
			r.say(Finding{Lost: true, What: err.Error()})
			continue
		}
		is := lostOf{record: w.lost[n.Hash], conversation: lost(ledger.TurnPath("transcript", n.Number, ".jsonl"))}
		if t, err := turns.ReadIn(l, n.Number); err == nil {
			is.code = w.code(t.Code, known)
			for _, wt := range t.Worktrees {
				of := lostOf{code: w.code(wt.Base, known) || w.code(wt.Code, known)}
				if text := of.say(fmt.Sprintf("turn %s/%d:%s", id, n.Number, wt.Name)); text != "" {
					r.say(Finding{Lost: true, What: text})
				}
			}
		} else if git.Lost(err) {
			is.record = true
		}
		if text := is.say(fmt.Sprintf("turn %s/%d", id, n.Number)); text != "" {
			r.say(Finding{Lost: true, What: text})
		}
	}
	handoffs, err := l.Handoffs()
	if err != nil {
		r.say(Finding{Lost: true, What: fmt.Sprintf("handoffs of mission %s: %v", id, err)})
	}
	for _, n := range handoffs {
		if lost(ledger.HandoffPath(n, "handoff.json")) {
			r.say(Finding{Lost: true, What: lostOf{record: true}.say(fmt.Sprintf("handoff %s/%d", id, n))})
		}
	}
	if events := r.events(w, tip); events > 0 {
		r.say(Finding{Lost: true, What: fmt.Sprintf("mission %s: of its ledger's older commits at least %d can't be read; turns before that can't be forked at", id, events)})
	}
}

func (r *repair) events(w *walk, tip object.Hash) int {
	n := 0
	for at := tip; ; {
		if w.lost[at] {
			return n + 1
		}
		if w.lost[w.tree[at]] {
			n++
		}
		parents, err := w.here.Parents(at)
		if err != nil || len(parents) == 0 {
			return n
		}
		at = parents[0]
	}
}

// code reports whether anything of a commit's state is lost.
func (w *walk) code(commit object.Hash, known map[object.Hash]bool) bool {
	if w.lost[commit] {
		return true
	}
	tree, ok := w.tree[commit]
	return ok && w.incomplete(tree, known)
}
