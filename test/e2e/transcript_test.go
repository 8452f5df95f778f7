//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A transcript is the client's own file of a session.
type transcript struct {
	path   string
	data   []byte
	runs   []exchange
	queued int // prompts that were ever put into the queue
}

// An exchange is one turn as the transcript tells it.
type exchange struct {
	promptID string
	began    int // offset of the line of the prompt
	last     int // offset of the end of the line of the last assistant record, or 0
	reply    string
}

// transcriptPath finds the file of a session wherever the client keeps it
// (entering a worktree moves it), or returns "".
func (r *rig) transcriptPath(session string) string {
	found, _ := filepath.Glob(filepath.Join(r.home, ".claude*", "projects", "*", session+".jsonl"))
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// transcript reads the file of a session.
func (r *rig) transcript(session string) transcript {
	r.t.Helper()
	return r.kind.transcript(r, session)
}

func (claude) transcript(r *rig, session string) transcript {
	r.t.Helper()
	path := r.transcriptPath(session)
	if path == "" {
		r.t.Fatalf("the client keeps no file of session %s, or two\n%s", session, r.report())
	}
	return readTranscript(r.t, path)
}

func readTranscript(t testing.TB, path string) transcript {
	t.Helper()
	data, err := os.ReadFile(path)
	gittest.Must(t, err)
	tr := transcript{path: path, data: data}
	offset := 0
	for line := range bytes.Lines(data) {
		began := offset
		offset += len(line)
		var rec struct {
			Type             string `json:"type"`
			Operation        string `json:"operation"`
			PromptID         string `json:"promptId"`
			TurnOrigin       any    `json:"turnOrigin"`
			IsSidechain      bool   `json:"isSidechain"`
			IsCompactSummary bool   `json:"isCompactSummary"`
			IsAPIError       bool   `json:"isApiErrorMessage"`
			Message          struct {
				Model   string          `json:"model"`
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("read %s at byte %d: %v", path, began, err)
		}
		switch {
		case rec.IsSidechain:
		case rec.Message.Model == "<synthetic>" && !rec.IsAPIError:
			// "No response requested.": added to a turn that was cut off, when the session goes on.
		case rec.Type == "queue-operation" && rec.Operation == "enqueue":
			tr.queued++
		case rec.Type == "user" && rec.TurnOrigin != nil && !rec.IsCompactSummary:
			tr.runs = append(tr.runs, exchange{promptID: rec.PromptID, began: began})
		case rec.Type == "assistant" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last = offset
			var blocks []struct{ Type, Text string }
			json.Unmarshal(rec.Message.Content, &blocks)
			for _, b := range blocks {
				if b.Type == "text" {
					run.reply = b.Text
				}
			}
		}
	}
	return tr
}

// exchange returns the last turn with a prompt id.
// There are several in a fork by the client, which gives all old prompts one new id.
func (tr transcript) exchange(promptID string) (exchange, bool) {
	for _, x := range slices.Backward(tr.runs) {
		if x.promptID == promptID {
			return x, true
		}
	}
	return exchange{}, false
}

// A hookRecord is what the client noted in a transcript about a hook that was heard:
// it wrote something, failed, or had a message for somebody.
type hookRecord struct {
	Type     string // hook_success, hook_blocking_error, ...
	Event    string `json:"hookEvent"`
	Stdout   string
	Stderr   string
	ExitCode int
	Command  string
}

// heard returns the records about hooks of the recording.
func (r *rig) heard(session string) []hookRecord {
	r.t.Helper()
	var all []hookRecord
	for line := range bytes.Lines(r.transcript(session).data) {
		var rec struct {
			Attachment hookRecord `json:"attachment"`
		}
		json.Unmarshal(line, &rec)
		if h := rec.Attachment; strings.HasPrefix(h.Type, "hook_") && slices.Contains(recording, h.Event) {
			all = append(all, h)
		}
	}
	return all
}
