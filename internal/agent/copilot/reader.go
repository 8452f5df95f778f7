package copilot

import (
	"cmp"
	"encoding/json"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
)

// Reader reads a session's events.jsonl. A line is an event,
//
//	{"type":..,"data":{..},"id":..,"timestamp":..,"parentId":..,"agentId":..}
//
// with agentId in all that a sub-agent does. /rewind removes lines from the
// file's end; else it is only appended to.
//
// A turn is an interaction: a message of the user, and for each request the
// tokens that it took, the model's message, and the results of its tools. What
// the user types meanwhile (steering), or a skill, a schedule or another agent
// says in the user's place, belongs to it. The client also writes down the hooks
// that it runs: the one for the end of a turn comes after all that was said.
func Reader() transcript.Reader { return reader{} }

type reader struct{}

func (reader) Read(at int, line []byte) transcript.Entry {
	read := events()[gjson.GetBytes(line, "type").Str]
	if read == nil || !json.Valid(line) {
		return transcript.Entry{}
	}
	event := gjson.ParseBytes(line)
	e := transcript.Entry{ID: text(event, "id"), At: transcript.Moment(event.Get("timestamp").Str), Subagent: event.Get("agentId").Exists()}
	read(event.Get("data"), &e)
	if e.Opens != nil {
		e.Opens.Start = at
	}
	return e
}

// events are the types of events that say something.
var events = sync.OnceValue(func() map[string]func(data gjson.Result, e *transcript.Entry) {
	return map[string]func(data gjson.Result, e *transcript.Entry){
		"session.start":               begins,
		"session.resume":              begins,
		"session.context_changed":     func(data gjson.Result, e *transcript.Entry) { e.Cwd = text(data, "cwd") },
		"session.model_change":        func(data gjson.Result, e *transcript.Entry) { e.Model = text(data, "newModel") },
		"session.usage_record":        spends,
		"session.compaction_complete": compacts,
		"session.error":               fails,
		"abort":                       func(_ gjson.Result, e *transcript.Entry) { e.Interrupted = true },
		"user.message":                asks,
		"system.notification":         notifies,
		"assistant.message":           says,
		"tool.user_requested":         commands,
		"tool.execution_complete":     answers,
		"hook.start":                  ends,
	}
})

func begins(data gjson.Result, e *transcript.Entry) {
	e.Cwd, e.Model = text(data, "context.cwd"), text(data, "selectedModel")
}

func asks(data gjson.Result, e *transcript.Entry) {
	e.PromptID = text(data, "interactionId")
	p := transcript.Part{Kind: transcript.Asked, Text: text(data, "content"), Files: attached(data.Get("attachments"))}
	source := data.Get("source").Str
	switch {
	case e.Subagent, source != "" && source != "user", data.Get("isAutopilotContinuation").Bool():
		p.Kind = transcript.Told
	case data.Get("delivery").Str == "steering":
		p.Kind = transcript.Queued
	default:
		e.Opens = &transcript.FileTurn{UUID: e.ID, PromptID: e.PromptID, Prompt: p.Text, At: e.At}
		if data.Get("delivery").Str == "queued" {
			e.Opens.Source = "queued"
		}
	}
	e.Parts = []transcript.Part{p}
}

// attached describes the images and documents that the model was sent. Of
// other files it was sent the names.
func attached(list gjson.Result) (files []transcript.Attached) {
	list.ForEach(func(_, a gjson.Result) bool {
		if media := text(a, "mimeType"); media != "" {
			kind := "document"
			if strings.HasPrefix(media, "image/") {
				kind = "image"
			}
			size := cmp.Or(transcript.Count(a.Get("byteLength")), int64(len(a.Get("data").Str)/4*3))
			files = append(files, transcript.Attached{Kind: kind, Media: media, Size: size})
		}
		return true
	})
	return files
}

// notifies reads what the client tells the model of something in the
// background. If the model is at rest, it then goes on with the last turn.
func notifies(data gjson.Result, e *transcript.Entry) {
	said := strings.TrimSuffix(strings.TrimPrefix(text(data, "content"), notice), "</system_notification>")
	e.Parts = []transcript.Part{{Kind: transcript.Task, Name: strings.TrimSpace(said)}}
}

// spends reads what a request took. Its input includes what was read from a
// cache, or written to one.
func spends(data gjson.Result, e *transcript.Entry) {
	u := data.Get("usage")
	e.Message, e.Model, e.Tokens = text(u, "apiCallId"), text(u, "model"), tokens(u)
	e.Context, e.Window = transcript.Count(u.Get("inputTokens")), transcript.Count(u.Get("maxPromptTokens"))
}

func tokens(u gjson.Result) (t transcript.Tokens) {
	input := transcript.Count(u.Get("inputTokens"))
	t.CacheRead = min(input, transcript.Count(u.Get("cacheReadTokens")))
	t.CacheWrite = min(input-t.CacheRead, transcript.Count(u.Get("cacheWriteTokens")))
	t.Input = input - t.CacheRead - t.CacheWrite
	t.Output = transcript.Count(u.Get("outputTokens"))
	return t
}

func says(data gjson.Result, e *transcript.Entry) {
	e.Message, e.Model = cmp.Or(text(data, "apiCallId"), text(data, "messageId")), text(data, "model")
	if thought := text(data, "reasoningText"); thought != "" {
		e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Thought, Text: thought})
	}
	said := text(data, "content")
	if strings.TrimSpace(said) != "" {
		e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Said, Text: said})
	}
	calls := false
	data.Get("toolRequests").ForEach(func(_, call gjson.Result) bool {
		calls = true
		e.Parts = append(e.Parts, transcript.Part{
			Kind: transcript.Call, Call: text(call, "toolCallId"), Name: text(call, "name"),
			Input: gjson.Parse(strings.Clone(call.Get("arguments").Raw)),
		})
		return true
	})
	e.Answers = !calls && strings.TrimSpace(said) != ""
	e.Stopped = e.Answers
}

// commands reads what the user has typed behind a "!": a shell's command, of
// which the model hears nothing.
func commands(data gjson.Result, e *transcript.Entry) {
	e.Parts = []transcript.Part{{Kind: transcript.Asked, Text: "!" + text(data, "arguments.command")}}
}

// answers reads a tool's result. A shell's command that exits with a status
// other than 0 is a success to the client.
func answers(data gjson.Result, e *transcript.Entry) {
	if data.Get("isUserRequested").Bool() {
		e.Parts = []transcript.Part{{Kind: transcript.Shell, Text: text(data, "result.content")}}
		return
	}
	e.PromptID = text(data, "interactionId")
	said := cmp.Or(text(data, "result.content"), text(data, "error.message"))
	e.Parts = []transcript.Part{{
		Kind: transcript.Answer, Call: text(data, "toolCallId"), Text: said, Ended: exited(data, said),
		Failed: !data.Get("success").Bool() || data.Get("shellExecution.exitCode").Num != 0,
	}}
}

// exited returns how a command ended: the client's note is behind its output.
func exited(data gjson.Result, said string) evidence.Ended {
	if code := data.Get("shellExecution.exitCode"); code.Type == gjson.Number {
		return evidence.Exit(int(code.Int()))
	}
	note := said[max(0, strings.LastIndex(said, "shellId: ")):]
	job, rest, ok := strings.Cut(strings.TrimPrefix(note, "shellId: "), " ")
	switch {
	case !ok || job == said:
	case strings.HasPrefix(rest, "completed with exit code "):
		if e, ok := evidence.ExitOf(rest, "completed with exit code "); ok {
			return e
		}
	case strings.HasPrefix(rest, "is still running"):
		return evidence.Ended{How: evidence.GoesOn, Job: strings.Clone(job)}
	}
	if !data.Get("success").Bool() {
		return evidence.Ended{How: evidence.Refused}
	}
	return evidence.Ended{}
}

// fails reads an error that ends a turn, as the user saw it.
func fails(data gjson.Result, e *transcript.Entry) {
	e.Failed = true
	e.Parts = []transcript.Part{{Kind: transcript.Said, Text: text(data, "message")}}
}

// compacts reads a compaction that was carried out. It took tokens of its own.
func compacts(data gjson.Result, e *transcript.Entry) {
	e.Tokens = tokens(data.Get("compactionTokensUsed"))
	if !data.Get("success").Bool() {
		return
	}
	e.Compacted = &transcript.Compacted{
		Auto:   data.Get("trigger").Str != "manual",
		Tokens: transcript.Count(data.Get("preCompactionTokens")), Left: transcript.Count(data.Get("postCompactionTokens")),
	}
	e.Parts = []transcript.Part{{Kind: transcript.Gist, Text: text(data, "summaryContent")}}
}

// stopHook is what the file calls the hook for a turn's end.
const stopHook = "agentStop"

func ends(data gjson.Result, e *transcript.Entry) { e.Ended = data.Get("hookType").Str == stopHook }

func text(v gjson.Result, path string) string { return transcript.Kept(v.Get(path)) }
