package transcript

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// lines yields each line of b with its offset and without its newline.
func lines(b []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(b); {
			n := bytes.IndexByte(b[at:], '\n')
			if n < 0 {
				n = len(b) - at
			}
			if !yield(at, b[at:at+n]) {
				return
			}
			at += n + 1
		}
	}
}

// Readable reports whether a segment could come from a client: it is empty, or one of its lines is
// a JSON object.
func Readable(segment []byte) bool {
	for _, line := range lines(segment) {
		if json.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(line), []byte{'{'}) {
			return true
		}
	}
	return len(segment) == 0
}

// A record holds what this package reads from a line.
type record struct {
	kind      string // type
	uuid      string
	promptID  string
	timestamp string
	cwd       string
	sidechain bool
	meta      bool // said by the client, not by the user
	summary   bool // the user record that a compaction leaves behind
	apiError  bool
	origin    string // turnOrigin: human, sdk, task_notification; only on records that start a turn
	source    string // promptSource: typed, queued, sdk, system
	queued    string // the prompt of a queued_command attachment
	message   message
}

// A message is the "message" of a user or assistant record.
type message struct {
	id     string
	model  string
	stop   string   // stop_reason
	blocks int      // in the content; a string counts as one block
	texts  []string // the content, or its text blocks
	tools  []tool   // its tool_use blocks
	result bool     // has a tool_result block
	usage  usage
}

type tool struct{ id, name string }

// A usage is in tokens. The zero value means none was given.
type usage struct{ context, output int64 }

// synthetic is the model of assistant records that the client wrote itself.
const synthetic = "<synthetic>"

// decode reads a line if it is a record that matters here. ok is false for all others, and for
// anything that is not JSON.
//
// gjson walks a line ten times as fast as encoding/json fills a struct (2 GB/s to 0.2), and stops
// at the type. But it reads on through torn lines, so those that matter are validated first, to a
// limited depth: gjson's own recursion has no limit.
func decode(line []byte) (r record, ok bool) {
	r.kind = gjson.GetBytes(line, "type").Str
	switch r.kind {
	case "user", "assistant":
		ok = true
	case "system":
		ok = gjson.GetBytes(line, "subtype").Str == "compact_boundary"
	case "attachment":
		ok = gjson.GetBytes(line, "attachment.type").Str == "queued_command"
	}
	if !ok || !valid(line) {
		return record{}, false
	}
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "uuid":
			r.uuid = text(v)
		case "promptId":
			r.promptID = text(v)
		case "timestamp":
			r.timestamp = text(v)
		case "cwd":
			r.cwd = text(v)
		case "isSidechain":
			r.sidechain = v.Type == gjson.True
		case "isMeta":
			r.meta = v.Type == gjson.True
		case "isCompactSummary":
			r.summary = v.Type == gjson.True
		case "isApiErrorMessage":
			r.apiError = v.Type == gjson.True
		case "turnOrigin":
			r.origin = text(v)
		case "promptSource":
			r.source = text(v)
		case "attachment":
			if r.kind == "attachment" {
				r.queued = queuedPrompt(v)
			}
		case "message":
			r.message = decodeMessage(v)
		}
		return true
	})
	return r, true
}

func decodeMessage(v gjson.Result) (m message) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "id":
			m.id = text(v)
		case "model":
			m.model = text(v)
		case "stop_reason":
			m.stop = text(v)
		case "usage":
			m.usage = decodeUsage(v)
		case "content":
			m.decodeContent(v)
		}
		return true
	})
	return m
}

func (m *message) decodeContent(v gjson.Result) {
	if v.Type == gjson.String {
		m.blocks, m.texts = 1, []string{text(v)}
		return
	}
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, block gjson.Result) bool {
		m.blocks++
		switch block.Get("type").Str {
		case "text":
			m.texts = append(m.texts, text(block.Get("text")))
		case "tool_use":
			m.tools = append(m.tools, tool{text(block.Get("id")), text(block.Get("name"))})
		case "tool_result":
			m.result = true
		}
		return true
	})
}

func decodeUsage(v gjson.Result) (u usage) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens":
			u.context += tokens(v)
		case "output_tokens":
			u.output = tokens(v)
		}
		return true
	})
	return u
}

// once has the ids that were seen: the client may write a record twice.
type once map[string]bool

// first reports whether id is seen for the first time. Without an id it always is.
func (o once) first(id string) bool {
	seen := id != "" && o[id]
	o[id] = true
	return !seen
}

// text returns the message's text, its blocks separated by newlines.
func (m *message) text() string { return strings.Join(m.texts, "\n") }

// queuedPrompt returns the prompt of a queued_command attachment that a person typed, but not of
// one by which the client reports a finished task.
func queuedPrompt(v gjson.Result) string {
	if v.Get("origin.kind").Str == "task-notification" {
		return ""
	}
	var m message
	m.decodeContent(v.Get("prompt")) // a string, or blocks when there is an image
	return m.text()
}

// text returns a JSON string as encoding/json decodes it; "" for any other value. gjson differs in
// lone surrogates and invalid UTF-8, and the result must equal a hook's payload, which
// encoding/json decodes. The copy keeps a short string from holding a line of megabytes in memory.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if !strings.Contains(v.Raw, `\u`) && utf8.ValidString(v.Str) {
		return strings.Clone(v.Str)
	}
	var s string
	if err := json.Unmarshal([]byte(v.Raw), &s); err != nil {
		return ""
	}
	return s
}

// tokens returns a count of tokens; 0 if v can't be one.
func tokens(v gjson.Result) int64 {
	const most = 1 << 40 // so that no sum overflows
	if n := v.Num; v.Type == gjson.Number && n > 0 && n < most {
		return int64(n)
	}
	return 0
}

// parseTime returns the zero time if s is not a time in the client's format.
func parseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}
