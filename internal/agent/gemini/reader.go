package gemini

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
)

// Reader reads the file of a session, to which the client only appends. A line
// is
//
//   - a message, with an id: of the user, of the model (gemini), or of the
//     client to the user (info, warning, error). A message is written again,
//     whole, when its tools have run.
//   - {"$set":{"messages":[...]}}: the conversation from here on, after a
//     session was resumed, compressed, or forgot a prompt that failed.
//   - {"$rewindTo":id}: the user has gone back to before a message.
//   - {"$set":...} with something else, or the head, {"sessionId":...}, which
//     is repeated if the session was resumed within the same minute.
//
// A new message always has its own line first, so words are read only there.
//
// The client sends tools' results in the user's place, and some words of its
// own; hooks' words to the model are before or behind the user's prompt, or in
// a message like it.
func Reader() transcript.Reader { return &reader{} }

type reader struct {
	headed  bool            // after the head, before a message
	running bool            // a turn has begun without an answer
	message string          // the model's last message
	done    map[string]bool // this turn's calls that were told; true with their answer
}

func (r *reader) Read(at int, line []byte) transcript.Entry {
	if !bytes.HasPrefix(line, []byte{'{'}) || bytes.HasPrefix(line, []byte(`{"$set":{"lastUpdated":`)) || !json.Valid(line) {
		return transcript.Entry{}
	}
	record := gjson.ParseBytes(line)
	e := transcript.Entry{At: transcript.Moment(record.Get("timestamp").Str)}
	switch record.Get("type").Str {
	case "user":
		r.user(at, record, &e)
	case "gemini":
		r.model(record, &e)
	case "error":
		e.Failed = true
		e.Parts = []transcript.Part{{Kind: transcript.Said, Text: fault(texts(record.Get("content")))}}
	case "info":
		e.Interrupted = record.Get("content").Str == "Request cancelled."
	case "":
		return r.set(record)
	}
	return e
}

func (r *reader) set(record gjson.Result) (e transcript.Entry) {
	if record.Get("sessionId").Exists() {
		r.headed = true
		return e
	}
	updated := transcript.Moment(record.Get("$set.lastUpdated").Str)
	record.Get("$set.messages").ForEach(func(_, m gjson.Result) bool {
		if m.Get("type").Str != "user" || r.headed {
			return !r.headed
		}
		gist := texts(m.Get("content"))
		if strings.HasPrefix(gist, "<state_snapshot>") && updated.Sub(transcript.Moment(m.Get("timestamp").Str)) < time.Second {
			e.At, e.Compacted = updated, &transcript.Compacted{Auto: r.running}
			e.Parts = []transcript.Part{{Kind: transcript.Gist, Text: gist}}
		}
		return e.Compacted == nil
	})
	return e
}

func (r *reader) user(at int, record gjson.Result, e *transcript.Entry) {
	id, content := transcript.Kept(record.Get("id")), record.Get("content")
	r.headed = false
	e.ID = id
	said := texts(content)
	prompt := typed(said)
	switch {
	case content.Get("#.functionResponse").Get("0").Exists():
		if steered := steering(prompt); steered != "" {
			e.Parts = []transcript.Part{{Kind: transcript.Queued, Text: steered}}
		}
		return // the model's message has the results, too
	case strings.TrimSpace(prompt) == "" || strings.HasPrefix(prompt, "<session_context>") || prompt == "Please continue.":
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: said}}
		return
	}
	if shown := record.Get("displayContent"); shown.Exists() {
		prompt = typed(texts(shown))
	}
	r.running, r.done = true, nil
	e.Opens = &transcript.FileTurn{Start: at, UUID: id, PromptID: id, Prompt: prompt, At: e.At}
	e.Parts = []transcript.Part{{Kind: transcript.Asked, Text: prompt, Files: attached(content)}}
}

// steering returns what the user typed while the turn ran, which the client sends
// with the results of tools, if the user has set experimental.modelSteering; or "".
func steering(text string) string {
	_, text, found := strings.Cut(text, "User steering update:\n<user_input>\n")
	text, _, ended := strings.Cut(text, "\n</user_input>")
	if !found || !ended {
		return ""
	}
	return text
}

// model reads a message of the model. Its input includes what was read from a
// cache; its output excludes thoughts.
func (r *reader) model(record gjson.Result, e *transcript.Entry) {
	id, content := transcript.Kept(record.Get("id")), record.Get("content")
	again := id == r.message
	r.message, r.headed = id, false
	e.Message, e.Model = id, transcript.Kept(record.Get("model"))
	if t := record.Get("tokens"); t.IsObject() {
		input := transcript.Count(t.Get("input"))
		e.Tokens.CacheRead = min(input, transcript.Count(t.Get("cached")))
		e.Tokens.Input = input - e.Tokens.CacheRead + transcript.Count(t.Get("tool"))
		e.Tokens.Output = transcript.Count(t.Get("output")) + transcript.Count(t.Get("thoughts"))
		e.Context = input + transcript.Count(t.Get("tool"))
	}
	said := texts(content)
	if !again {
		record.Get("thoughts").ForEach(func(_, t gjson.Result) bool {
			thought := strings.Trim(transcript.Kept(t.Get("subject"))+"\n"+transcript.Kept(t.Get("description")), "\n")
			e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Thought, Text: thought})
			return true
		})
		if strings.TrimSpace(said) != "" {
			e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Said, Text: said})
		}
	}
	calls := 0
	record.Get("toolCalls").ForEach(func(_, call gjson.Result) bool {
		calls++
		r.call(call, e)
		return true
	})
	e.Answers = calls == 0 && strings.TrimSpace(said) != ""
	if e.Answers {
		r.running = false
	}
}

func (r *reader) call(call gjson.Result, e *transcript.Entry) {
	id := transcript.Kept(call.Get("id"))
	answered, told := r.done[id]
	if !told {
		e.Parts = append(e.Parts, transcript.Part{
			Kind: transcript.Call, Call: id, Name: transcript.Kept(call.Get("name")), Input: gjson.Parse(strings.Clone(call.Get("args").Raw)),
		})
	}
	result := call.Get("result")
	if !answered && result.Exists() {
		status := call.Get("status").Str
		a := transcript.Part{Kind: transcript.Answer, Call: id, Failed: status == "error" || status == "cancelled"}
		if a.Text = transcript.Kept(result); a.Text == "" {
			a.Text = answers(result)
		}
		a.Ended = exited(a.Text, status)
		e.Parts = append(e.Parts, a)
	}
	if r.done == nil {
		r.done = make(map[string]bool)
	}
	r.done[id] = answered || result.Exists()
}

// exited returns how a command ended: behind its output the client tells what was
// not as it should be, and the group of processes.
func exited(said, status string) evidence.Ended {
	tail := said[max(0, len(said)-4<<10):]
	switch {
	case status == "cancelled", strings.Contains(tail, "\nSignal: "), strings.Contains(said, "Command was cancelled"), strings.Contains(said, "Command was automatically cancelled"):
		return evidence.Ended{How: evidence.Halted}
	case strings.Contains(said, "Command moved to background"), strings.Contains(tail, "\nBackground PIDs: "):
		return evidence.Ended{How: evidence.GoesOn}
	}
	if e, ok := evidence.ExitOf(tail, "Exit Code: "); ok {
		return e
	}
	if status == "success" && strings.Contains(tail, "\nProcess Group PGID: ") {
		return evidence.Exit(0)
	}
	return evidence.Ended{}
}

func answers(result gjson.Result) string {
	var all []string
	result.ForEach(func(_, part gjson.Result) bool {
		response := part.Get("functionResponse.response")
		for _, field := range []string{"output", "error"} {
			if t := transcript.Kept(response.Get(field)); t != "" {
				all = append(all, t)
			}
		}
		return true
	})
	return strings.Join(all, "\n")
}

func texts(content gjson.Result) string {
	if content.Type == gjson.String {
		return transcript.Kept(content)
	}
	var all []string
	content.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Type == gjson.String && part.Get("thought").Type != gjson.True {
			if s := transcript.Kept(t); typed(s) != "" || s == "" { // added by hooks
				all = append(all, s)
			}
		}
		return true
	})
	return strings.Join(all, "\n")
}

func attached(content gjson.Result) (files []transcript.Attached) {
	content.ForEach(func(_, part gjson.Result) bool {
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
	return files
}

// fault returns an error's message, without the client's frame around JSON.
func fault(said string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(said, "[API Error: "), "]")
	if message := gjson.Get(inner, "error.message"); transcript.Valid([]byte(inner)) && message.Type == gjson.String {
		return transcript.Kept(message)
	}
	return said
}
