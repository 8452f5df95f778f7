package qwen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
)

// Reader reads the file of a session, to which the client only appends. A line
// is a record with an id and its parent's. Its type is user, assistant,
// tool_result or system; most of those of the system are telemetry.
//
// A turn begins with a record of the user's without a subtype, or where the
// client speaks in the user's place: a task in the background has ended
// (notification), or a time has come (cron). The client's words to the model are
// the first part of a prompt, hooks' words the last.
//
// A record of the assistant's is a whole message. After a rewind the next
// record's parent is an earlier one: see [Continues].
func Reader() transcript.Reader { return reader{} }

type reader struct{}

func (reader) Read(at int, line []byte) (e transcript.Entry) {
	if !matters(line) || !json.Valid(line) {
		return e
	}
	record := gjson.ParseBytes(line)
	e.ID, e.Cwd = transcript.Kept(record.Get("uuid")), transcript.Kept(record.Get("cwd"))
	e.At = transcript.Moment(record.Get("timestamp").Str)
	e.Subagent = record.Get("isSidechain").Type == gjson.True
	switch record.Get("type").Str {
	case "user":
		user(at, record, &e)
	case "assistant":
		model(record, &e)
	case "tool_result":
		e.Parts = answers(record)
		e.Interrupted = record.Get("toolCallResult.status").Str == cancelled
	case "system":
		system(record, &e)
	}
	return e
}

// matters reports whether a line may say anything. Most are telemetry, of which
// only failures do.
func matters(line []byte) bool {
	if !bytes.HasPrefix(line, []byte{'{'}) {
		return false
	}
	switch gjson.GetBytes(line, "type").Str {
	case "user", "assistant", "tool_result":
		return true
	case "system":
		switch gjson.GetBytes(line, "subtype").Str {
		case "chat_compression", "slash_command":
			return true
		case "ui_telemetry":
			return gjson.GetBytes(line, "systemPayload.uiEvent").Get(`event\.name`).Str == failed
		}
	}
	return false
}

// failed is the name of the event that a request has failed. The client may try
// again.
const failed = "qwen-code.api_error"

func user(at int, record gjson.Result, e *transcript.Entry) {
	said, files := words(record.Get("message.parts"))
	shown := transcript.Kept(record.Get("systemPayload.displayText"))
	t := &transcript.FileTurn{Start: at, UUID: e.ID, PromptID: e.ID, Prompt: cmp.Or(shown, said), Cwd: e.Cwd, At: e.At}
	subtype := record.Get("subtype").Str
	switch {
	case subtype == "":
		e.Parts = []transcript.Part{{Kind: transcript.Asked, Text: t.Prompt, Files: files}}
	case opens(subtype):
		t.Origin = "task_notification"
		e.Parts = []transcript.Part{{Kind: transcript.Task, Name: t.Prompt, Text: between(said, "<result>", "</result>")}}
	case subtype == "mid_turn_user_message":
		e.Parts = []transcript.Part{{Kind: transcript.Queued, Text: t.Prompt, Files: files}}
	default:
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: said}}
	}
	if opens(subtype) && !e.Subagent {
		e.Opens, e.PromptID = t, t.PromptID
	}
}

// opens reports whether a user's record with a subtype begins a turn.
func opens(subtype string) bool {
	return subtype == "" || subtype == "notification" || subtype == "cron"
}

// model reads a message. Its input includes what was read from a cache.
func model(record gjson.Result, e *transcript.Entry) {
	e.Message, e.Model = e.ID, transcript.Kept(record.Get("model"))
	e.Window = transcript.Count(record.Get("contextWindowSize"))
	e.Tokens, e.Context = spent(record.Get("usageMetadata"))
	calls := 0
	record.Get("message.parts").ForEach(func(_, part gjson.Result) bool {
		switch call := part.Get("functionCall"); {
		case call.IsObject():
			calls++
			p := transcript.Part{
				Kind: transcript.Call, Call: transcript.Kept(call.Get("id")), Name: transcript.Kept(call.Get("name")),
				Input: gjson.Parse(strings.Clone(call.Get("args").Raw)),
			}
			e.Parts = append(e.Parts, p)
			if p.Name == "todo_write" {
				e.Todos = todos(p.Input.Get("todos"))
			}
		case part.Get("text").Type == gjson.String:
			p := transcript.Part{Kind: transcript.Said, Text: transcript.Kept(part.Get("text"))}
			if part.Get("thought").Type == gjson.True {
				p.Kind = transcript.Thought
			}
			if n := len(e.Parts); n > 0 && e.Parts[n-1].Kind == p.Kind { // a text comes in pieces
				e.Parts[n-1].Text += p.Text
			} else {
				e.Parts = append(e.Parts, p)
			}
		}
		return true
	})
	said := len(e.Parts) > 0 && e.Parts[len(e.Parts)-1].Kind == transcript.Said && strings.TrimSpace(e.Parts[len(e.Parts)-1].Text) != ""
	e.Answers = calls == 0 && said
	e.Stopped = e.Answers
}

// spent returns what a message took, and all of its input. Services differ in
// whether the output that they tell includes thoughts; the total always does.
func spent(usage gjson.Result) (t transcript.Tokens, context int64) {
	context = transcript.Count(usage.Get("promptTokenCount"))
	t.CacheRead = min(context, transcript.Count(usage.Get("cachedContentTokenCount")))
	t.Input = context - t.CacheRead
	said, thought := transcript.Count(usage.Get("candidatesTokenCount")), transcript.Count(usage.Get("thoughtsTokenCount"))
	total := transcript.Count(usage.Get("totalTokenCount"))
	switch {
	case total > context:
		t.Output = total - context
	case said > thought:
		t.Output = said
	default:
		t.Output = said + thought
	}
	return t, context
}

// maxTodos bounds a list.
const maxTodos = 1000

func todos(list gjson.Result) []transcript.Todo {
	all := []transcript.Todo{}
	list.ForEach(func(_, item gjson.Result) bool {
		if text := transcript.Kept(item.Get("content")); text != "" {
			all = append(all, transcript.Todo{Text: text, Status: transcript.Kept(item.Get("status"))})
		}
		return len(all) < maxTodos
	})
	return all
}

// cancelled is the status of a call that the person has stopped or refused: the
// client then waits for them.
const cancelled = "cancelled"

func answers(record gjson.Result) (list []transcript.Part) {
	status := record.Get("toolCallResult.status").Str
	record.Get("message.parts").ForEach(func(_, part gjson.Result) bool {
		if response := part.Get("functionResponse"); response.IsObject() {
			_, files := words(response.Get("parts"))
			said := cmp.Or(transcript.Kept(response.Get("response.output")), transcript.Kept(response.Get("response.error")))
			list = append(list, transcript.Part{
				Kind: transcript.Answer, Call: transcript.Kept(response.Get("id")), Files: files,
				Text: said, Ended: exited(said, status), Failed: status == "error" || status == cancelled,
			})
		}
		return true
	})
	return list
}

// exited returns how a command ended, by what the client tells behind its output.
func exited(said, status string) evidence.Ended {
	tail := said[max(0, len(said)-4<<10):]
	_, signal, killed := strings.Cut(tail, "\nSignal: ")
	switch e, ok := evidence.ExitOf(tail, "Exit Code: "); {
	case status == cancelled, killed && !strings.HasPrefix(signal, "(none)"), strings.Contains(said, "Command was cancelled"), strings.Contains(said, "Command timed out"):
		return evidence.Ended{How: evidence.Halted}
	case ok:
		return e
	case strings.Contains(said, "ackground") && status != "error":
		return evidence.Ended{How: evidence.GoesOn}
	case status == "error":
		return evidence.Ended{How: evidence.Refused}
	}
	return evidence.Ended{}
}

func system(record gjson.Result, e *transcript.Entry) {
	payload := record.Get("systemPayload")
	switch record.Get("subtype").Str {
	case "chat_compression":
		info := payload.Get("info")
		e.Compacted = &transcript.Compacted{
			Auto:   info.Get("triggerReason").Str != "manual",
			Tokens: transcript.Count(info.Get("originalTokenCount")), Left: transcript.Count(info.Get("newTokenCount")),
		}
		gist, _ := words(payload.Get("compressedHistory.0.parts"))
		e.Parts = []transcript.Part{{Kind: transcript.Gist, Text: gist}}
	case "slash_command":
		command(payload, e)
	case "ui_telemetry":
		event := payload.Get("uiEvent")
		if strings.Contains(event.Get("prompt_id").Str, ofPerson) {
			e.Failed, e.Stopped = true, true
			e.Parts = []transcript.Part{{Kind: transcript.Said, Text: transcript.Kept(event.Get("error_message"))}}
		}
	}
}

// command reads a command that the client itself carries out, and what it has
// shown then.
func command(payload gjson.Result, e *transcript.Entry) {
	switch {
	case payload.Get("sentToModel").Type == gjson.True:
	case payload.Get("phase").Str == "invocation":
		e.Parts = []transcript.Part{{Kind: transcript.Asked, Text: transcript.Kept(payload.Get("rawCommand"))}}
	default:
		payload.Get("outputHistoryItems").ForEach(func(_, item gjson.Result) bool {
			if text := transcript.Kept(item.Get("text")); text != "" {
				e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Shell, Text: text})
			}
			return true
		})
	}
}

// words returns the texts of parts, without what hooks have added, and what is
// not text.
func words(parts gjson.Result) (string, []transcript.Attached) {
	var all []string
	var files []transcript.Attached
	parts.ForEach(func(_, part gjson.Result) bool {
		if text := part.Get("text"); text.Type == gjson.String && !told(text.Str) {
			all = append(all, transcript.Kept(text))
		}
		if data := part.Get("inlineData"); data.IsObject() {
			media := transcript.Kept(data.Get("mimeType"))
			kind := "document"
			if strings.HasPrefix(media, "image/") {
				kind = "image"
			}
			files = append(files, transcript.Attached{Kind: kind, Media: media, Size: int64(len(data.Get("data").Str) / 4 * 3)})
		}
		return true
	})
	return strings.Join(all, "\n"), files
}

// told reports whether a part of a prompt is hooks' words or the client's.
func told(text string) bool {
	text = strings.TrimSpace(text)
	for _, frame := range []string{"qwen:user-prompt-submit-context>\n", "system-reminder>\n"} {
		if strings.HasPrefix(text, "<"+frame) && strings.HasSuffix(text, "</"+strings.TrimSuffix(frame, "\n")) {
			return true
		}
	}
	return false
}

// fault returns what was said without the client's frame of an error's message,
// or its word for nothing.
func fault(said string) string {
	if said == "[no response text]" {
		return ""
	}
	if inner, ok := strings.CutPrefix(said, "[API Error: "); ok {
		return strings.TrimSuffix(inner, "]")
	}
	return said
}

func between(s, open, end string) string {
	_, s, _ = strings.Cut(s, open)
	i := strings.LastIndex(s, end)
	return s[:max(0, i)]
}
