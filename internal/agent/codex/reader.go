package codex

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
)

// Reader reads a rollout: the file of a thread, with one record per line.
//
// All that a person and the model said is in it twice: as a response_item,
// which the client sends to the model again, and as an event_msg, which it
// shows. The events are read: a resumed client shows only these, and they omit
// what it says in the user's place (its environment, instructions, what hooks
// add) and the summary of a compaction. In a review only the event has the
// prompt. The response_items have tools' inputs and answers.
//
// A turn begins with a task that has a turn_trigger in its record. Those of
// /compact and of the user's own commands have none and run no hook; they
// belong to the turn before, like all that the client notes after its end. The
// trigger is also missing in older clients, in a review, and from a server:
// there a task becomes a turn when something is said. The settings directly
// before a task are part of it.
//
// The client runs the hook Stop before it writes task_complete, and Interrupt
// before turn_aborted. So the next segment begins with this record, and it says
// nothing about that segment's own turn.
func Reader() transcript.Reader { return &reader{task: -1, lead: -1} }

type reader struct {
	lead    int    // start of the settings that end before; -1
	before  int    // lead before this record
	task    int    // start of the running task until it is a turn; -1
	turn    string // the running task's id
	asked   bool   // the running turn has its prompt
	aborted bool   // the running task was, as the model was told
	model   string
	cwd     string
	old     bool            // this record is an older client's
	failed  map[string]bool // failed calls of the task, by id, until their answer
}

func (r *reader) Read(at int, line []byte) transcript.Entry {
	var read func(at int, p gjson.Result, e *transcript.Entry)
	switch gjson.GetBytes(line, "type").Str {
	case "session_meta", "turn_context":
		read = r.context
	case "event_msg":
		read = r.event
	case "response_item":
		read = r.item
	case "token_usage_record":
		read = r.usage
	case "compacted":
		read = r.compacted
	}
	if read == nil || !json.Valid(line) { // gjson reads on through torn lines
		return transcript.Entry{}
	}
	record := gjson.ParseBytes(line)
	payload := record.Get("payload")
	if !payload.IsObject() {
		return transcript.Entry{}
	}
	e := transcript.Entry{At: transcript.Moment(record.Get("timestamp").Str)}
	r.old = !record.Get("ordinal").Exists()
	r.before, r.lead = r.lead, -1
	read(at, payload, &e)
	return e
}

// Meter skips the conversation, which is most of the file.
func (r *reader) Meter(line []byte, answered bool) transcript.Entry {
	switch gjson.GetBytes(line, "type").Str {
	case "response_item":
		return transcript.Entry{}
	case "token_usage_record":
		if answered {
			return transcript.Entry{}
		}
	case "event_msg":
		switch gjson.GetBytes(line, "payload.type").Str {
		case "task_started", "token_count", "thread_settings_applied", "user_message":
		case "item_completed":
			if gjson.GetBytes(line, "payload.item.type").Str != "UserMessage" {
				return transcript.Entry{}
			}
		default:
			return transcript.Entry{}
		}
	}
	return r.Read(0, line)
}

// context reads the directory and the model; the first record has no model.
func (r *reader) context(_ int, p gjson.Result, e *transcript.Entry) {
	r.model = cmp.Or(transcript.Kept(p.Get("model")), r.model)
	r.cwd = cmp.Or(transcript.Kept(p.Get("cwd")), r.cwd)
	e.Cwd, e.Model = r.cwd, r.model
}

func (r *reader) event(at int, p gjson.Result, e *transcript.Entry) {
	switch p.Get("type").Str {
	case "thread_settings_applied":
		if r.lead = r.before; r.lead < 0 {
			r.lead = at
		}
		r.context(at, p.Get("thread_settings"), e)
	case "task_started":
		r.started(at, p, e)
	case "item_completed":
		r.completed(p.Get("item"), e)
	case "user_message": // of an older client, as the next two
		r.user(transcript.Kept(p.Get("message")), images(p.Get("images"), p.Get("local_images")), e)
	case "agent_message":
		r.said(transcript.Kept(p.Get("message")), p, e)
	case "agent_reasoning":
		thought(transcript.Kept(p.Get("text")), e)
	case "token_count":
		r.count(p.Get("info"), e)
	case "error":
		r.fault(p, e)
	case "task_complete":
		r.fault(p.Get("error"), e)
		e.Ended = true
	case "turn_aborted":
		// At the start of a segment, it is about the turn before, which knows.
		e.Interrupted = r.turn != "" && !r.aborted && p.Get("reason").Str != "review_ended"
		e.Ended = true
	}
}

func (r *reader) started(at int, p gjson.Result, e *transcript.Entry) {
	if r.before >= 0 {
		at = r.before
	}
	r.task, r.turn, r.asked, r.aborted, r.failed = at, transcript.Kept(p.Get("turn_id")), false, false, nil
	e.Window = transcript.Count(p.Get("model_context_window"))
	if by := p.Get("turn_attribution.turn_trigger"); by.Type == gjson.String {
		e.Opens = r.opens("", e)
		e.Opens.Origin = origins[by.Str]
	}
}

var origins = map[string]string{"user": "human", "exec": "sdk"}

func (r *reader) opens(prompt string, e *transcript.Entry) *transcript.FileTurn {
	t := &transcript.FileTurn{Start: r.task, UUID: r.turn, PromptID: r.turn, Prompt: prompt, Cwd: r.cwd, At: e.At}
	r.task = -1
	return t
}

func (r *reader) completed(item gjson.Result, e *transcript.Entry) {
	switch item.Get("type").Str {
	case "UserMessage":
		r.user(texts(item.Get("content")), attached(item.Get("content")), e)
	case "AgentMessage":
		e.Message = transcript.Kept(item.Get("id"))
		r.said(texts(item.Get("content")), item, e)
	case "Reasoning":
		e.Message = transcript.Kept(item.Get("id"))
		thought(cmp.Or(lines(item.Get("summary_text")), lines(item.Get("raw_content"))), e)
	case "CommandExecution":
		if item.Get("source").Str == "user_shell" {
			command := item.Get("command").Array()
			if len(command) == 0 {
				return
			}
			shell := "!" + transcript.Kept(command[len(command)-1]) + "\n" + transcript.Kept(item.Get("aggregated_output"))
			e.Parts = []transcript.Part{{Kind: transcript.Shell, Text: shell}}
			return
		}
		r.outcome(item)
	default:
		r.outcome(item)
	}
}

// outcome notes for its answer whether a call has failed.
func (r *reader) outcome(item gjson.Result) {
	if s := item.Get("status").Str; s == "failed" || s == "declined" {
		if r.failed == nil {
			r.failed = make(map[string]bool)
		}
		r.failed[transcript.Kept(item.Get("id"))] = true
	}
}

func (r *reader) user(said string, files []transcript.Attached, e *transcript.Entry) {
	kind := transcript.Queued
	if !r.asked && r.turn != "" {
		kind, r.asked = transcript.Asked, true
		if r.task >= 0 {
			e.Opens = r.opens(said, e)
		}
	}
	e.Parts = []transcript.Part{{Kind: kind, Text: said, Files: files}}
}

// said reads the model's words. Some before the answer are commentary.
func (r *reader) said(said string, message gjson.Result, e *transcript.Entry) {
	e.Model, e.Answers = r.model, message.Get("phase").Str != "commentary"
	e.Parts = []transcript.Part{{Kind: transcript.Said, Text: said}}
}

func thought(text string, e *transcript.Entry) {
	e.Parts = []transcript.Part{{Kind: transcript.Thought, Text: text}}
}

// fault reads an error of the service, perhaps as the JSON that it sent.
func (r *reader) fault(p gjson.Result, e *transcript.Entry) {
	said := transcript.Kept(p.Get("message"))
	if said == "" {
		return
	}
	if json.Valid([]byte(said)) {
		said = cmp.Or(transcript.Kept(gjson.Get(said, "error.message")), said)
	}
	e.Failed = true
	e.Parts = []transcript.Part{{Kind: transcript.Said, Text: said}}
}

func (r *reader) item(_ int, p gjson.Result, e *transcript.Entry) {
	kind := p.Get("type").Str
	switch {
	case kind == "message":
		// At the hook Interrupt, the file says no more about it.
		said := p.Get("content.0.text")
		e.Interrupted = p.Get("role").Str == "user" && strings.HasPrefix(said.Str, "<turn_aborted>")
		r.aborted = r.aborted || e.Interrupted
	case kind == "agent_message": // a task for a subagent, or its answer
		e.Parts = []transcript.Part{{Kind: transcript.Told, Text: texts(p.Get("content"))}}
	case strings.HasSuffix(kind, "_call"):
		r.call(kind, p, e)
	case strings.HasSuffix(kind, "_output"):
		r.output(p, e)
	}
}

func (r *reader) call(kind string, p gjson.Result, e *transcript.Entry) {
	c := transcript.Part{Kind: transcript.Call, Call: transcript.Kept(p.Get("call_id")), Name: transcript.Kept(p.Get("name"))}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(transcript.Kept(p.Get("type")), "_call") // web_search, local_shell
	}
	switch kind {
	case "function_call":
		c.Input = input("arguments", transcript.Kept(p.Get("arguments")))
	case "custom_tool_call":
		c.Input = input("input", transcript.Kept(p.Get("input")))
	default:
		c.Input = gjson.Parse(strings.Clone(p.Get("action").Raw))
	}
	if c.Name == "update_plan" {
		e.Todos = todos(c.Input.Get("plan"))
	}
	e.Message, e.Model, e.Parts = transcript.Kept(p.Get("id")), r.model, []transcript.Part{c}
}

// input returns a tool's input, as an object with one field if it is text.
func input(name, s string) gjson.Result {
	if json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimSpace(s), "{") {
		return gjson.Parse(s)
	}
	return gjson.Parse(`{"` + name + `":` + string(gjson.AppendJSONString(nil, s)) + `}`)
}

func todos(plan gjson.Result) []transcript.Todo {
	list := []transcript.Todo{}
	plan.ForEach(func(_, item gjson.Result) bool {
		list = append(list, transcript.Todo{Text: transcript.Kept(item.Get("step")), Status: transcript.Kept(item.Get("status"))})
		return true
	})
	return list
}

func (r *reader) output(p gjson.Result, e *transcript.Entry) {
	o, id := p.Get("output"), transcript.Kept(p.Get("call_id"))
	a := transcript.Part{Kind: transcript.Answer, Call: id, Text: transcript.Kept(o), Failed: r.failed[id]}
	delete(r.failed, id)
	if o.IsArray() {
		a.Text, a.Files = texts(o), attached(o)
	}
	a.Ended = exited(a.Text)
	if said := gjson.Get(a.Text, "output"); a.Ended.How == evidence.Exited && strings.HasPrefix(a.Text, "{") && said.Type == gjson.String { // of older clients
		a.Text = transcript.Kept(said)
	}
	a.Failed = a.Failed || a.Ended.Code != 0
	e.Parts = []transcript.Part{a}
}

// exited returns how a command ended, by the lines before its output, or by the
// object that older clients wrote.
func exited(output string) evidence.Ended {
	if code := gjson.Get(output, "metadata.exit_code"); strings.HasPrefix(output, "{") && code.Type == gjson.Number {
		return evidence.Exit(int(code.Int()))
	}
	if strings.HasPrefix(output, "aborted by user") || strings.HasPrefix(output, "command timed out") {
		return evidence.Ended{How: evidence.Halted}
	}
	head, _, has := strings.Cut(output[:min(len(output), 1<<10)], "\nOutput:")
	if _, rest, ok := strings.Cut(output, "\nOutput:\n"); ok && strings.HasPrefix(rest, "Exit code: ") { // of a patch
		head, has = rest, true
	}
	if !has && !strings.HasPrefix(head, "Exit code: ") {
		return evidence.Ended{}
	}
	if e, ok := evidence.ExitOf(head, "Process exited with code ", "Exit code: "); ok {
		return e
	}
	if _, job, ok := strings.Cut(head, "Process running with session ID "); ok {
		job, _, _ = strings.Cut(job, "\n")
		return evidence.Ended{How: evidence.GoesOn, Job: strings.Clone(job)}
	}
	return evidence.Ended{}
}

// usage reads the cost of a response of the model, written once for each.
func (r *reader) usage(_ int, p gjson.Result, e *transcript.Entry) {
	e.Message, e.Model = transcript.Kept(p.Get("response_id")), r.model
	e.Tokens, e.Context = spent(p.Get("usage"))
}

// count reads a token_count. It repeats token_usage_records, except after a
// compaction: then it estimates what is left, without a request. In an older
// client, which has no ordinals, it is the only count, and its sums distinguish
// requests.
func (r *reader) count(info gjson.Result, e *transcript.Entry) {
	e.Window = transcript.Count(info.Get("model_context_window"))
	last := info.Get("last_token_usage")
	sum := transcript.Count(info.Get("total_token_usage.total_tokens"))
	switch {
	case transcript.Count(last.Get("input_tokens")) == 0:
		e.Context = transcript.Count(last.Get("total_tokens"))
	case r.old && sum > 0:
		e.Message, e.Model = "sum of "+strconv.FormatInt(sum, 10), r.model
		e.Tokens, e.Context = spent(last)
	}
}

// spent converts a usage: the client's input includes tokens of a cache.
func spent(u gjson.Result) (t transcript.Tokens, context int64) {
	context = transcript.Count(u.Get("input_tokens"))
	t = transcript.Tokens{
		CacheRead:  min(context, transcript.Count(u.Get("cached_input_tokens"))),
		CacheWrite: transcript.Count(u.Get("cache_write_input_tokens")),
		Output:     transcript.Count(u.Get("output_tokens")),
	}
	t.CacheWrite = min(context-t.CacheRead, t.CacheWrite)
	t.Input = context - t.CacheRead - t.CacheWrite
	return t, context
}

// compacted reads a compaction. The client compacts by itself within a turn,
// and on request in a task that is none.
func (r *reader) compacted(_ int, p gjson.Result, e *transcript.Entry) {
	_, before := spent(p.Get("latest_token_usage_record.usage"))
	e.Compacted = &transcript.Compacted{Auto: r.task < 0, Tokens: before}
	e.Parts = []transcript.Part{{Kind: transcript.Gist, Text: transcript.Kept(p.Get("message"))}}
}

func texts(content gjson.Result) string {
	var all []string
	content.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Type == gjson.String {
			all = append(all, transcript.Kept(t))
		}
		return true
	})
	return strings.Join(all, "\n")
}

func lines(list gjson.Result) string {
	var all []string
	list.ForEach(func(_, t gjson.Result) bool {
		all = append(all, transcript.Kept(t))
		return true
	})
	return strings.Join(all, "\n")
}

func attached(content gjson.Result) (files []transcript.Attached) {
	content.ForEach(func(_, part gjson.Result) bool {
		if url := part.Get("image_url"); url.Type == gjson.String {
			files = append(files, image(url.Str))
		} else if path := part.Get("path"); path.Type == gjson.String {
			files = append(files, image(path.Str))
		}
		return true
	})
	return files
}

// images is [attached] for lists of addresses and paths.
func images(lists ...gjson.Result) (files []transcript.Attached) {
	for _, list := range lists {
		list.ForEach(func(_, name gjson.Result) bool {
			files = append(files, image(name.Str))
			return true
		})
	}
	return files
}

// image describes an image. Only a data address has a size.
func image(name string) transcript.Attached {
	a := transcript.Attached{Kind: "image"}
	head, data, ok := strings.Cut(name, ";base64,")
	if media, is := strings.CutPrefix(head, "data:"); ok && is && len(media) < 100 {
		a.Media, a.Size = strings.ToValidUTF8(media, ""), int64(len(data)/4*3)
		return a
	}
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".jpg":
		a.Media = "image/jpeg"
	case ".png", ".jpeg", ".gif", ".webp":
		a.Media = "image/" + ext[1:]
	}
	return a
}
