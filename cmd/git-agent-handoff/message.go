package main

import (
	"fmt"
	"strings"
	"unicode"
)

// A message is typed for the next session. The SessionStart hook adds the rest.
type message struct {
	handoff  string // its name, a1b2c3d4/3
	snapshot bool   // it has a snapshot of the terminal
	log      string // path of the terminal's log; "" for none
}

// String returns the message: one line without control characters, which the
// client takes for a prompt and not for a command. It has at most 800 UTF-16
// units: the client hides a longer text behind a mark, and tells the model that
// a user may not have written it.
func (m message) String() string {
	search := fmt.Sprintf("it is long, so do not read it whole but search it with: git agent-handoff grep --handoff %s <pattern>", m.handoff)
	var b strings.Builder
	fmt.Fprintf(&b, "Continue the work of the previous session from its handoff %[1]s. "+
		"It should be in your context already; if it is not, read it with: git agent-handoff show %[1]s", m.handoff)
	if m.snapshot {
		fmt.Fprintf(&b, ". There is a snapshot of its terminal; %s", search)
	}
	if m.log != "" {
		// The handoff has a path that is too long or that the client may
		// interpret.
		in := ""
		if len(m.log) <= maxPath && !strings.ContainsFunc(m.log, isOdd) {
			in = " in " + m.log
		}
		fmt.Fprintf(&b, ". There is a complete log of its terminal%s; %s", in, search)
	}
	return b.String()
}

const maxPath = 200 // of a path in a message, in bytes

// isOdd reports whether a rune is invisible, or the client may interpret it.
func isOdd(r rune) bool { return r == '@' || !unicode.IsPrint(r) }
