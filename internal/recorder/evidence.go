package recorder

import (
	"path/filepath"
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/evidence"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// A ranDeed is a call in a turn, and whose it is.
type ranDeed struct {
	transcript.Deed
	agent string // the sub-agent's id
}

// prove notes which checks a turn ran, whether files changed after them, and
// whether its reply tells of tests that are not there.
func (r *recording) prove(t *turns.Turn, reader func() transcript.Reader, segment []byte, sub sides) {
	if reader == nil || t.Transcript == nil || t.Transcript.Missing != "" {
		return
	}
	t.Checks = []record.Check{}
	var ran []evidence.Check
	deeds, last, tested, then := r.deeds(reader, segment, sub), -1, false, false
	for i, d := range deeds {
		if d.Command == "" {
			continue
		}
		for _, c := range r.Settings.Checks.Checks(d.Command, r.placeOf(d.Dir), d.Ended, d.Result) {
			c.Command, c.In, c.Call = r.checkText(c.Command), r.checkText(r.placeOf(c.In)), called(d.Call, maxTool)
			ran = append(ran, c)
			t.Checks = append(t.Checks, record.Check{Kind: c.Kind, Command: c.Command, In: c.In, Outcome: c.Outcome, Exit: c.Exit, Call: c.Call, Agent: d.agent})
			if c.Kind == evidence.Test || !tested {
				then = c.Then || last == i && then
				last, tested = i, tested || c.Kind == evidence.Test
			}
		}
	}
	if len(t.Checks) == 0 && t.Outcome == record.Interrupted {
		t.Checks = nil // the client may not have noted the last call
		return
	}
	if last >= 0 {
		t.ChangedAfter = r.changedAfter(t, deeds, last, then)
	}
	if t.ChecksLeft = max(0, len(t.Checks)-record.MaxChecks); t.ChecksLeft > 0 {
		t.Checks = newest(t.Checks, evidence.Standing(ran))
	}
	t.Unproven = evidence.Claims(t.Reply) && r.unproven(t)
}

// newest returns as many checks as a record has: those that stand go last.
func newest(checks []record.Check, standing []int) (kept []record.Check) {
	left := len(checks) - record.MaxChecks
	for i, c := range checks {
		if left > 0 && !slices.Contains(standing, i) {
			left--
			continue
		}
		kept = append(kept, c)
	}
	return kept[max(0, len(kept)-record.MaxChecks):]
}

// placeOf returns what a directory is called from the top of the worktree, ""
// for that itself; what is elsewhere, or in a container, as it is.
func (r *recording) placeOf(dir string) string {
	for _, from := range []func(string) (string, error){func(dir string) (string, error) { return dir, nil }, filepath.EvalSymlinks} {
		if real, err := from(dir); err == nil && filepath.IsAbs(dir) {
			if name, ok := git.Within(r.top, real); ok {
				if name == "." {
					return ""
				}
				return name
			}
		}
	}
	return dir
}

// checkText returns a check's command, or where it ran, as records have it.
func (r *recording) checkText(text string) string {
	line := strings.Join(strings.Fields(turns.Clip(text)), " ")
	return ledger.Head(valid(string(r.tx.Purged().Replace([]byte(r.rules.String(line))))), record.MaxCommand)
}

// deeds returns the calls of a turn and of its sub-agents, by time.
func (r *recording) deeds(reader func() transcript.Reader, segment []byte, sub sides) (all []ranDeed) {
	for _, side := range sub.list {
		for _, d := range transcript.Deeds(transcript.Own(r.agent().Reader()), side.raw) {
			all = append(all, ranDeed{d, side.ID})
		}
	}
	for _, d := range transcript.Deeds(reader(), segment) {
		all = append(all, ranDeed{Deed: d})
	}
	slices.SortStableFunc(all, func(a, b ranDeed) int { return a.At.Compare(b.At) })
	return all
}

// changedAfter reports whether files changed after the check at last, nil if
// that can't be told: by the state that the journal saw after it, else by what
// was called then. then says that its own command may have changed files behind it.
func (r *recording) changedAfter(t *turns.Turn, deeds []ranDeed, last int, then bool) *bool {
	yes, no := true, false
	check, sure, edited := deeds[last], true, false
	for i, d := range deeds {
		effect := r.agent().Effects(d.Tool)
		beside := d.agent == check.agent && (i > last && d.Asked < check.Told || i < last && d.Told > check.Told)
		switch {
		case i == last, i < last && !beside, effect == hooks.Reads, effect == hooks.Edits && d.Failed, d.Command != "" && deedOf(d.Command).idle:
		case effect == hooks.Edits && beside:
			return &yes
		case effect == hooks.Edits:
			edited = true
		default:
			sure = false
		}
	}
	if deedOf(check.Command).git { // it may have been of another state, as behind a stash
		return nil
	}
	if r.during != nil {
		var before object.Hash
		for _, e := range r.during.Seen {
			if !e.Tree.IsZero() && slices.ContainsFunc(e.Calls, func(c journal.Call) bool { return c.ID == check.Call && c.ID != "" }) {
				if changed := e.Tree != r.tx.Snap.Tree; changed || !then || before == e.Tree {
					return &changed
				}
				return nil
			}
			if !e.Tree.IsZero() {
				before = e.Tree
			}
		}
	}
	switch {
	case edited:
		return &yes
	case sure && !then, t.Files == 0 && t.CodeKnown() == nil && !t.Base.IsZero():
		return &no
	}
	return nil
}

// maxProof is how many turns that changed nothing are passed over to find the
// tests that a reply tells of.
const maxProof = 20

// unproven reports whether no test is recorded that passed since the last change
// before the end of a turn. It does not where that is not known.
func (r *recording) unproven(t *turns.Turn) bool {
	for range maxProof {
		if denies, known := t.Denies(); known {
			return denies
		}
		before, err := turns.ReadIn(r.tx.Ledger, t.Turn-1)
		if err != nil || before.Code != t.Base || t.Imported != "" {
			return false
		}
		t = before
	}
	return false
}
