package claude

import (
	"strings"

	"gitagent/internal/transcript"
)

// Reader reads a session's file.
//
// A line is a record; its "type" says which kind. Records with a "uuid" form
// the conversation; "isSidechain" marks those of a subagent, the rest is the
// main chain.
//
//	{"type":"user","promptId":"8154...","turnOrigin":"human",
//	 "message":{"content":"go on"},...}
//	{"type":"assistant","message":{"id":"msg_1",
//	 "content":[{"type":"text","text":"I look."}],...},...}
//	{"type":"assistant","message":{"id":"msg_1",
//	 "content":[{"type":"tool_use","name":"Bash",...}],...},...}
//	{"type":"user","promptId":"8154...",
//	 "message":{"content":[{"type":"tool_result",...}]},...}
//
// A message of the model has one content block per line; its lines share
// "message.id" and the usage figures. Records of the user or the machine in a
// turn have the turn's "promptId". Most bytes are records of other types, which
// say nothing about turns and are skipped undecoded.
func Reader() transcript.Reader { return new(reader) }

type reader struct {
	opener opener
	todos  todos

	blocks []quotedBlock // room for quoted
	said   []transcript.Quoted
}

// Read decodes a record. Other types and invalid lines give a zero Entry.
func (r *reader) Read(at int, line []byte) transcript.Entry {
	rec, ok := decode(line)
	if !ok {
		return transcript.Entry{}
	}
	e := transcript.Entry{ID: rec.uuid, At: transcript.Moment(rec.timestamp), Subagent: rec.sidechain}
	switch rec.kind {
	case "system":
		e.Compacted = rec.compaction()
	case "attachment":
		if e.Variant = rec.variant(); e.Variant != "" || rec.attached.Get("type").Str == "model" {
			return transcript.Entry{Variant: e.Variant}
		}
		if p := rec.queued(); p.Text != "" {
			e.Parts = []transcript.Part{p}
		}
	case "assistant":
		r.assistant(&e, &rec)
	case "user":
		r.user(at, &e, &rec)
	}
	return e
}

func (r *reader) assistant(e *transcript.Entry, rec *fileLine) {
	if !e.Subagent {
		r.opener.lead = lead{}
	}
	m := &rec.message
	if m.model == synthetic && !rec.apiError {
		return // "No response requested.", which follows a turn that was cut off
	}
	e.Cwd, e.Message, e.Failed = rec.cwd, m.id, rec.apiError
	if e.Parts, _ = parts(m.content, true); e.Parts == nil {
		e.Parts = []transcript.Part{{Kind: transcript.Other}} // the model's in any case
	}
	e.Stopped = m.stop != "" && m.stop != "tool_use"
	e.Answers = !rec.apiError && m.stop != "tool_use" && answers(e.Parts, m.stop != "") // old clients note no reason
	rec.spent(e)
	if !e.Subagent {
		e.Todos = r.todos.called(e.Parts)
	}
}

// answers reports whether a final message is an answer: it calls no tool, and
// says something or was stopped for a reason.
func answers(parts []transcript.Part, stopped bool) bool {
	for _, p := range parts {
		switch p.Kind {
		case transcript.Call:
			return false
		case transcript.Said:
			stopped = stopped || strings.TrimSpace(p.Text) != ""
		}
	}
	return stopped
}

// spent notes the service's usage of a message that the client did not write.
func (rec *fileLine) spent(e *transcript.Entry) {
	if m := &rec.message; m.model != synthetic {
		e.Model, e.Tokens = m.model, m.tokens
		e.Context = m.tokens.Input + m.tokens.CacheWrite + m.tokens.CacheRead
	}
}

func (r *reader) user(at int, e *transcript.Entry, rec *fileLine) {
	rec.said, e.PromptID = decodeSaid(rec.message.content), rec.promptID
	if !e.Subagent {
		r.todos.answered(rec)
		if e.Opens = r.opener.open(at, rec); e.Opens != nil {
			e.Cwd, e.Parts = rec.cwd, rec.opening()
			return
		}
	}
	e.Parts = rec.going()
	e.Interrupted = strings.HasPrefix(rec.text, interruption)
	if e.Interrupted || len(rec.answers) > 0 {
		e.Cwd = rec.cwd
	}
}

// queued returns the typed prompt of a queued_command attachment, but not one
// by which the client reports a finished task.
func (rec *fileLine) queued() transcript.Part {
	if rec.attached.Get("origin.kind").Str == "task-notification" {
		return transcript.Part{}
	}
	list, _ := parts(rec.attached.Get("prompt"), false) // a string, or blocks with an image
	return transcript.Part{Kind: transcript.Queued, Text: text(list), Files: files(list)}
}
