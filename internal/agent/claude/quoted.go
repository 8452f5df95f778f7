package claude

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Quoter is [Reader], and what quotes the lines that it need not read.
func Quoter() (transcript.Reader, transcript.Quoter) {
	r := new(reader)
	return r, r.quoted
}

// quoted finds what tools answer and the model says in one pass, which also
// checks the line. It leaves to Read what the user says, and whatever the client
// does not write: a name that is repeated, or spelled with an escape.
func (r *reader) quoted(line []byte) (id string, said []transcript.Quoted, ok bool) {
	q := quoting{line: line, blocks: r.blocks[:0]}
	end := members(line, 0, maxDepth, q.field)
	r.blocks = q.blocks
	if end != len(line) || !printable(line) || q.odd {
		return "", nil, false
	}
	side := q.sidechain
	said = r.said[:0]
	switch string(q.kind) {
	case `"assistant"`:
		if q.spoken == nil || bytes.Contains(q.model, []byte(synthetic)) {
			return "", nil, false
		}
		for _, b := range q.blocks {
			switch string(b.kind) {
			case `"text"`:
				if b.text == nil {
					return "", nil, false
				}
				said = transcript.Quote(said, transcript.Reply, b.text)
			case `"tool_use"`:
				said = transcript.QuoteCall(said, part(gjson.ParseBytes(b.all)))
			case `"tool_result"`, ``:
				return "", nil, false
			}
		}
		if !side {
			r.opener.lead = lead{}
		}
	case `"user"`:
		if len(q.blocks) == 0 {
			return "", nil, false
		}
		for _, b := range q.blocks {
			if string(b.kind) != `"tool_result"` || b.content == nil {
				return "", nil, false
			}
			said = transcript.Quote(said, transcript.Result, b.content)
		}
		if !side {
			rec := fileLine{uuid: plain(q.uuid), promptID: plain(q.promptID)}
			rec.answers = answered
			r.opener.open(0, &rec)
		}
	default:
		return "", nil, false
	}
	if r.said = said; side {
		return "", nil, true
	}
	return plain(q.uuid), said, true
}

// answered stands for tools' answers: that there are any.
var answered = []transcript.Part{{Kind: transcript.Answer}}

// A quoting is what is known of a line.
type quoting struct {
	line []byte
	odd  bool // the line is none that the client writes
	seen uint // bits of the fields below

	kind, uuid, promptID []byte // quoted
	sidechain            bool
	spoken, model        []byte // of the message: its content, and quoted
	blocks               []quotedBlock
}

// A quotedBlock is a block of a message's content.
type quotedBlock struct {
	all, kind     []byte // kind is quoted
	text, content []byte // between quotes; nil if it is no single text
}

func (q *quoting) once(bit uint) {
	q.odd = q.odd || q.seen&(1<<bit) != 0
	q.seen |= 1 << bit
}

// simple reports whether a value is a string of ASCII without escapes.
func simple(value []byte) bool {
	for _, c := range value {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return value[0] == '"'
}

func plain(value []byte) string {
	if value == nil {
		return ""
	}
	return string(value[1 : len(value)-1])
}

func (q *quoting) field(m member) int {
	if bytes.IndexByte(m.key, '\\') >= 0 {
		return -1
	}
	switch string(m.key) {
	case "message":
		q.once(0)
		return members(q.line, m.value, maxDepth-1, q.message)
	case "attachment", "turnOrigin", "isCompactSummary": // of a prompt, or in its place
		return -1
	}
	end := skip(q.line, m.value, maxDepth-1)
	if end < 0 {
		return -1
	}
	value := q.line[m.value:end]
	take := func(bit uint, to *[]byte) {
		q.once(bit)
		*to, q.odd = value, q.odd || !simple(value)
	}
	switch string(m.key) {
	case "type":
		if take(1, &q.kind); string(value) != `"assistant"` && string(value) != `"user"` {
			return -1 // the rest may be long
		}
	case "uuid":
		take(2, &q.uuid)
	case "promptId":
		take(3, &q.promptID)
	case "isSidechain":
		q.once(4)
		q.sidechain = string(value) == "true"
	}
	return end
}

func (q *quoting) message(m member) int {
	if bytes.IndexByte(m.key, '\\') >= 0 {
		return -1
	}
	switch string(m.key) {
	case "content":
		q.once(5)
		end := elements(q.line, m.value, maxDepth-2, q.block)
		if end >= 0 {
			q.spoken = q.line[m.value:end]
		}
		return end
	case "model":
		q.once(6)
		end := skip(q.line, m.value, maxDepth-2)
		if end >= 0 {
			q.model = q.line[m.value:end]
			q.odd = q.odd || !simple(q.model)
		}
		return end
	}
	return skip(q.line, m.value, maxDepth-2)
}

func (q *quoting) block(at int) int {
	b, end := q.one(at, maxDepth-3, true)
	if end >= 0 {
		q.blocks = append(q.blocks, b)
	}
	return end
}

// one reads a block, with the content that it may have.
func (q *quoting) one(at, depth int, outer bool) (b quotedBlock, end int) {
	seen := uint(0)
	take := func(bit uint, to *[]byte, value []byte) {
		q.odd = q.odd || seen&(1<<bit) != 0
		*to, seen = value, seen|1<<bit
	}
	end = members(q.line, at, depth, func(m member) int {
		if bytes.IndexByte(m.key, '\\') >= 0 {
			return -1
		}
		if string(m.key) == "content" && outer && q.line[m.value] == '[' {
			text, end := q.single(m.value, depth-1)
			take(2, &b.content, text)
			return end
		}
		end := skip(q.line, m.value, depth-1)
		if end < 0 {
			return -1
		}
		value := q.line[m.value:end]
		switch string(m.key) {
		case "type":
			take(0, &b.kind, value)
			q.odd = q.odd || !simple(value)
		case "text":
			take(1, &b.text, inside(value))
		case "content":
			take(2, &b.content, inside(value))
		}
		return end
	})
	if end >= 0 {
		b.all = q.line[at:end]
	}
	return b, end
}

// single returns the only text in an array of texts and images, or nil.
func (q *quoting) single(at, depth int) (text []byte, end int) {
	texts := 0
	end = elements(q.line, at, depth, func(at int) int {
		b, end := q.one(at, depth-1, false)
		switch {
		case end < 0:
		case string(b.kind) == `"text"` && b.text != nil:
			text = b.text
			texts++
		case !slices.Contains([]string{`"image"`, `"document"`}, string(b.kind)):
			texts = 2
		}
		return end
	})
	if texts != 1 {
		text = nil
	}
	return text, end
}

// inside returns a string without its quotes, or nil for another value.
func inside(value []byte) []byte {
	if value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}
