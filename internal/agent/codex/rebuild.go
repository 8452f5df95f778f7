package codex

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// NewSession returns a UUID of version 7: its time sorts the threads.
func NewSession() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails; a failure ends the process
	now := uint64(time.Now().UnixMilli())
	binary.BigEndian.PutUint16(b[:], uint16(now>>32))
	binary.BigEndian.PutUint32(b[2:], uint32(now))
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Rebuild makes the rollout of a new thread. It is complete, though the lines
// may be from several files that continue each other, as after a person went
// back, or for a fork.
//
// The client acts on parts of its file, so records are kept by a list of known
// types and fields, see [known], with unchanged values, which makes the
// client's next request the original's except about its environment. Of one's
// own conversation all items of requests stay as they are, known or not, but
// for [ghost]. Records are left out that are not strict JSON or repeat a field,
// which programs read differently.
//
// A foreign conversation keeps items by the list, too: lines may be untrusted. It also loses what the client says in its own name:
// messages to the model from neither the user nor the model, content that only
// the original account can read, and counts of tokens, by which the client
// decides to compact.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	r := rebuilder{Cut: c, known: knownFields()}
	r.session = quote(c.Session)
	r.provider = defaultProvider(c.Config)
	return &transcript.Rebuilt{Path: rollout(c.Config, c.Session, c.At), Write: r.write}, nil
}

func (r *rebuilder) write(w *bufio.Writer) error {
	r.file = w
	for line, err := range r.Lines {
		if err != nil {
			return err
		}
		r.add(line)
	}
	if !r.said {
		return fmt.Errorf("rebuild session %s: %w", r.Session, transcript.ErrEmpty)
	}
	if r.turn != "" {
		r.record(r.stamp, "event_msg", []byte(`{"type":"task_complete","turn_id":`+r.turn+`,"last_agent_message":null}`))
	}
	return nil
}

func rollout(config, session string, at time.Time) string {
	name := "rollout-" + at.Format("2006-01-02T15-04-05") + "-" + session + ".jsonl"
	return filepath.Join(config, sessions, at.Format("2006"), at.Format("01"), at.Format("02"), name)
}

// defaultProvider returns the user's model provider, or the client's own.
func defaultProvider(config string) string {
	var s struct {
		Provider string `toml:"model_provider"`
	}
	_, _ = toml.DecodeFile(filepath.Join(config, "config.toml"), &s) // the client reports its errors
	return cmp.Or(s.Provider, "openai")
}

type rebuilder struct {
	transcript.Cut
	known    map[string][]field
	session  []byte // the new id, in JSON
	provider string // the thread's, unless its own record names one

	file  *bufio.Writer
	count int    // records in it
	said  bool   // something was said
	turn  string // the running task's id, in JSON, or ""
	stamp string // of the last record, in JSON
}

func (r *rebuilder) add(line []byte) {
	if !bytes.HasPrefix(line, []byte{'{'}) || !json.Valid(line) || !utf8.Valid(line) {
		return
	}
	top, ok := transcript.Members(gjson.ParseBytes(line))
	kind, p := top["type"].Str, top["payload"]
	if !ok || !p.IsObject() {
		return
	}
	if r.count == 0 {
		r.begin(kind, top)
	}
	payload, ok := r.keep(kind, p)
	if !ok || r.Foreign && speaks(kind, p) {
		return
	}
	r.follow(kind, p)
	r.record(stamp(top["timestamp"]), kind, payload)
}

// begin writes the first record. Records have numbers if the segments' have,
// otherwise the client takes them for an older one's. The client's terminal
// needs a provider: the conversation's, but for untrusted words only the user's
// own settings decide.
func (r *rebuilder) begin(kind string, top map[string]gjson.Result) {
	provider := r.provider
	if own := top["payload"].Get("model_provider"); kind == "session_meta" && !r.Foreign && own.Type == gjson.String {
		provider = cmp.Or(own.Str, provider)
	}
	now := quote(transcript.Stamp(r.At))
	mode := ""
	if top["ordinal"].Type == gjson.Number {
		mode = `,"history_mode":"paginated"`
	}
	r.record(string(now), "session_meta", slices.Concat(
		[]byte(`{"session_id":`), r.session, []byte(`,"id":`), r.session, []byte(`,"timestamp":`), now,
		[]byte(`,"cwd":`), quote(r.Dir), []byte(`,"originator":"git-agent","cli_version":"`+Tested+`","source":"cli","model_provider":`), quote(provider), []byte(mode+`}`)))
}

func (r *rebuilder) record(stamp, kind string, payload []byte) {
	r.stamp = stamp
	_, _ = r.file.WriteString(`{"timestamp":` + stamp + `,"ordinal":` + strconv.Itoa(r.count) + `,"type":"` + kind + `","payload":`)
	_, _ = r.file.Write(payload)
	_, _ = r.file.WriteString("}\n") // its Flush returns the error, too
	r.count++
}

// follow notes what a record means for the whole file.
func (r *rebuilder) follow(kind string, p gjson.Result) {
	switch of := p.Get("type").Str; {
	case kind == item && of == "message":
		r.said = r.said || p.Get("role").Str != "developer"
	case kind == "event_msg" && of == "task_started":
		r.turn = string(quote(p.Get("turn_id").Str))
	case kind == "event_msg" && (of == "task_complete" || of == "turn_aborted"):
		r.turn = ""
	}
}

// speaks reports whether a foreign record says something in the client's name.
func speaks(kind string, p gjson.Result) bool {
	switch of := p.Get("type").Str; {
	case kind == "compacted":
		speaks := p.Get("replacement_history").IsObject() // the client writes a list
		p.Get("replacement_history").ForEach(func(_, item gjson.Result) bool {
			of := item.Get("type").Str
			speaks = speaks || of == "compaction" || of == "reasoning"
			return !speaks
		})
		return speaks
	case kind == "event_msg":
		return of == "token_count"
	case of == "reasoning", of == "compaction":
		return true
	case of != "message":
		return false
	}
	switch p.Get("role").Str {
	case "assistant":
		return false
	case "user":
		kinds := p.Get("internal_chat_message_metadata_passthrough.content_item_kinds").Array()
		return slices.ContainsFunc(kinds, func(kind gjson.Result) bool {
			return !strings.HasPrefix(kind.Str, "user.") && kind.Str != "shell.user_command" && kind.Str != "compaction.summary"
		})
	}
	return true
}

// keep returns the known part of an object, or of each in a list, and any other
// value unchanged. It returns false if an object is unknown or repeats a field.
func (r *rebuilder) keep(name string, v gjson.Result) ([]byte, bool) {
	switch {
	case v.IsArray():
		return r.list(name, v)
	case !v.IsObject():
		return []byte(v.Raw), true
	}
	parts, ok := transcript.Members(v)
	if name == item && !r.Foreign {
		return []byte(v.Raw), parts["type"].Str != ghost && transcript.Plain(v, maxDepth)
	}
	fields, is := r.known[name]
	if !is {
		fields, is = r.known[name+" "+parts["type"].Str]
	}
	if !ok || !is || elsewhere(parts) {
		return nil, false
	}
	out := []byte{'{'}
	for _, f := range fields {
		part, is := parts[f.name]
		if !is {
			continue
		}
		value := []byte(part.Raw)
		switch {
		case f.session:
			value = r.session
		case f.objects != "":
			value, ok = r.keep(f.objects, part)
		default:
			ok = transcript.Plain(part, maxDepth)
		}
		if !ok {
			return nil, false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.name...), '"', ':')
		out = append(out, value...)
	}
	return append(out, '}'), true
}

// list is keep for a list. It omits elements in the client's name from a
// foreign compaction, and the user's files from what is shown.
func (r *rebuilder) list(name string, v gjson.Result) (out []byte, ok bool) {
	out, ok = []byte{'['}, true
	v.ForEach(func(_, element gjson.Result) bool {
		if r.Foreign && name == item && speaks(name, element) {
			return true
		}
		var kept []byte
		if kept, ok = r.keep(name, element); !ok {
			ok = name == "said" || name == item && !r.Foreign
			return ok
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, kept...)
		return true
	})
	return append(out, ']'), ok
}

const (
	item  = "response_item" // of which requests are made
	ghost = "ghost_snapshot"
)

// elsewhere reports whether an image is outside the conversation.
func elsewhere(parts map[string]gjson.Result) bool {
	url, is := parts["image_url"]
	return is && !strings.HasPrefix(url.Str, "data:")
}

// maxDepth bounds nesting in values that are kept whole. The client's deepest
// are tools' arguments, mostly texts.
const maxDepth = 50

// stamp returns a record's time as it is written, if it is valid.
func stamp(v gjson.Result) string {
	if transcript.Moment(v.Str).IsZero() {
		return `"1970-01-01T00:00:00.000Z"`
	}
	return string(quote(v.Str))
}

func quote(s string) []byte { return gjson.AppendJSONString(nil, s) }
