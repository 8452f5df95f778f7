package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The limits of what is read of a ledger, in bytes. They are the format's: whoever can push to the
// repository can have written a ledger, and what git stores in 500 KB can have 500 MB.
const (
	MaxTree    = 8 << 20
	MaxHead    = 1 << 20 // mission.json
	MaxTurn    = 4 << 20 // the record of a turn
	MaxSegment = 512 << 20
	MaxHandoff = 16 << 20 // the record of a handoff
	maxFile    = 4 << 20  // any other
)

// limit is how large a file of a ledger may be.
func limit(name string) int64 {
	switch {
	case name == headFile:
		return MaxHead
	case strings.HasPrefix(name, "turns/"):
		return MaxTurn
	case strings.HasPrefix(name, "transcript/"):
		return MaxSegment
	case strings.HasSuffix(name, "/handoff.json"):
		return MaxHandoff
	}
	return maxFile
}

// maxValues is how many values a record may have: those of a list or an object take far more memory
// than their text.
const maxValues = 1 << 15

// Decode decodes a record that a stranger may have written.
func Decode(data []byte, v any) error {
	if len(data) > maxValues && values(data) > maxValues {
		return fmt.Errorf("the record has more than %d values", maxValues)
	}
	return json.Unmarshal(data, v)
}

// values is about how many values a JSON text has: it counts what begins or separates them.
func values(data []byte) int {
	n, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
