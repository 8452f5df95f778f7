//go:build e2e

package e2e

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// A want is what the record of one turn must say.
type want struct {
	session  string
	mission  string // "" for the session's own
	prompt   string
	promptID string // "" if the client did not say
	outcome  string
	base     string // tree of the worktree when the turn began, or "" if nobody saw it
	tree     string // tree of the worktree when it ended
}

// A silent kind tells of no prompt: the event with which a prompt's turn has begun is found otherwise.
type silent interface {
	began(r *rig, text string) event
}

// began finds the witness's event of a prompt; text may be its beginning.
func (r *rig) began(text string) event {
	r.t.Helper()
	if s, ok := r.kind.(silent); ok {
		return s.began(r, text)
	}
	for _, e := range r.witness.named("UserPromptSubmit") {
		if strings.HasPrefix(e.Prompt, text) {
			return e
		}
	}
	r.t.Fatalf("the client never submitted %q\n%s", text, r.report())
	return event{}
}

// ended is what is wanted of a turn that the client ended with the given event.
func (r *rig) ended(text, name, outcome string) want {
	r.t.Helper()
	b := r.began(text)
	var end event
	r.await(name+" of "+text, func() bool {
		for _, e := range r.witness.named(name) {
			// Of a client that gives turns no ids, the next one after the prompt.
			without := b.PromptID == "" && e.Session == b.Session && e.At.After(b.At) && end.Name == ""
			if without || b.PromptID != "" && e.PromptID == b.PromptID {
				end = e
			}
		}
		return end.Name != ""
	})
	return want{session: b.Session, prompt: b.Prompt, promptID: b.PromptID, outcome: outcome, base: b.Tree, tree: end.Tree}
}

// done is what is wanted of a turn that ended with a Stop hook.
func (r *rig) done(text string) want { r.t.Helper(); return r.ended(text, "Stop", "done") }

// failed is what is wanted of a headless turn that ended with an error of the API. The client may
// end the witness of StopFailure before it could look, but it waits for the one of SessionEnd.
func (r *rig) failed(text string) want { r.t.Helper(); return r.ended(text, "SessionEnd", "failed") }

// interrupted is what is wanted of a turn that no hook ended: its worktree is
// the one that the session's next event found.
func (r *rig) interrupted(text string) want {
	r.t.Helper()
	b := r.began(text)
	for _, e := range r.witness.events() {
		if e.Session == b.Session && e.At.After(b.At) && e.Name != "SessionStart" && (e.PromptID != b.PromptID || e.Name == "SessionEnd") {
			return want{session: b.Session, prompt: b.Prompt, promptID: b.PromptID, outcome: "interrupted", base: b.Tree, tree: e.Tree}
		}
	}
	r.t.Fatalf("no event after %q\n%s", text, r.report())
	return want{}
}

// check compares all that was recorded in the repository with what is wanted:
// exactly one entry for every turn, of every session in order, and each of them whole.
func (r *rig) check(wants ...want) []turn {
	r.t.Helper()
	all := r.list()
	if len(all) != len(wants) {
		r.t.Fatalf("%d turns recorded, want %d\n%s", len(all), len(wants), r.report())
	}
	next := map[string]int{}
	var found []turn
	for _, w := range wants {
		if w.mission == "" {
			w.mission = r.kind.mission(r, w.session)
		}
		var t turn
		for _, c := range all {
			if c.Mission == w.mission && c.Turn == next[w.mission]+1 {
				t = c
			}
		}
		next[w.mission]++
		if t.Turn == 0 {
			r.t.Fatalf("no turn %d in mission %s, want %+v\n%s", next[w.mission], w.mission, w, r.report())
		}
		r.checkRecord(t, w)
		found = append(found, t)
	}
	for _, t := range found {
		r.checkConversation(all, t)
		r.checkObjects(t)
	}
	if out, err := r.repo.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		r.t.Errorf("git fsck --strict: %v: %s", err, out)
	}
	if r.t.Failed() {
		r.t.Log(r.report())
	}
	return found
}

// checkRecord compares one record with what is wanted.
func (r *rig) checkRecord(t turn, w want) {
	r.t.Helper()
	fail := func(what string, got, want any) {
		r.t.Helper()
		r.t.Errorf("%v: %s = %v, want %v", t, what, got, want)
	}
	if t.V != 1 || t.Kind != "turn" {
		fail("v and kind", []any{t.V, t.Kind}, "1 turn")
	}
	if t.Agent != r.kind.agent() {
		fail("agent", t.Agent, r.kind.agent())
	}
	if t.Outcome != w.outcome {
		fail("outcome", t.Outcome, w.outcome)
	}
	if t.Session != w.session {
		fail("session", t.Session, w.session)
	}
	if t.PromptID != w.promptID && w.promptID != "" {
		fail("prompt_id", t.PromptID, w.promptID)
	}
	if !quotes(t.Prompt, w.prompt) {
		fail("prompt", t.Prompt, w.prompt)
	}
	if got := r.tree(t.Code); got != w.tree {
		fail("tree", got+"\n"+r.changes(w.tree, got), w.tree)
	}
	if got := r.tree(t.Base); got != w.base && w.base != "" {
		fail("tree of base", got, w.base)
	}
	if t.Started.IsZero() || t.Started.After(t.At) {
		fail("started and at", []time.Time{t.Started, t.At}, "two times, in this order")
	}
	files, insertions, deletions := r.diffstat(t.Base, t.Code)
	if t.Files != files || t.Insertions != insertions || t.Deletions != deletions {
		fail("files, insertions, deletions", []int{t.Files, t.Insertions, t.Deletions}, []int{files, insertions, deletions})
	}
}

// quotes says whether a record's prompt is the whole one, or of a long one
// the first 500 runes, with or without a mark that says so.
func quotes(got, whole string) bool {
	if len([]rune(whole)) <= 500 {
		return got == whole
	}
	got = strings.TrimSuffix(got, "…")
	n := len([]rune(got))
	return n >= 499 && n <= 500 && strings.HasPrefix(whole, got)
}

// checkConversation compares the stored segments with the client's file.
func (r *rig) checkConversation(all []turn, t turn) {
	r.t.Helper()
	tr := r.transcript(t.Session)
	stored := r.kind.stored(r.conversation(all, t))
	segment := r.kind.stored(r.show(t.Mission, t.Transcript.Path))
	if !strings.HasPrefix(string(tr.data), stored) {
		r.t.Errorf("%v: the segments are not a prefix of %s: they differ at byte %d: %s", t, tr.path, firstDifference(string(tr.data), stored), around(string(tr.data), stored))
		return
	}
	if !strings.HasSuffix(stored, "\n") {
		r.t.Errorf("%v: the segment does not end with a line", t)
	}
	x, ok := tr.exchange(t.PromptID)
	switch {
	case !ok:
		r.t.Errorf("%v: the transcript has no such prompt", t)
	case len(stored) <= x.began:
		r.t.Errorf("%v: segments end at byte %d, the prompt is at %d", t, len(stored), x.began)
	case len(stored) < x.last:
		r.t.Errorf("%v: segments end at byte %d, the last assistant record at %d", t, len(stored), x.last)
	}
	if t.Transcript.After != 0 && len(stored)-len(segment) > x.began {
		r.t.Errorf("%v: the prompt is in the segment of the turn before", t)
	}
	if t.Outcome == "done" && t.Reply != x.reply {
		r.t.Errorf("%v: reply = %q, want %q", t, t.Reply, x.reply)
	}
}

// checkObjects reads what was recorded with plain git.
func (r *rig) checkObjects(t turn) {
	r.t.Helper()
	t.Checked = "" // which is told of a record, and is not in it
	var stored turn
	if err := json.Unmarshal([]byte(r.show(t.Mission, recordPath(t.Turn))), &stored); err != nil || !reflect.DeepEqual(stored, t) {
		r.t.Errorf("the ledger says (%v)\n%+v, want\n%+v", err, stored, t)
	}
	var noted turn
	for line := range strings.Lines(r.repo.Git("notes", "--ref=agent/"+t.Mission, "show", t.Code)) {
		var n turn
		if json.Unmarshal([]byte(line), &n) == nil && n.Turn == t.Turn && n.At.After(noted.At) {
			noted = n
		}
	}
	if !reflect.DeepEqual(noted, t) {
		r.t.Errorf("the note on %s says\n%+v, want\n%+v", t.Code, noted, t)
	}
	if parents := strings.Fields(r.repo.Git("rev-list", "--parents", "-n", "1", t.Code)); len(parents) > 2 {
		r.t.Errorf("%v: the code commit is a merge: %v", t, parents)
	}
	for _, hash := range []string{t.Code, t.Base} {
		if _, err := r.repo.Try("merge-base", "--is-ancestor", hash, ledgerRef(t.Mission)); err != nil {
			r.t.Errorf("%v: %s is not reachable from the ledger", t, hash)
		}
	}
}
