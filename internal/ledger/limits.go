package ledger

import "strings"

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
