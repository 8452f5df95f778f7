package codex

import (
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

// NewSession returns a UUID of version 7, by whose time the client sorts its threads.
func NewSession() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never returns an error; a failure ends the process
	now := uint64(time.Now().UnixMilli())
	binary.BigEndian.PutUint16(b[:], uint16(now>>32))
	binary.BigEndian.PutUint32(b[2:], uint32(now))
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Rebuild makes the rollout of a new thread. It is whole by itself, though the segments may be of
// several files, each of which goes on from the one before: the client follows a person who goes
// back, and forks, by beginning such a file.
//
// The segments may be a stranger's, and the client acts on some of what it finds in its file. So the
// records that form the conversation are kept by a list of known types and fields, see [known], with
// their values as they were, which makes the client's next request the original's but for what it
// says about its environment. Left out are all others, and those that aren't JSON to the letter or
// have a field twice, which programs read differently.
//
// Of a foreign conversation, what the client says in its own name is left out as well: messages to
// the model that are neither the user's own words nor the model's, and what only the account can
// read that it was written for. So are its counts of tokens, by which the client decides to compact.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	r := rebuilder{Cut: c, known: knownFields()}
	r.session = quote(c.Session)
	r.provider = defaultProvider(c.Config)
	for _, segment := range c.Segments {
		for line := range bytes.SplitSeq(segment, []byte{'\n'}) {
			r.add(line)
		}
	}
	if !r.said {
		return nil, fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
	}
	if r.turn != "" {
		r.record(r.stamp, "event_msg", []byte(`{"type":"task_complete","turn_id":`+r.turn+`,"last_agent_message":null}`))
	}
	return &transcript.Rebuilt{Path: rollout(c.Config, c.Session, c.At), Pieces: r.file}, nil
}

// rollout is where the client looks for the file of a thread.
func rollout(config, session string, at time.Time) string {
	name := "rollout-" + at.Format("2006-01-02T15-04-05") + "-" + session + ".jsonl"
	return filepath.Join(config, sessions, at.Format("2006"), at.Format("01"), at.Format("02"), name)
}

// defaultProvider is the model provider of the user's settings, the client's own if they name none.
func defaultProvider(config string) string {
	var s struct {
		Provider string `toml:"model_provider"`
	}
	_, _ = toml.DecodeFile(filepath.Join(config, "config.toml"), &s) // what is wrong with it the client says
	return cmp.Or(s.Provider, "openai")
}

// A rebuilder makes the rollout of a new thread, record by record.
type rebuilder struct {
	transcript.Cut
	known    map[string][]field
	session  []byte // the new id, in JSON
	provider string // that the thread is to have, unless its own record names one

	file  [][]byte
	said  bool   // somebody has said something
	turn  string // the id of the task that runs, in JSON; "" for none
	stamp string // of the last record, in JSON
}

// add takes the record in a line over, or leaves it out.
func (r *rebuilder) add(line []byte) {
	if !bytes.HasPrefix(line, []byte{'{'}) || !json.Valid(line) || !utf8.Valid(line) {
		return
	}
	top, ok := transcript.Members(gjson.ParseBytes(line))
	kind, p := top["type"].Str, top["payload"]
	if !ok || !p.IsObject() {
		return
	}
	if len(r.file) == 0 {
		r.begin(kind, top)
	}
	payload, ok := r.keep(kind, p)
	if !ok || r.Foreign && speaks(kind, p) {
		return
	}
	r.follow(kind, p)
	r.record(stamp(top["timestamp"]), kind, payload)
}

// begin writes the first record. Records have numbers if the segments' have, else the client takes
// them for an older one's. Its terminal opens no thread without a provider: that is the one that the
// conversation had, but which of the user's a stranger's words are sent to, the user's settings say.
func (r *rebuilder) begin(kind string, top map[string]gjson.Result) {
	provider := r.provider
	if own := top["payload"].Get("model_provider"); kind == "session_meta" && !r.Foreign && own.Type == gjson.String {
		provider = cmp.Or(own.Str, provider)
	}
	now := quote(r.At.UTC().Format("2006-01-02T15:04:05.000Z"))
	mode := ""
	if top["ordinal"].Type == gjson.Number {
		mode = `,"history_mode":"paginated"`
	}
	r.record(string(now), "session_meta", slices.Concat(
		[]byte(`{"session_id":`), r.session, []byte(`,"id":`), r.session, []byte(`,"timestamp":`), now,
		[]byte(`,"cwd":`), quote(r.Dir), []byte(`,"originator":"git-agent","cli_version":"`+Tested+`","source":"cli","model_provider":`), quote(provider), []byte(mode+`}`)))
}

// record writes a record with the next number.
func (r *rebuilder) record(stamp, kind string, payload []byte) {
	r.stamp = stamp
	head := `{"timestamp":` + stamp + `,"ordinal":` + strconv.Itoa(len(r.file)) + `,"type":"` + kind + `","payload":`
	r.file = append(r.file, slices.Concat([]byte(head), payload, []byte("}\n")))
}

// follow notes what a record means for the file as a whole.
func (r *rebuilder) follow(kind string, p gjson.Result) {
	switch of := p.Get("type").Str; {
	case kind == "response_item" && of == "message":
		r.said = r.said || p.Get("role").Str != "developer"
	case kind == "event_msg" && of == "task_started":
		r.turn = string(quote(p.Get("turn_id").Str))
	case kind == "event_msg" && (of == "task_complete" || of == "turn_aborted"):
		r.turn = ""
	}
}

// speaks reports whether a record of a foreign conversation says something in the client's name.
func speaks(kind string, p gjson.Result) bool {
	switch of := p.Get("type").Str; {
	case kind == "compacted":
		speaks := p.Get("replacement_history").IsObject() // a list is what the client writes
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

// keep returns what is known of an object, or of each in a list. Anything else than these stays as it
// is. It returns false if the object isn't known, or has a field twice.
func (r *rebuilder) keep(name string, v gjson.Result) ([]byte, bool) {
	switch {
	case v.IsArray():
		return r.list(name, v)
	case !v.IsObject():
		return []byte(v.Raw), true
	}
	parts, ok := transcript.Members(v)
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

// list is keep for the elements of a list. Those that speak in the client's name are left out of what a
// compaction has left of a foreign conversation; and files of the user's from what is shown.
func (r *rebuilder) list(name string, v gjson.Result) (out []byte, ok bool) {
	out, ok = []byte{'['}, true
	v.ForEach(func(_, element gjson.Result) bool {
		if r.Foreign && name == "response_item" && speaks(name, element) {
			return true
		}
		var kept []byte
		if kept, ok = r.keep(name, element); !ok {
			ok = name == "said"
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

// elsewhere reports whether an image is not in the conversation, but somewhere else.
func elsewhere(parts map[string]gjson.Result) bool {
	url, is := parts["image_url"]
	return is && !strings.HasPrefix(url.Str, "data:")
}

// maxDepth is how deeply values may lie in each other that are kept as they are. The deepest of the
// client's are the arguments of tools, which are mostly texts.
const maxDepth = 50

// stamp returns a record's time, as it is written, if it is one.
func stamp(v gjson.Result) string {
	if moment(v.Str).IsZero() {
		return `"1970-01-01T00:00:00.000Z"`
	}
	return string(quote(v.Str))
}

// quote returns a text in JSON.
func quote(s string) []byte { return gjson.AppendJSONString(nil, s) }
