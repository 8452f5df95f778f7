package droid

import (
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
//   - session_start, the first one, with the directory;
//   - a message, with an id: of the user, of the model, or of the client in the
//     user's place, which then says who sees it;
//   - compaction_state: the conversation from here on begins with a summary;
//   - agent_turn_outcome: how a turn ended, noted after the hook for its end.
//
// What the user alone sees is the run of a hook, or a notice, such as an error of
// the model's service. What the model alone sees is about tools and place. A fork
// of a session has a copy of its lines. There are no tokens: see [Spent].
func Reader() transcript.Reader { return new(reader) }

type reader struct {
	at      time.Time // of the last message
	running bool      // a turn has begun without an answer
	notice  string    // the last thing in the turn, if that is a notice
}

func (r *reader) Read(at int, line []byte) (e transcript.Entry) {
	kind := gjson.GetBytes(line, "type").Str
	switch kind {
	case "session_start", "message", "compaction_state", "agent_turn_outcome":
	default:
		return e
	}
	if !json.Valid(line) {
		return e
	}
	record := gjson.ParseBytes(line)
	switch kind {
	case "session_start":
		e.Cwd = text(record, "cwd")
		return e
	case "agent_turn_outcome":
		r.outcome(record.Get("reason").Str, &e)
		return e
	}
	e.ID = text(record, "id")
	e.At = transcript.Moment(record.Get("timestamp").Str)
	r.at = e.At
	if kind == "compaction_state" {
		e.Compacted = &transcript.Compacted{Auto: r.running}
		e.Parts = []transcript.Part{{Kind: transcript.Gist, Text: text(record, "summaryText")}}
		return e
	}
	switch message := record.Get("message"); {
	case message.Get("hookEventName").Exists():
	case message.Get("role").Str == "user":
		r.user(at, message, &e)
	case message.Get("role").Str == "assistant":
		r.model(message, &e)
	}
	return e
}

// outcome reads how a turn ended. The client has shown an error before.
func (r *reader) outcome(reason string, e *transcript.Entry) {
	switch reason {
	case "", "completed", "spec_handoff":
	case "cancelled", "permission_rejected", "process_exit":
		e.At, e.Interrupted = r.at, true
	default:
		e.At, e.Failed = r.at, true
		if r.notice != "" {
			e.Parts = []transcript.Part{{Kind: transcript.Said, Text: r.notice}}
		}
	}
	r.running, r.notice = false, ""
}

func (r *reader) user(at int, message gjson.Result, e *transcript.Entry) {
	before := r.notice
	r.notice = ""
	answers := results(message.Get("content"))
	said, files := words(message.Get("content"))
	switch visible := message.Get("visibility").Str; {
	case len(answers) > 0:
		e.Parts = answers
	case strings.TrimSpace(said) == "" && len(files) == 0:
		r.notice = before
	case visible == "user_only":
		r.notice = said
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: said}}
	case visible == "llm_only", message.Get("hiddenFromUserViews").Bool():
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: said}}
	default:
		r.running = true
		e.Opens = &transcript.FileTurn{Start: at, UUID: e.ID, PromptID: e.ID, Prompt: said, At: e.At}
		e.Parts = []transcript.Part{{Kind: transcript.Asked, Text: said, Files: files}}
	}
}

func (r *reader) model(message gjson.Result, e *transcript.Entry) {
	r.notice = ""
	e.Message, e.Model = e.ID, text(message, "modelId")
	calls, said := false, false
	each(message.Get("content"), func(part gjson.Result) {
		switch part.Get("type").Str {
		case "text":
			if words := text(part, "text"); strings.TrimSpace(words) != "" {
				said = true
				e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Said, Text: words})
			}
		case "thinking":
			e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Thought, Text: text(part, "thinking")})
		case "tool_use":
			calls = true
			e.Parts = append(e.Parts, transcript.Part{
				Kind: transcript.Call, Call: text(part, "id"), Name: text(part, "name"), Input: gjson.Parse(strings.Clone(part.Get("input").Raw)),
			})
		}
	})
	e.Failed = said && message.Get("isError").Bool()
	e.Answers = said && !calls && !e.Failed
	e.Stopped = e.Answers
	if e.Answers {
		r.running = false
	}
}

// words returns the text of a content, without what the client adds to it, and
// what is not text.
func words(content gjson.Result) (said string, files []transcript.Attached) {
	var all []string
	each(content, func(part gjson.Result) {
		switch kind := part.Get("type").Str; kind {
		case "text":
			if t := text(part, "text"); !strings.HasPrefix(t, reminder) || !content.Get("1").Exists() {
				all = append(all, t)
			}
		case "image", "document":
			source := part.Get("source")
			files = append(files, transcript.Attached{Kind: kind, Media: text(source, "media_type"), Size: int64(len(source.Get("data").Str) / 4 * 3)})
		}
	})
	return strings.Join(all, "\n"), files
}

// reminder begins the client's own words in a message.
const reminder = "<system-reminder>"

// results returns the answers of tools in a content.
func results(content gjson.Result) (answers []transcript.Part) {
	each(content, func(part gjson.Result) {
		if part.Get("type").Str == "tool_result" {
			said, files := words(part.Get("content"))
			answers = append(answers, transcript.Part{
				Kind: transcript.Answer, Call: text(part, "tool_use_id"), Text: said, Failed: part.Get("is_error").Bool(), Ended: exited(said, part.Get("is_error").Bool()), Files: files,
			})
		}
	})
	return answers
}

// exited returns how a command ended: the client's note is behind its output.
func exited(said string, failed bool) evidence.Ended {
	if e, ok := evidence.ExitOf(said[max(0, len(said)-1<<10):], "[Process exited with code "); ok {
		return e
	}
	if failed {
		return evidence.Ended{How: evidence.Halted}
	}
	return evidence.Ended{}
}

// each calls do with the parts of a content; a string is one of text.
func each(content gjson.Result, do func(part gjson.Result)) {
	if content.Type == gjson.String {
		do(gjson.Parse(`{"type":"text","text":` + content.Raw + `}`))
		return
	}
	content.ForEach(func(_, part gjson.Result) bool {
		do(part)
		return true
	})
}

func text(v gjson.Result, path string) string { return transcript.Kept(v.Get(path)) }
