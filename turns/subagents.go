package turns

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
)

// MaxSubagents is how many subagents a turn records; the rest is left for the
// next.
const MaxSubagents = 100

// SubagentPath returns the path of a subagent's part; its id must be valid.
func SubagentPath(turn int, id string) string {
	return ledger.TurnPath("transcript", turn, "/"+id+".jsonl")
}

// Side returns the record of a subagent. Ids in records are untrusted.
func (t *Turn) Side(id string) (*record.Subagent, error) {
	i := slices.IndexFunc(t.Agents, func(s record.Subagent) bool { return s.ID == id && hooks.ValidID(s.ID) })
	if i < 0 {
		return nil, fmt.Errorf("sub-agent %s of turn %s: %w", id, t.After(), git.ErrNotFound)
	}
	return &t.Agents[i], nil
}

// WriteSubagent writes a subagent's part of a turn, as stored.
func WriteSubagent(ctx context.Context, repo *git.Repo, t *Turn, id string, w io.Writer) error {
	s, err := t.Side(id)
	if err == nil && s.Missing != "" {
		err = fmt.Errorf("sub-agent %s of turn %s: not stored (%s): %w", id, t.After(), s.Missing, git.ErrNotFound)
	}
	if err != nil {
		return err
	}
	return inLedger(ctx, repo, t, func(l *ledger.Ledger) error {
		return l.Stream(SubagentPath(t.Turn, id), func(r io.Reader) error { return copyAll(w, r) })
	})
}

// beside returns what to show of a turn's subagents; with full, all they did.
func beside(l *ledger.Ledger, t *Turn, full bool) []transcript.ShownSubagent {
	var list []transcript.ShownSubagent
	for _, s := range t.Agents {
		b := transcript.ShownSubagent{Call: s.Call, Text: SideLine(s)}
		if full && s.Missing == "" && hooks.ValidID(s.ID) {
			b.Show = func(w io.Writer) error {
				return l.Stream(SubagentPath(t.Turn, s.ID), func(r io.Reader) error { return copyAll(w, r) })
			}
		}
		list = append(list, b)
	}
	return list
}

// SideLine describes a subagent's part of a turn in a line, escaped.
func SideLine(s record.Subagent) string {
	text := "sub-agent " + cmdline.OneLine(s.ID)
	if s.Type != "" {
		text += ", " + cmdline.OneLine(s.Type)
	}
	text += ": " + cmdline.OneLine(string(s.Outcome)) + ", " + cmdline.Plural(s.Calls, "tool call")
	if t := s.Tokens.Sum(); t != (usage.Tokens{}) {
		text += fmt.Sprintf(", %s tokens read, %s written", cmp.Or(cmdline.Count(t.Sent()), "0"), cmp.Or(cmdline.Count(t.Output), "0"))
	}
	if s.Missing != "" {
		text += ", not stored: " + cmdline.OneLine(s.Missing)
	}
	return text
}
