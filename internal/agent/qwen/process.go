package qwen

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// Event decodes a payload. The client's own ids of prompts are not in the
// records of prompts, and are given again after a rewind and a resumption. So
// a turn's id is that of its record, which is not there yet when it begins.
//
// UserPromptSubmit comes again with each request of a turn: without a prompt
// after tools, with a Stop hook's words when that lets the agent go on.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err != nil {
		return nil, err
	}
	request := e.PromptID
	e.PromptID = ""
	switch e.Name {
	case "UserPromptSubmit":
		goesOn := strings.TrimSpace(e.Prompt) == "" || request != "" && newest(e.TranscriptPath).request == request
		if e.Prompt = cmp.Or(e.Submitted, e.Prompt); goesOn && e.Submitted == "" {
			e.Name = ""
		}
	case "Stop", "StopFailure":
		e.LastAssistantMessage = fault(e.LastAssistantMessage)
		e.PromptID = ended(e.TranscriptPath, request, e.LastAssistantMessage)
	case "PostCompact": // it hands off after the fact: nothing else happens in between
		e.Name = "PreCompact"
	}
	return e, nil
}

// A latest is what the file's end says of the last turn.
type latest struct {
	id      string
	request string // the client's id of its prompt; "" if the turn was taken back, or no answer has come
	said    string // its answer
}

// ended returns the id of the turn that has ended with an answer to a request.
// The client may have written nothing of the turn yet: it has time for that
// when it has begun what comes next, and a machine may be slow.
func ended(path, request, said string) string {
	const (
		step     = 20 * time.Millisecond
		settle   = 300 * time.Millisecond // without a change, where no answer is expected, or no file
		patience = 10 * time.Second
	)
	var last latest
	still := time.Duration(0)
	for range patience / step {
		now := newest(path)
		if still += step; now != last {
			last, still = now, 0
		}
		expected := said != "" && last.id != ""
		if request == "" || last.request == request && last.said == strings.TrimSpace(said) && expected || !expected && still >= settle {
			break
		}
		time.Sleep(step)
	}
	if last.request != "" && last.request != request { // another turn's
		return ""
	}
	return last.id
}

// newest returns the last turn of the file at path, or the zero latest.
func newest(path string) (last latest) {
	const most = 4 << 20 // a turn has its beginning within that
	data, err := transcript.LastTurn(path, Reader, most)
	if err != nil {
		return latest{}
	}
	r := Reader()
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		e := r.Read(0, line)
		switch {
		case e.Opens != nil:
			last = latest{id: e.Opens.PromptID}
		case e.Stopped:
			last.said = strings.TrimSpace(e.Parts[len(e.Parts)-1].Text)
		}
		switch gjson.GetBytes(line, "subtype").Str {
		case "rewind":
			last.request = ""
		case "ui_telemetry":
			if id := gjson.GetBytes(line, "systemPayload.uiEvent.prompt_id").Str; strings.Contains(id, ofPerson) {
				id, _, _ = strings.Cut(id, "/") // which may say that the client asked by itself
				last.request = strings.Clone(id)
			}
		}
	}
	return last
}

// ofPerson is in the client's ids of prompts, between the session's id and a
// number. It asks for more under other ids: for titles, summaries, sub-agents.
const ofPerson = "########"

// Client reads the variables of hooks and of the agent's commands.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.ReadEnvironment(getenv, "QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID")
	c.PID = session.Nearest(func(p session.Process) bool { return runs(session.Argv(p.PID)) }).PID
	return c
}

// runs reports whether a command line is the client's. It is a script, so the
// system's name of the process is node, and it starts itself again: a program
// of its own, which only waits, is its parent.
func runs(args []string) bool {
	switch dir, name := filepath.Split(filepath.ToSlash(session.Program(args))); name {
	case Program:
		return true
	case "cli.js", "cli-entry.js":
		return strings.HasSuffix(dir, "/qwen-code/")
	}
	return false
}

// Variables are set for the agent's commands.
var Variables = []string{"QWEN_CODE", "QWEN_CODE_SESSION_ID"}
