package opencode

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
)

// Reader reads the plugin's file: one message with its parts per line.
//
//	{"id":"msg_1","info":{"role":"user",...},
//	 "parts":[{"type":"text","text":"go on"}]}
//	{"id":"msg_2","window":200000,
//	 "info":{"role":"assistant","finish":"stop",...},"parts":[...]}
//
// A turn begins with a user's message that has their own content: the client's
// words in their place are marked as synthetic, and a request to compact has a
// part of that kind. A message that waited for a running turn has "queued".
func Reader() transcript.Reader { return &reader{} }

// A reader remembers what a summary doesn't say of itself.
type reader struct {
	auto     bool  // the user did not ask for the compaction
	again    bool  // it replaced a prompt that was too long, which the client repeats
	context  int64 // of the last request
	answered bool  // the model has, since a prompt
}

func (r *reader) Read(at int, line []byte) transcript.Entry {
	if len(line) == 0 || line[0] != '{' || !transcript.Valid(line) {
		return transcript.Entry{}
	}
	m := gjson.ParseBytes(line)
	info := m.Get("info")
	id := transcript.Kept(info.Get("id"))
	e := transcript.Entry{ID: id, At: instant(info.Get("time.created"))}
	switch info.Get("role").Str {
	case "user":
		r.user(&e, at, m)
	case "assistant":
		r.assistant(&e, m, info)
	default:
		return transcript.Entry{}
	}
	return e
}

func (r *reader) user(e *transcript.Entry, at int, m gjson.Result) {
	kind := transcript.Asked
	if m.Get("queued").Type == gjson.True {
		kind = transcript.Queued
	}
	var asked transcript.Part
	own := false
	each(m.Get("parts"), func(p gjson.Result) {
		switch p.Get("type").Str {
		case "text":
			if s := transcript.Kept(p.Get("text")); p.Get("synthetic").Type == gjson.True {
				e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Told, Text: s})
			} else {
				own = true
				asked.Text = strings.TrimPrefix(asked.Text+"\n"+s, "\n")
			}
		case "file":
			own = true
			asked.Files = append(asked.Files, attached(p))
		case "compaction":
			r.auto, r.again = p.Get("auto").Type == gjson.True, p.Get("overflow").Type == gjson.True
		}
	})
	if !own {
		return
	}
	if r.again && r.answered { // by the summary
		kind, r.again = transcript.Told, false
	}
	r.answered = false
	asked.Kind = kind
	e.Parts = append([]transcript.Part{asked}, e.Parts...)
	if kind == transcript.Asked {
		e.Opens = &transcript.FileTurn{Start: at, UUID: e.ID, PromptID: e.ID, Prompt: asked.Text, Origin: "human", At: e.At}
	}
}

func (r *reader) assistant(e *transcript.Entry, m, info gjson.Result) {
	r.answered = true
	e.Message, e.Model = e.ID, transcript.Kept(info.Get("modelID"))
	e.Cwd = transcript.Kept(info.Get("path.cwd"))
	e.Window = transcript.Count(m.Get("window"))
	if done := instant(info.Get("time.completed")); !done.IsZero() {
		e.At = done
	}
	t := info.Get("tokens")
	e.Tokens = transcript.Tokens{
		Input: transcript.Count(t.Get("input")), CacheRead: transcript.Count(t.Get("cache.read")), CacheWrite: transcript.Count(t.Get("cache.write")),
		Output: transcript.Count(t.Get("output")) + transcript.Count(t.Get("reasoning")),
	}
	e.Context = e.Tokens.Input + e.Tokens.CacheRead + e.Tokens.CacheWrite
	said := transcript.Said
	if info.Get("summary").Type == gjson.True {
		said = transcript.Gist
		e.Compacted = &transcript.Compacted{Auto: r.auto, Tokens: r.context}
		e.Context = 0 // that was the summary's request
	}
	if e.Context > 0 {
		r.context = e.Context
	}
	each(m.Get("parts"), func(p gjson.Result) { e.Parts = append(e.Parts, part(p, said)...) })
	finish := info.Get("finish").Str
	failure := info.Get("error")
	switch name := failure.Get("name").Str; {
	case name == "MessageAbortedError":
		e.Interrupted = true
	case name != "":
		e.Failed = true
		e.Parts = append(e.Parts, transcript.Part{Kind: transcript.Said, Text: cmp.Or(transcript.Kept(failure.Get("data.message")), name)})
	default:
		e.Answers = said == transcript.Said && finish != "" && finish != "tool-calls" && finish != "unknown"
	}
}

func part(p gjson.Result, said transcript.Kind) []transcript.Part {
	switch p.Get("type").Str {
	case "text":
		return []transcript.Part{{Kind: said, Text: transcript.Kept(p.Get("text"))}}
	case "reasoning":
		return []transcript.Part{{Kind: transcript.Thought, Text: transcript.Kept(p.Get("text"))}}
	case "tool":
		id, state := transcript.Kept(p.Get("callID")), p.Get("state")
		parts := []transcript.Part{{Kind: transcript.Call, Call: id, Name: transcript.Kept(p.Get("tool")), Input: own(state.Get("input"))}}
		switch state.Get("status").Str {
		case "completed":
			answer := transcript.Part{Kind: transcript.Answer, Call: id, Text: transcript.Kept(state.Get("output"))}
			answer.Ended = exited(state.Get("metadata.exit"), answer.Text)
			each(state.Get("attachments"), func(f gjson.Result) { answer.Files = append(answer.Files, attached(f)) })
			parts = append(parts, answer)
		case "error":
			parts = append(parts, transcript.Part{Kind: transcript.Answer, Call: id, Text: transcript.Kept(state.Get("error")), Failed: true, Ended: evidence.Ended{How: evidence.Halted}})
		}
		return parts
	}
	return nil // starts and ends of steps, with changed files
}

// exited returns how a command ended: one that was stopped has no status, and a
// note behind its output.
func exited(exit gjson.Result, said string) evidence.Ended {
	switch {
	case strings.Contains(said[max(0, len(said)-1<<10):], "<bash_metadata>"), strings.Contains(said[max(0, len(said)-1<<10):], "<shell_metadata>"):
		return evidence.Ended{How: evidence.Halted}
	case exit.Type == gjson.Number:
		return evidence.Exit(int(exit.Int()))
	}
	return evidence.Ended{}
}

func attached(p gjson.Result) transcript.Attached {
	a := transcript.Attached{Kind: "document", Media: transcript.Kept(p.Get("mime"))}
	if strings.HasPrefix(a.Media, "image/") {
		a.Kind = "image"
	}
	if url := p.Get("url"); strings.HasPrefix(url.Str, "data:") {
		_, data, _ := strings.Cut(url.Str, ",")
		a.Size = int64(len(data)) * 3 / 4 // of base64
	}
	return a
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

// own returns a copy of a value with its own memory.
func own(v gjson.Result) gjson.Result { return gjson.Parse(strings.Clone(v.Raw)) }

func instant(v gjson.Result) time.Time {
	if v.Type != gjson.Number || v.Num <= 0 || v.Num > 1<<50 {
		return time.Time{}
	}
	return time.UnixMilli(int64(v.Num)).UTC()
}
