package ledger

import (
	"fmt"
	"strings"

	"gitagent/internal/record"
)

// The trailers of a code commit. After a rebase that lost a turn's note, they are how the turn is
// found again.
const (
	TrailerMission = "Agent-Mission"
	TrailerTurns   = "Agent-Turns" // of a commit that has the work of several: [Ranges]
	trailerTurn    = "Agent-Turn"
	trailerSession = "Agent-Session"
)

// CodeMessage is the message of a code commit: a subject and trailers. Turn 0 means a commit that
// is not a turn's, and the session may be empty.
func CodeMessage(subject string, id record.ID, turn int, session string) string {
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

// ReadCodeMessage reads the trailers of a code commit's message, as [CodeMessage] writes them, in its last
// paragraph. ok is false if it names no mission. The turn is 0 for a commit that is not a turn's.
func ReadCodeMessage(message string) (id record.TurnID, ok bool) {
	message = strings.TrimRight(message, "\n")
	for line := range strings.SplitSeq(message[strings.LastIndex(message, "\n\n")+1:], "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case TrailerMission:
			mission, err := record.ParseID(value)
			if ok = err == nil; ok {
				id.Mission = mission
			}
		case trailerTurn:
			if n, is := record.ParseNumber(value); is && record.IsNumber(n) {
				id.Turn = n
			}
		}
	}
	return id, ok
}
