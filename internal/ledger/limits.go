package ledger

import "strings"

// Limits in bytes of what is read of a ledger, which docs/format.md sets: an
// untrusted ledger of 500 KB in git can hold 500 MB.
const (
	MaxTree    = 8 << 20
	MaxHead    = 1 << 20 // mission.json
	MaxTurn    = 4 << 20 // the record of a turn
	MaxSegment = 512 << 20
	MaxHandoff = 16 << 20 // the record of a handoff
	maxFile    = 4 << 20  // any other
)

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
