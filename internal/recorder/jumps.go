package recorder

import (
	"errors"
	"io/fs"
	"maps"

	"gitagent/internal/agent"
	"gitagent/internal/ledger"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// In some clients' files a turn does not go on from the one before: a person has
// gone back in a file that is a tree, or the client has begun a new file that
// refers to the old one instead of repeating it.

// A jump is what such a turn goes on from.
type jump struct {
	promptID string
	turn     int // of the mission; 0 if it begins a conversation, or is not recorded there
}

// findJumps finds the turns of the segment that do not go on from the one before.
func (r *recording) findJumps() error {
	if r.agent().Continues == nil || r.segment.none {
		return nil
	}
	r.jumps = make(map[int]jump)
	starts := []int{0}
	for i, b := range r.turns() {
		if i > 0 {
			starts = append(starts, b.Start)
		}
	}
	for _, at := range starts {
		id, jumps := r.goesOnFrom(r.segment.from + int64(at))
		if !jumps {
			continue
		}
		j := jump{promptID: id}
		if id == "" {
			r.jumps[at] = j
			continue
		}
		most := maxCaughtUp
		t, _, err := find(r.tx.Ledger, &most, func(_ *ledger.Ledger, t *turns.Turn) (repeats, bool) {
			return repeats{}, leadsTo(t, id, r.agent().Name)
		})
		if err != nil {
			return err
		}
		if t != nil {
			j.turn = t.Turn
		}
		r.jumps[at] = j
	}
	return nil
}

// goesOnFrom returns the prompt id of the turn that a turn of the client's file
// goes on from, if it jumps there.
func (r *recording) goesOnFrom(at int64) (promptID string, jumps bool) {
	continues := r.agent().Continues
	if continues == nil {
		return "", false
	}
	id, jumps, err := continues(r.Transcript, at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("what the conversation in %s goes on from is not known: %v", r.Transcript, err)
	}
	return id, jumps
}

// maxCutBack is how many turns a person may go back in a file.
const maxCutBack = 1000

// cutBack moves the cursor back in a file that no longer has all that was read
// of it: some clients cut it off when a person goes back, or take back their last
// lines. What it has left ends with the newest turn whose lines are still there.
// One that writes them anew may spell them otherwise: then a turn is there if
// the file says the same of it.
func (r *recording) cutBack() bool {
	if !r.segment.Restarted || r.again() || r.state.Transcript != r.Transcript {
		return false
	}
	there := make(map[string]transcript.FileTurn) // by prompt ids
	for _, t := range r.turns() {
		there[t.PromptID] = t
	}
	delete(there, "")
	looked := 0
	for turn, err := range r.tx.Ledger.Turns() {
		if err != nil || looked == maxCutBack {
			return false
		}
		looked++
		t, err := turns.ReadIn(r.tx.Ledger, turn.Number)
		if err != nil || t.Session != r.Session || t.Mission != r.id || t.Transcript == nil || t.Transcript.From == t.Transcript.To {
			continue
		}
		to := t.Transcript.To
		if !holds(r.tx.Ledger, r.rules, r.Purged(), r.Transcript, t.Turn, t.Transcript) {
			now, is := there[t.PromptID]
			if !is || !r.says(t, r.segment.Bytes[now.Start:now.End]) {
				continue
			}
			to = int64(now.End)
		}
		c, err := r.cursorAt(to, t.Turn)
		if err != nil {
			return false
		}
		r.state.Cursors = maps.Clone(r.state.Cursors)
		r.state.Cursors[r.id] = c
		return true
	}
	return false
}

// says reports whether lines of the client's file say what is stored of a turn.
func (r *recording) says(t *turns.Turn, lines []byte) bool {
	clean, err := r.rules.JSONLines(lines, agent.Structure)
	if err != nil || t.Transcript.Path == "" {
		return false
	}
	stored, err := r.tx.Ledger.ReadUpTo(ledger.TurnPath("transcript", t.Turn, ".jsonl"), transcript.MaxSegment)
	if err != nil {
		return false
	}
	was := transcript.Summarise(r.agent().Reader(), stored)
	is := transcript.Summarise(r.agent().Reader(), r.Purged().ReplaceJSON(clean))
	return was.Prompt == is.Prompt && was.Reply == is.Reply && was.Output == is.Output && was.Answered == is.Answered && maps.Equal(was.Tools, is.Tools)
}

func leadsTo(t *turns.Turn, promptID, agent string) bool {
	return promptID != "" && t.PromptID == promptID && t.Agent == agent && t.Transcript != nil && t.Transcript.Missing == ""
}
