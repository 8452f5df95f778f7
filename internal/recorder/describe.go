package recorder

import (
	"cmp"
	"fmt"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/snapshot"
	"gitagent/internal/version"
	"gitagent/turns"
)

// describe returns a turn's record, except for its code commit, from the event,
// the transcript, and the paths that the snapshot left out.
func describe(f *inputs, e ending, s start, snap *snapshot.Snapshot) *turns.Turn {
	sum := e.summary
	t := &turns.Turn{
		V: record.Version, Kind: record.KindTurn, Mission: f.id, Turn: e.number,
		At: f.At, Started: s.at.UTC(), Outcome: f.outcome(), Agent: f.Agent, Session: f.Session, Program: version.Program(),
		PromptID: e.promptID, Model: called(sum.Model, maxModel),
		Base: s.base, Head: f.head, Branch: valid(strings.TrimPrefix(snap.Head.Branch, "refs/heads/")),
		Tools: toolsCalled(sum.Tools), Context: sum.Context, Output: sum.Output, Compactions: sum.Compactions, Tokens: byModel(sum.Tokens),
		Transcript: f.share(e),
	}
	if s.unknown {
		t.Base = object.Hash{}
	}
	if s.at.IsZero() {
		t.Started = sum.Started.UTC()
	}
	prompt, reply := sum.Prompt, sum.Reply
	if e.promptID == "" || e.promptID == s.promptID {
		t.PromptID = s.promptID
		// The event has the prompt as typed, while the transcript wraps a
		// paste; but it may be about another prompt, typed meanwhile.
		if prompt == "" || s.prompt != "" && strings.Contains(f.rules.String(turns.Clip(prompt)), s.prompt) {
			prompt = s.prompt
		}
	}
	if e.seen {
		if f.PromptID != "" && f.Event != Prompted && f.Event != Ended {
			t.PromptID = f.PromptID
		}
		if f.Event != Prompted {
			prompt = cmp.Or(prompt, f.Prompt)
			reply = cmp.Or(f.Reply, reply)
		}
		for _, skip := range snap.Skipped[:min(len(snap.Skipped), record.MaxSkipped)] {
			t.Skipped = append(t.Skipped, record.Skip{Path: valid(skip.Path), Why: skip.Why})
		}
	} else {
		t.Outcome = record.Interrupted
	}
	if t.Outcome == record.Interrupted && sum.APIError && !sum.Interrupted && f.Outcome == "" && !(e.seen && f.Event == Halted) {
		t.Outcome = record.Failed
	}
	if t.Home = f.Home; f.Away {
		prompt = cmp.Or(f.Prompt, s.prompt)
	}
	t.Prompt = recordedPrompt(f.rules, prompt)
	t.Reply = ledger.Tail(valid(f.rules.String(clipEnd(reply))), record.MaxReply)
	return t
}

// recordedPrompt returns a prompt as records have it.
func recordedPrompt(rules *redact.Rules, prompt string) string {
	return ledger.Head(valid(rules.String(turns.Clip(prompt))), record.MaxPrompt)
}

// called returns an untrusted name as records have it. A user's own rules leave
// it alone, as they do in transcripts.
func called(name string, most int) string {
	var builtIn *redact.Rules
	return ledger.Head(valid(builtIn.String(turns.Clip(name))), most)
}

// maxTool is how much of a tool's name a record keeps, in runes.
const maxTool = 100

func toolsCalled(found map[string]int) map[string]int {
	var m map[string]int
	for tool, n := range found {
		if m == nil {
			m = make(map[string]int, len(found))
		}
		m[called(tool, maxTool)] += n
	}
	return m
}

// share returns where the turn's segment is in the client's file, or nil.
func (f *inputs) share(e ending) *record.Segment {
	if f.segment.none {
		return nil
	}
	from := f.segment.from
	seg := &record.Segment{After: e.after, From: from + int64(e.start), To: from + int64(e.end), Missing: f.segment.missing}
	if seg.Missing == "size" {
		seg.To = f.segment.Cursor.Offset
	}
	return seg
}

// valid replaces invalid UTF-8 with U+FFFD, for JSON.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func clipEnd(reply string) string { return reply[max(0, len(reply)-turns.MaxClip):] }

// subject returns the subject of a turn's commit, with quote the prompt, too.
func subject(turn int, prompt string, quote bool) string {
	s := fmt.Sprintf("turn %d", turn)
	if line := ledger.Head(turns.FirstLine(prompt), turns.MaxSubject); quote && line != "" {
		s += ": " + line
	}
	return s
}
