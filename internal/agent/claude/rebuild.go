package claude

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Rebuild turns a conversation, a session's lines in order, into the file of a
// new session.
//
// The client acts on parts of its file, and its next request is made from all
// the others. So what is known to make it act, or to be the old session's, is
// left out: see [acts]. All else stays, with unchanged values, which makes the
// next request the original's byte for byte. A record that follows one that was
// left out then follows the one before, because the client silently omits a
// turn with a broken link. Records of a sub-agent are left out, and what is no
// strict JSON.
//
// A foreign conversation is untrusted. Of it only records of known types and
// their known fields are kept, see [known], and none that repeats a field or
// has content elsewhere. It also loses attachments, as the client would repeat
// them to the model in its own name and in the system prompt. It makes new
// ones.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	id, err := json.Marshal(c.Session)
	if err != nil {
		return nil, err
	}
	r := rebuilder{foreign: c.Foreign, table: byName(acts), id: id, before: map[string]string{}}
	if c.Foreign {
		r.table = byName(known)
	}
	return &transcript.Rebuilt{Path: Path(c.Config, c.Dir, c.Session), Write: func(w *bufio.Writer) error {
		r.file = w
		for line, err := range c.Lines {
			if err != nil {
				return err
			}
			r.add(line)
		}
		if !r.said {
			return fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
		}
		return nil
	}}, nil
}

// never is the time of every tool result. If files that tools have read or
// written are not older than the result, the client sends the model their
// contents, of any file; without a time they count as new. The program
// also orders records by time as text, where this is the first.
const never = `"+099999-12-31T23:59:59.999Z"`

// A rebuilder makes the file of a new session, record by record.
type rebuilder struct {
	foreign bool
	table   map[string]fields // what is known of a stranger's objects, or what is cut from one's own
	id      []byte            // of the new session, in JSON
	file    *bufio.Writer
	said    bool // something was said

	// before maps the uuid of an omitted record to the last kept one, in JSON.
	before map[string]string

	// The current record:
	line    []byte
	kind    string // its type
	subtype string // of a system record
	parts   []member
	edits   []edit
	stamp   member // the timestamp
	result  bool   // it has a tool's result
}

// An edit replaces a part of a line.
type edit struct {
	from, to int
	with     []byte
}

func (r *rebuilder) add(line []byte) {
	if len(line) == 0 || line[0] != '{' {
		return // the client also skips what is not JSON
	}
	if r.line = line; !r.take() {
		r.leaveOut()
		return
	}
	r.said = r.said || r.kind == "user" || r.kind == "assistant"
	slices.SortFunc(r.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	at := 0
	for _, e := range r.edits {
		if e.from < at {
			continue // in a part that was cut
		}
		_, _ = r.file.Write(line[at:e.from]) // its Flush returns the error, too
		_, _ = r.file.Write(e.with)
		at = e.to
	}
	_, _ = r.file.Write(line[at:])
	_ = r.file.WriteByte('\n')
}

func isLink(value string) bool {
	const form = `"00000000-0000-0000-0000-000000000000"`
	if len(value) != len(form) {
		return false
	}
	for i := range form {
		if c := value[i]; c != form[i] && (form[i] != '0' || !isHex(c)) {
			return false
		}
	}
	return true
}

// leaveOut notes the omitted record's predecessor for its successors.
func (r *rebuilder) leaveOut() {
	if !bytes.Contains(r.line, []byte(`"parentUuid"`)) {
		return
	}
	uuid, parent := gjson.GetBytes(r.line, "uuid").Raw, gjson.GetBytes(r.line, "parentUuid").Raw
	if !isLink(uuid) || parent != "null" && !isLink(parent) {
		return
	}
	if before, ok := r.before[parent]; ok {
		parent = before
	}
	r.before[uuid] = parent
}

// take finds the edits of the record, or returns false to leave it out.
func (r *rebuilder) take() bool {
	r.kind, r.subtype, r.parts, r.edits, r.stamp, r.result = "", "", r.parts[:0], r.edits[:0], member{}, false
	if r.object(0, maxDepth, r.field) != len(r.line) || !printable(r.line) {
		return false
	}
	name := r.kind
	if name == "system" {
		name += " " + r.subtype
	}
	listed, ok := r.takes(name, "record")
	if !ok || !r.keep(0, r.parts, listed) {
		return false
	}
	if name == "system model_refusal_fallback" && !r.foreign {
		// It goes on to say which messages were taken back, but no longer decides
		// on the model. The client does the same to its forks.
		r.edits = append(r.edits, edit{1, 1, []byte(`"neutralizedByFork":true,`)})
	}
	if r.result && r.stamp.end > 0 {
		r.edits = append(r.edits, edit{r.stamp.value, r.stamp.end, []byte(never)})
	} else if r.result {
		r.edits = append(r.edits, edit{1, 1, []byte(`"timestamp":` + never + `,`)})
	}
	return true
}

// takes returns the listed fields of an object, or false to leave it out. kind
// is the name of all objects that are like it.
func (r *rebuilder) takes(name, kind string) (fields, bool) {
	listed, ok := r.table[name]
	if r.foreign {
		return listed, ok
	}
	return r.table[kind], !ok || len(listed) > 0
}

// object appends the members of the object at i to parts and returns its end,
// or -1 if it is invalid. look returns the end of a member's value.
func (r *rebuilder) object(i, depth int, look func(m member, depth int) int) int {
	return members(r.line, i, depth, func(m member) int {
		m.end = look(m, depth-1)
		r.parts = append(r.parts, m)
		return m.end
	})
}

// keep cuts members, with a comma each, from the object at i: a stranger's that
// are not listed, one's own that are, and any whose name is spelled so that
// other programs take it for another. It returns false if a stranger's is
// repeated: programs differ in which they take.
func (r *rebuilder) keep(i int, parts []member, listed fields) bool {
	kept := i + 1     // end of the last that is kept
	gap := false      // some were cut since
	seen := uint64(0) // bits of the listed ones
	for _, m := range parts {
		bit := listed[string(m.key)]
		switch {
		case bit != 0 != r.foreign || bytes.IndexByte(m.key, '\\') >= 0:
			gap = true
			continue
		case seen&bit != 0:
			return false
		case gap && kept == i+1:
			r.edits = append(r.edits, edit{from: kept, to: m.from})
		case gap:
			r.edits = append(r.edits, edit{from: kept, to: m.comma})
		}
		kept, gap, seen = m.end, false, seen|bit
	}
	if gap {
		r.edits = append(r.edits, edit{from: kept, to: parts[len(parts)-1].end})
	}
	return true
}

func (r *rebuilder) field(m member, depth int) int {
	if r.line[m.value] == '{' || r.foreign {
		switch string(m.key) {
		case "message":
			return r.part(m.value, depth, ".message", r.message)
		case "attachment":
			return r.part(m.value, depth, ".attachment", r.value)
		case "toolUseResult":
			if r.line[m.value] == '{' { // otherwise text or content
				return r.part(m.value, depth, ".toolUseResult", r.value)
			}
		}
	}
	end := skip(r.line, m.value, depth)
	if end < 0 {
		return -1
	}
	switch value := r.line[m.value:end]; string(m.key) {
	case "type":
		r.kind = unquote(value)
		if r.kind == "system" {
			break // its subtype decides
		}
		if _, ok := r.takes(r.kind, "record"); !ok || r.foreign && strings.ContainsAny(r.kind, ". ") {
			return -1 // the rest may be long
		}
	case "subtype":
		r.subtype = unquote(value)
	case "isSidechain":
		if string(value) != "false" {
			return -1
		}
	case "sessionId":
		r.edits = append(r.edits, edit{m.value, end, r.id})
	case "timestamp":
		r.stamp, r.stamp.end = m, end
	case "parentUuid", "logicalParentUuid":
		if before, ok := r.before[string(value)]; ok {
			r.edits = append(r.edits, edit{m.value, end, []byte(before)})
		}
	}
	return end
}

// part keeps members of an inner object, and returns its end. An attachment is
// known by its type.
func (r *rebuilder) part(i, depth int, name string, look func(m member, depth int) int) int {
	outer := len(r.parts)
	end := r.object(i, depth, look)
	parts := r.parts[outer:]
	if r.parts = r.parts[:outer]; end < 0 {
		return -1
	}
	kind := name
	if name == ".attachment" {
		for _, m := range parts {
			if string(m.key) == "type" {
				name = kind + " " + unquote(r.line[m.value:m.end])
			}
		}
	}
	listed, ok := r.takes(name, kind)
	if !ok || !r.keep(i, parts, listed) {
		return -1
	}
	return end
}

func unquote(value []byte) string { return string(bytes.Trim(value, `"`)) }

func (r *rebuilder) message(m member, depth int) int {
	if string(m.key) == "content" {
		return r.content(m.value, depth)
	}
	return skip(r.line, m.value, depth)
}

func (r *rebuilder) value(m member, depth int) int { return skip(r.line, m.value, depth) }

// content checks what is said: a text, or blocks, which may have content.
// Blocks are kept whole: the model must get what it got before. A stranger's
// must be of known kinds, and images and documents have their data.
func (r *rebuilder) content(at, depth int) int {
	if r.line[at] != '[' {
		return skip(r.line, at, depth)
	}
	return elements(r.line, at, depth, func(at int) int {
		if r.line[at] != '{' {
			return skip(r.line, at, depth-1)
		}
		return r.checked(at, depth-1, blocks)
	})
}

// checked checks a block or its source. A stranger's type must be among types.
func (r *rebuilder) checked(at, depth int, types []string) int {
	seen := uint64(0)
	return members(r.line, at, depth, func(m member) int {
		bit := r.table[".block"][string(m.key)]
		if r.foreign && (seen&bit != 0 || bit == 0 && bytes.IndexByte(m.key, '\\') >= 0) {
			return -1 // repeated, perhaps spelled differently
		}
		seen |= bit
		switch string(m.key) {
		case "source":
			if r.line[m.value] == '{' {
				return r.checked(m.value, depth-1, sources)
			}
		case "content":
			return r.content(m.value, depth-1)
		}
		end := skip(r.line, m.value, depth-1)
		if end >= 0 && string(m.key) == "type" {
			kind := unquote(r.line[m.value:end])
			r.result = r.result || kind == "tool_result"
			if r.foreign && !slices.Contains(types, kind) {
				return -1
			}
		}
		return end
	})
}
