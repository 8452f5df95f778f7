package ledger

import (
	"fmt"
	"strings"
)

// The trailers of a code commit. After a rebase that lost a turn's note, they are how the turn is
// found again.
const (
	TrailerMission = "Agent-Mission"
	trailerTurn    = "Agent-Turn"
	trailerSession = "Agent-Session"
)

// CodeMessage is the message of a code commit: a subject and trailers. Turn 0 means a commit that
// is not a turn's, and the session may be empty.
func CodeMessage(subject string, id ID, turn int, session string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s: %s\n", subject, TrailerMission, id)
	if turn > 0 {
		fmt.Fprintf(&b, "%s: %d\n", trailerTurn, turn)
	}
	if session != "" {
		fmt.Fprintf(&b, "%s: %s\n", trailerSession, session)
	}
	return b.String()
}
