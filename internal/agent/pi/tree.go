package pi

import (
	"bytes"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Continues follows the entries of a file from the turn at an offset to the one
// that it goes on from: after a /tree that is not the one before. Most turns'
// parents are near.
func Continues(path string, at int64) (promptID string, jumps bool, err error) {
	const near = 128 << 10
	end, err := transcript.End(path)
	if err != nil {
		return "", false, err
	}
	for size := int64(near); ; size *= 8 {
		first := max(0, at-size)
		data, err := transcript.ReadRange(path, first, end.Offset)
		if err != nil {
			return "", false, err
		}
		from, last, known := goesOn(data, at-first, first == 0)
		switch {
		case !known && first > 0:
			continue
		case from == last:
			return "", false, nil
		case hooks.ValidID(from):
			promptID = from
		}
		return promptID, true, nil
	}
}

// goesOn returns the turn that the one at an offset goes on from, and the last
// one before it; "" for none. known is false if data lacks the file's beginning,
// and that may tell otherwise. Of most lines it reads no more than their ids, as
// files get large.
func goesOn(data []byte, at int64, whole bool) (from, last string, known bool) {
	var r reader
	turns := make(map[string]string) // of entries
	offset := int64(0)
	for line := range bytes.Lines(data) {
		began := offset
		offset += int64(len(line))
		if began == 0 && !whole { // it may be a part of a line
			continue
		}
		id, parent := link(line)
		turn, known := turns[parent]
		known = known || whole
		switch gjson.GetBytes(line, "message.role").Str {
		case "assistant", "toolResult":
			r.last = transcript.Moment(gjson.GetBytes(line, "timestamp").Str)
		case "user":
			if r.Read(0, bytes.TrimSpace(line)).Opens == nil {
				break
			}
			if began >= at {
				return turn, last, known && (whole || last != "")
			}
			if whole || !r.last.IsZero() { // else it may have waited
				turn, last, known = id, id, true
			}
		}
		if known {
			turns[id] = turn
		}
	}
	return last, last, true
}

// link returns an entry's id and the one that it comes after, or "".
func link(line []byte) (id, parent string) {
	return transcript.Kept(gjson.GetBytes(line, "id")), transcript.Kept(gjson.GetBytes(line, "parentId"))
}
