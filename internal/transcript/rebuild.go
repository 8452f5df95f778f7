package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"unicode/utf16"

	"github.com/tidwall/gjson"
)

// ErrEmpty reports a conversation in which nobody has said anything, so it can't be continued.
var ErrEmpty = errors.New("the conversation is empty")

// Rebuild turns a conversation, the segments of a session in order, into the file of a new session
// with the given id. It returns the file in pieces, to be written one after the other; they share
// the segments' memory.
//
// It keeps the records that form the conversation, those with a parentUuid, and those that replace
// large tool outputs, and changes only the session's id in them. None of them is dropped or
// relinked, because the client silently omits a turn whose links don't hold. It leaves out what
// belongs to the old session alone: its costs, its queue, the request log and the worktree it moved
// into, to which the client would return.
func Rebuild(segments [][]byte, session string) (file [][]byte, err error) {
	id, err := json.Marshal(session)
	if err != nil {
		return nil, err
	}
	said := false
	for _, segment := range segments {
		for _, line := range lines(segment) {
			if !bytes.HasPrefix(line, []byte{'{'}) || !bytes.HasSuffix(line, []byte{'}'}) {
				continue // torn; the client, too, skips what is not JSON
			}
			switch {
			case bytes.Contains(line, []byte(`"parentUuid"`)) && gjson.GetBytes(line, "parentUuid").Exists():
				if !said {
					kind := gjson.GetBytes(line, "type").Str
					said = kind == "user" || kind == "assistant"
				}
			case !bytes.Contains(line, []byte(`"content-replacement"`)) || gjson.GetBytes(line, "type").Str != "content-replacement":
				continue
			}
			if old := gjson.GetBytes(line, "sessionId"); old.Index > 0 {
				file = append(file, line[:old.Index], id)
				line = line[old.Index+len(old.Raw):]
			}
			file = append(file, line, []byte{'\n'})
		}
	}
	if !said {
		return nil, fmt.Errorf("rebuild session %s: %w", session, ErrEmpty)
	}
	return file, nil
}

// maxName is the longest name, in UTF-16 units, that the client gives a project's directory without
// shortening it.
const maxName = 200

// Path returns where the client looks for the file of a session that is resumed in a directory.
// config is its configuration directory, dir the directory with symbolic links resolved.
//
// Every UTF-16 unit of dir outside A-Z, a-z, 0-9 becomes a dash. A name of more than 200 units is
// cut, and followed by a hash of the whole in base 36: Java's string hash without its sign.
func Path(config, dir, session string) string {
	units := utf16.Encode([]rune(dir))
	name := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = 31*hash + int32(u)
		name[i] = '-'
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			name[i] = byte(u)
		}
	}
	encoded := string(name)
	if len(encoded) > maxName {
		encoded = encoded[:maxName] + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
	}
	return filepath.Join(config, "projects", encoded, session+".jsonl")
}
