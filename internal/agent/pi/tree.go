package pi

import (
	"bytes"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Continues follows the entries of a file from the turn at an offset to the one
// that it goes on from: after a /tree that is not the one before.
func Continues(path string, at int64) (promptID string, jumps bool, err error) {
	end, err := transcript.End(path)
	if err != nil {
		return "", false, err
	}
	data, err := transcript.ReadRange(path, 0, end.Offset)
	if err != nil {
		return "", false, err
	}
	from, last := goesOn(data, at)
	if from == last {
		return "", false, nil
	}
	if hooks.ValidID(from) {
		promptID = from
	}
	return promptID, true, nil
}

// goesOn returns the turn that the one at an offset goes on from, and the last
// one before it in the file; "" for none. Of most lines it reads no more than
// their ids, as files get large.
func goesOn(data []byte, at int64) (from, last string) {
	var r reader
	turns := make(map[string]string) // of entries
	offset := int64(0)
	for line := range bytes.Lines(data) {
		began := offset
		offset += int64(len(line))
		id, parent := link(line)
		turn := turns[parent]
		switch gjson.GetBytes(line, "message.role").Str {
		case "assistant", "toolResult":
			r.last = moment(gjson.GetBytes(line, "timestamp").Str)
		case "user":
			if r.Read(0, bytes.TrimSpace(line)).Opens == nil {
				break
			}
			if began >= at {
				return turn, last
			}
			turn, last = id, id
		}
		turns[id] = turn
	}
	return last, last
}

// link returns an entry's id and the one that it comes after, or "".
func link(line []byte) (id, parent string) {
	return transcript.Kept(gjson.GetBytes(line, "id")), transcript.Kept(gjson.GetBytes(line, "parentId"))
}
