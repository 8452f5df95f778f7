package purgerewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"gitagent/internal/scrub"
)

const marked = `"` + scrub.Mark + `"`

// cleanLines returns lines of JSON without what is found in them, and the
// number of finds. A line stays JSON: a find in a string becomes a mark, a
// number 0. A find that spans strings takes them all, a line with a find in an
// opaque block is blanked, and one that can't be cleaned becomes {} or nothing.
func cleanLines(f *scrub.Finder, content []byte) (out []byte, n int) {
	spans := f.Spans(content)
	if n = len(spans); n == 0 {
		return content, 0
	}
	for round := 0; len(spans) > 0 && round < scrub.Rounds; round++ {
		content = eachTouched(content, spans, func(line []byte, found []scrub.Span) []byte {
			switch {
			case json.Valid(line) && round == scrub.Rounds-1:
				return []byte("{}")
			case json.Valid(line) && round == 0 && inOpaque(line, found):
				return blankLine(line)
			case json.Valid(line):
				return cleanValues(f, line, found, round > 0)
			case round == scrub.Rounds-1:
				return nil
			case round > 0:
				return []byte(scrub.Mark)
			}
			out, _ := f.Clean(line)
			return out
		})
		spans = f.Spans(content)
	}
	return content, n
}

// eachTouched replaces lines that spans overlap. f gets spans cut to the line.
func eachTouched(content []byte, spans []scrub.Span, f func(line []byte, found []scrub.Span) []byte) []byte {
	out := make([]byte, 0, len(content)+len(content)/64)
	at, t := 0, touched{spans}
	for line := range bytes.Lines(content) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		if t.is(at, at+len(text)) {
			var found []scrub.Span
			for _, s := range t.spans {
				if s.From >= at+len(text) {
					break
				}
				found = append(found, scrub.Span{From: max(0, s.From-at), To: min(len(text), s.To-at)})
			}
			out = append(append(out, f(text, found)...), line[len(text):]...)
		} else {
			out = append(out, line...)
		}
		at += len(line)
	}
	return out
}

// cleanValues cleans strings of valid JSON; whole marks entire strings.
func cleanValues(f *scrub.Finder, line []byte, found []scrub.Span, whole bool) []byte {
	var edits []edit
	t := touched{found}
	scrub.Tokens(line, func(v scrub.Token) {
		switch {
		case !t.is(v.From, v.To):
		case v.Kind == '0':
			edits = append(edits, edit{v.From, v.To, "0"})
		case whole:
			edits = append(edits, edit{v.From, v.To, marked})
		default:
			if inner, ok := f.Clean(line[v.From+1 : v.To-1]); !ok {
				edits = append(edits, edit{v.From, v.To, marked})
			} else if with := `"` + string(inner) + `"`; json.Valid([]byte(with)) {
				edits = append(edits, edit{v.From, v.To, with})
			} else {
				edits = append(edits, edit{v.From, v.To, marked})
			}
		}
	})
	return apply(line, edits)
}

// structural are the members that hold a conversation together: who speaks, in
// which order, which result belongs to which call. They stay in a purged turn.
var structural = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"type": true, "subtype": true, "role": true, "kind": true, "phase": true, "status": true, "outcome": true,
		"uuid": true, "parentUuid": true, "logicalParentUuid": true, "sourceToolAssistantUUID": true, "leafUuid": true,
		"sessionId": true, "sessionID": true, "session_id": true, "thread_id": true, "agentId": true,
		"id": true, "messageID": true, "parentID": true, "call_id": true, "callID": true, "tool_use_id": true,
		"toolUseID": true, "turn_id": true, "root_turn_id": true, "parent_turn_id": true, "requestId": true,
		"promptId": true, "promptSource": true, "turnOrigin": true, "userType": true, "level": true,
		"timestamp": true, "version": true, "model": true, "modelID": true, "providerID": true, "name": true, "tool": true,
		"stop_reason": true, "stop_sequence": true, "finish": true, "reason": true, "agent": true, "mode": true,
		"startTime": true, "lastUpdated": true, "projectHash": true, "originator": true, "cli_version": true,
	}
})

// opaque are block types that only the service can make, or that a mark would
// make invalid, by the type of the text that replaces them.
var opaque = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"thinking": "text", "redacted_thinking": "text", "image": "text", "document": "text",
		"input_image": "input_text",
	}
})

// blankLines returns what replaces the lines of a wholly purged turn, a
// function of them alone: numbers, names and structural texts stay, others
// become marks, a line with encrypted content {}, and no JSON nothing.
func blankLines(content []byte) []byte {
	var out []byte
	for line := range bytes.Lines(content) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		end := line[len(text):]
		switch {
		case len(text) == 0:
		case !json.Valid(text):
			text = nil
		case bytes.Contains(text, []byte(`"encrypted_content"`)):
			text = []byte("{}")
		default:
			text = blankLine(text)
		}
		out = append(append(out, text...), end...)
	}
	return out
}

// Unprompted returns a text of ours with marks for the prompts of purged turns
// in members of the given names.
func (r *Rewrite) Unprompted(content []byte, names ...string) []byte {
	if len(r.prompts) == 0 {
		return content
	}
	return scrub.Unprompted(content, r.isPrompt, names...)
}

// isPrompt reports whether a text is a purged turn's prompt. Both may be cut.
func (r *Rewrite) isPrompt(text string) bool {
	begin, cut := strings.CutSuffix(text, "…")
	for _, prompt := range r.prompts {
		known, short := strings.CutSuffix(prompt, "…")
		switch {
		case begin == "" || known == "":
		case begin == known, cut && strings.HasPrefix(known, begin), short && strings.HasPrefix(begin, known):
			return true
		}
	}
	return false
}

func blankLine(line []byte) []byte {
	line = blankBlocks(line)
	var edits []edit
	scrub.Tokens(line, func(v scrub.Token) {
		if v.Kind == '"' && !structural()[v.Key()] && v.To-v.From > len(`""`) {
			edits = append(edits, edit{v.From, v.To, marked})
		}
	})
	return apply(line, edits)
}

func blankBlocks(line []byte) []byte { return apply(line, blocks(line)) }

func inOpaque(line []byte, found []scrub.Span) bool {
	return slices.ContainsFunc(blocks(line), func(b edit) bool {
		return slices.ContainsFunc(found, func(s scrub.Span) bool { return s.From < b.to && b.from < s.To })
	})
}

// blocks returns edits that replace a line's opaque blocks, elements of lists.
func blocks(line []byte) (edits []edit) {
	var begins []int // of the objects and lists around a token
	kinds := map[int]string{}
	scrub.Tokens(line, func(v scrub.Token) {
		if v.Kind == '"' && v.Key() == "type" {
			if to, ok := opaque()[string(line[v.From+1:v.To-1])]; ok {
				kinds[v.From] = to
			}
		}
	})
	if len(kinds) == 0 {
		return nil
	}
	to := map[int]string{} // by where an object begins
	inString := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if with, ok := kinds[i]; ok && len(begins) > 1 && line[begins[len(begins)-2]] == '[' {
			to[begins[len(begins)-1]] = with
		}
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			begins = append(begins, i)
		case c == '}' || c == ']':
			from := begins[len(begins)-1]
			begins = begins[:len(begins)-1]
			if with, ok := to[from]; ok {
				for len(edits) > 0 && edits[len(edits)-1].from > from {
					edits = edits[:len(edits)-1] // within this one
				}
				edits = append(edits, edit{from, i + 1, `{"type":"` + with + `","text":` + marked + `}`})
			}
		}
	}
	return edits
}
