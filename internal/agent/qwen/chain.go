package qwen

import (
	"bytes"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Continues returns the id of the turn that the one whose lines begin at an
// offset of the file goes on from, if that is not the one before it in the file.
//
// After a person has gone back, the next record's parent is an earlier one.
// Most turns' parents are near.
func Continues(path string, at int64) (promptID string, jumps bool, err error) {
	const near, most = 32 << 10, transcript.MaxSegment / 2
	for size := int64(near); ; size = min(8*size, most) {
		from := max(0, at-size)
		data, err := transcript.ReadRange(path, from, at+size)
		if err != nil {
			return "", false, err
		}
		promptID, jumps, whole := goesOn(data, int(at-from))
		if whole || size == most {
			return promptID, jumps, nil
		}
	}
}

// goesOn is Continues for a part of a file. whole is false if the part lacks a
// record by which to tell: then it says that the turn doesn't jump.
func goesOn(part []byte, at int) (promptID string, jumps, whole bool) {
	known := make(map[string]link)
	var before, first link
	offset := 0
	for line := range bytes.Lines(part) {
		l := linked(line)
		switch _, twice := known[l.id]; {
		case l.id == "" || twice:
		case l.opens && offset >= at:
			first = l
		default:
			known[l.id] = l
			if l.opens {
				before = l
			}
		}
		if offset += len(line); first.opens {
			break
		}
	}
	l, ok := first, first.opens
	for ok && l.parent != "" {
		parent := l.parent
		l, ok = known[parent]
		delete(known, parent) // so a circle ends
		switch {
		case !ok || !l.opens:
		case l.id == before.id:
			return "", false, true
		default:
			return l.id, true, true
		}
	}
	return "", ok && before.opens, ok
}

// A link is a record's place among the others.
type link struct {
	id, parent string
	opens      bool // a turn
}

func linked(line []byte) (l link) {
	if !bytes.HasPrefix(line, []byte(`{"uuid":`)) {
		return link{}
	}
	fields := gjson.GetManyBytes(line, "uuid", "parentUuid", "type", "subtype")
	l.id, l.parent = transcript.Kept(fields[0]), transcript.Kept(fields[1])
	l.opens = fields[2].Str == "user" && opens(fields[3].Str)
	return l
}
