package pi

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
)

// Reader reads a session's file: a line with its id and directory, and entries
// that name the one before, which after a /tree is not the line before.
//
//	{"type":"session","version":3,"id":"...","timestamp":"...","cwd":"/r"}
//	{"type":"message","id":"2e581f5f","parentId":null,"timestamp":"...",
//	 "message":{"role":"user","content":[{"type":"text","text":"go on"}],
//	 "timestamp":1795745237433}}
//
// A turn begins with a user's message. One that was written before the agent's
// last message was stored has waited for it: the turn goes on with that.
func Reader() transcript.Reader { return &reader{} }

// A reader remembers when the agent's last message was stored.
type reader struct{ last time.Time }

func (r *reader) Read(at int, line []byte) transcript.Entry {
	if len(line) == 0 || line[0] != '{' || !transcript.Valid(line) {
		return transcript.Entry{}
	}
	record := gjson.ParseBytes(line)
	e := transcript.Entry{ID: transcript.Kept(record.Get("id")), At: transcript.Moment(record.Get("timestamp").Str)}
	switch kind := record.Get("type").Str; kind {
	case "session":
		return transcript.Entry{At: e.At, Cwd: transcript.Kept(record.Get("cwd"))}
	case "message":
		r.message(&e, at, record.Get("message"))
	case "custom_message":
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: text(record.Get("content"))}}
	case "compaction", "branch_summary":
		e.Message, e.Tokens = e.ID, tokens(record.Get("usage"))
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: transcript.Kept(record.Get("summary"))}}
		if kind == "compaction" {
			e.Parts[0].Kind = transcript.Gist
			e.Compacted = &transcript.Compacted{Tokens: transcript.Count(record.Get("tokensBefore"))}
		}
	case "usage":
		e.Message, e.Model, e.Tokens = e.ID, transcript.Kept(record.Get("model")), tokens(record.Get("usage"))
	case "model_change":
		e.Model = transcript.Kept(record.Get("modelId"))
	default:
		return transcript.Entry{}
	}
	return e
}

func (r *reader) message(e *transcript.Entry, at int, m gjson.Result) {
	content := m.Get("content")
	switch m.Get("role").Str {
	case "user":
		asked := transcript.Part{Kind: transcript.Asked, Text: typed(text(content)), Files: attached(content)}
		if r.waited(m) {
			asked.Kind = transcript.Queued
		} else {
			e.Opens = &transcript.FileTurn{Start: at, UUID: e.ID, PromptID: e.ID, Prompt: asked.Text, Origin: "human", At: e.At}
		}
		e.Parts = []transcript.Part{asked}
	case "assistant":
		r.last = e.At
		assistant(e, m)
	case "toolResult":
		r.last = e.At
		said, failed := text(content), m.Get("isError").Type == gjson.True
		e.Parts = []transcript.Part{{
			Kind: transcript.Answer, Call: transcript.Kept(m.Get("toolCallId")), Text: said,
			Failed: failed, Ended: exited(said, failed), Files: attached(content),
		}}
		if u := tokens(m.Get("usage")); u != (transcript.Tokens{}) { // of models that the tool has asked
			e.Message, e.Tokens = e.ID, u
		}
	case "bashExecution": // the user's own command
		e.Parts = []transcript.Part{
			{Kind: transcript.Asked, Text: "!" + transcript.Kept(m.Get("command"))},
			{Kind: transcript.Shell, Text: transcript.Kept(m.Get("output"))},
		}
	}
}

// exited returns how a command ended. One that fails has a note behind its output.
func exited(said string, failed bool) evidence.Ended {
	if !failed {
		return evidence.Exit(0)
	}
	tail := said[max(0, len(said)-1<<10):]
	if e, ok := evidence.ExitOf(tail, "Command exited with code "); ok {
		return e
	}
	if strings.Contains(tail, "Command aborted") || strings.Contains(tail, "Command timed out") {
		return evidence.Ended{How: evidence.Halted}
	}
	return evidence.Ended{How: evidence.Refused}
}

// waited reports whether a user's message is older than the agent's last one.
func (r *reader) waited(m gjson.Result) bool {
	sent := m.Get("timestamp")
	return sent.Type == gjson.Number && !r.last.IsZero() && sent.Num < float64(r.last.UnixMilli())
}

func assistant(e *transcript.Entry, m gjson.Result) {
	e.Message, e.Model, e.Tokens = e.ID, transcript.Kept(m.Get("model")), tokens(m.Get("usage"))
	e.Context = e.Tokens.Input + e.Tokens.CacheRead + e.Tokens.CacheWrite
	calls := false
	each(m.Get("content"), func(p gjson.Result) {
		switch p.Get("type").Str {
		case "text":
			e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Said, Text: transcript.Kept(p.Get("text"))})
		case "thinking":
			e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Thought, Text: transcript.Kept(p.Get("thinking"))})
		case "toolCall":
			calls = true
			e.Parts = append(e.Parts, transcript.Part{
				Kind: transcript.Call, Call: transcript.Kept(p.Get("id")), Name: transcript.Kept(p.Get("name")),
				Input: gjson.Parse(strings.Clone(p.Get("arguments").Raw)),
			})
		}
	})
	switch m.Get("stopReason").Str {
	case "error":
		e.Failed = true
		e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Said, Text: cmp.Or(transcript.Kept(m.Get("errorMessage")), "error")})
	case "aborted":
		e.Interrupted = true
	case "stop", "length":
		e.Answers = !calls
	}
}

// typed returns a prompt as it was typed: the client puts a skill's text in the
// place of its name.
func typed(prompt string) string {
	const end = "\n</skill>"
	rest, ok := strings.CutPrefix(prompt, `<skill name="`)
	name, rest, named := strings.Cut(rest, `" location="`)
	at := strings.LastIndex(rest, end)
	if !ok || !named || at < 0 || strings.ContainsAny(name, "\"\n") {
		return prompt
	}
	return strings.TrimRight("/skill:"+name+" "+strings.TrimPrefix(rest[at+len(end):], "\n\n"), " ")
}

// text returns what a message says: a string, or parts.
func text(content gjson.Result) string {
	if content.Type == gjson.String {
		return transcript.Kept(content)
	}
	var all []string
	each(content, func(p gjson.Result) {
		if p.Get("type").Str == "text" {
			all = append(all, transcript.Kept(p.Get("text")))
		}
	})
	return strings.Join(all, "\n")
}

func attached(content gjson.Result) (files []transcript.Attached) {
	each(content, func(p gjson.Result) {
		if p.Get("type").Str == "image" {
			files = append(files, transcript.Attached{
				Kind: "image", Media: transcript.Kept(p.Get("mimeType")), Size: int64(len(p.Get("data").Str) / 4 * 3),
			})
		}
	})
	return files
}

func each(list gjson.Result, f func(gjson.Result)) {
	if !list.IsArray() {
		return
	}
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			f(v)
		}
		return true
	})
}

// tokens reads figures of which the input is without what a cache had, and the
// output with thoughts.
func tokens(u gjson.Result) transcript.Tokens {
	return transcript.Tokens{
		Input: transcript.Count(u.Get("input")), CacheRead: transcript.Count(u.Get("cacheRead")),
		CacheWrite: transcript.Count(u.Get("cacheWrite")), Output: transcript.Count(u.Get("output")),
	}
}
