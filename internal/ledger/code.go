package ledger

import (
	"fmt"
	"strings"

	"gitagent/internal/record"
)

// Trailers of a code commit, to find a turn whose note a rebase lost.
const (
	TrailerMission = "Agent-Mission"
	TrailerTest    = "Test"        // a command that tested the work, as AOSP and others write it
	TrailerTurns   = "Agent-Turns" // for a commit with the work of several turns: [Ranges]
	trailerTurn    = "Agent-Turn"
	trailerStep    = "Agent-Step"
	trailerCall    = "Agent-Call"
	trailerSession = "Agent-Session"
)

// CodeMessage returns the message of a code commit: a subject and trailers.
// Turn 0 means that it is not a turn's; the session may be empty.
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

// StepMessage returns the message of the commit of a step of a turn. The call is
// the last one before the step; it may be empty.
func StepMessage(id record.ID, turn, step int, session, call string) string {
	name := fmt.Sprintf("%d.%d", turn, step)
	text := fmt.Sprintf("%s%s: %s\n", CodeMessage("step "+name, id, 0, session), trailerStep, name)
	if call != "" {
		text += fmt.Sprintf("%s: %s\n", trailerCall, call)
	}
	return text
}

// StepCall returns the call in the message of a step's commit, or "".
func StepCall(message string) string {
	for line := range strings.SplitSeq(message, "\n") {
		if call, ok := strings.CutPrefix(line, trailerCall+": "); ok {
			return call
		}
	}
	return ""
}

// ReadCodeMessage reads [CodeMessage]'s trailers in the last paragraph. ok is
// false without a mission; without a turn that is 0.
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
