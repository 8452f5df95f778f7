//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A turn is the record of a turn as `git agent-turn list --json` prints it.
type turn struct {
	V          int       `json:"v"`
	Kind       string    `json:"kind"`
	Mission    string    `json:"mission"`
	Turn       int       `json:"turn"`
	At         time.Time `json:"at"`
	Started    time.Time `json:"started"`
	Outcome    string    `json:"outcome"`
	Agent      string    `json:"agent"`
	Model      string    `json:"model"`
	Session    string    `json:"session"`
	PromptID   string    `json:"prompt_id"`
	Prompt     string    `json:"prompt"`
	Reply      string    `json:"reply"`
	Code       string    `json:"code"`
	Base       string    `json:"base"`
	Head       string    `json:"head"`
	Branch     string    `json:"branch"`
	Files      int       `json:"files"`
	Insertions int       `json:"insertions"`
	Deletions  int       `json:"deletions"`
	Paths      []string  `json:"paths"`
	Skipped    []struct {
		Path string `json:"path"`
		Why  string `json:"why"`
	} `json:"skipped"`
	Tools       map[string]int `json:"tools"`
	Context     int            `json:"context"`
	Compactions int            `json:"compactions"`
	Tokens      tokens         `json:"tokens"`
	Agents      []subagentDid  `json:"agents"`
	Imported    string         `json:"imported"`
	Home        *struct {
		Mission string `json:"mission"`
		Turn    int    `json:"turn"`
	} `json:"home"`
	Checked    string                     `json:"checked"`
	Checks     []struct{ Outcome string } `json:"checks"`
	Transcript struct {
		Path  string `json:"path"`
		After int    `json:"after"`
		Bytes int    `json:"bytes"`
	} `json:"transcript"`
}

// A subagentDid is what a turn's record says of a sub-agent.
type subagentDid struct {
	ID      string `json:"id"`
	Call    string `json:"call"`
	Outcome string `json:"outcome"`
	Calls   int    `json:"calls"`
	Tokens  tokens `json:"tokens"`
	Bytes   int    `json:"bytes"`
	From    int    `json:"from"`
	To      int    `json:"to"`
}

// did is how it ended, and how many tools it called.
func (s subagentDid) did() string { return fmt.Sprintf("%s %d", s.Outcome, s.Calls) }

// tokens are what models took, by their names.
type tokens map[string]struct {
	Output int `json:"output"`
}

func (t tokens) output() int {
	n := 0
	for _, of := range t {
		n += of.Output
	}
	return n
}

func (t turn) String() string {
	return fmt.Sprintf("%s/%d %s %q session=%.8s code=%.8s base=%.8s segment=%s after %d",
		t.Mission, t.Turn, t.Outcome, t.Prompt, t.Session, t.Code, t.Base, t.Transcript.Path, t.Transcript.After)
}

// list returns the turns of all missions in the repository, by mission and number.
func (r *rig) list() []turn {
	r.t.Helper()
	return r.decode(r.command(r.repo.Dir, "list", "--all", "--json"))
}

func (r *rig) decode(lines string) []turn {
	r.t.Helper()
	var all []turn
	for line := range strings.Lines(lines) {
		var t turn
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			r.t.Fatalf("list --json: %v: %s", err, line)
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.Mission, b.Mission), cmp.Compare(a.Turn, b.Turn))
	})
	return all
}

// passive is the id of the mission that a session records to
// when nothing else says which: the last 8 hex digits of its id.
func passive(session string) string { return session[len(session)-8:] }

func ledgerRef(mission string) string { return "refs/agent/missions/" + mission }

// show returns a file of a mission's ledger, byte for byte.
func (r *rig) show(mission, path string) string {
	r.t.Helper()
	// Feed trims one newline at the end, so ask for the size too.
	object := ledgerRef(mission) + ":" + path
	out, err := r.repo.Feed(object+"\n", "cat-file", "--batch")
	head, body, _ := strings.Cut(out, "\n")
	if err != nil || !strings.Contains(head, " blob ") {
		r.t.Fatalf("%s: %v: %s\n%s", object, err, head, r.report())
	}
	return body
}

// conversation follows a turn's segments back to the one that begins
// the conversation and returns all of them, in order.
func (r *rig) conversation(turns []turn, of turn) string {
	r.t.Helper()
	byNumber := map[int]turn{}
	for _, t := range turns {
		if t.Mission == of.Mission {
			byNumber[t.Turn] = t
		}
	}
	var segments []string
	for t := of; ; {
		if t.Transcript.Path == "" {
			r.t.Fatalf("turn without a segment: %v\n%s", t, r.report())
		}
		s := r.show(t.Mission, t.Transcript.Path)
		if len(s) != t.Transcript.Bytes {
			r.t.Errorf("%v: segment has %d bytes, record says %d", t, len(s), t.Transcript.Bytes)
		}
		segments = append(segments, s)
		if t.Transcript.After == 0 {
			break
		}
		before, ok := byNumber[t.Transcript.After]
		if !ok || before.Turn >= t.Turn {
			r.t.Fatalf("%v comes after a turn that is not there\n%s", t, r.report())
		}
		t = before
	}
	slices.Reverse(segments)
	return strings.Join(segments, "")
}
