package contextmeter

import (
	"fmt"
	"strconv"
	"strings"
)

// A Message is the material for the texts to the agent.
type Message struct {
	Notice   Notice
	Tokens   int64
	Limits   Limits
	Calls    int    // tool calls in this cycle
	Document string // where the agent is asked to write its handoff
}

// Text returns the message as the agent reads it.
func (m Message) Text() string {
	full := fmt.Sprintf("the context of this session is %d%% full, %s of %s tokens",
		m.Limits.Percent(m.Tokens), Comma(m.Tokens), Comma(int64(m.Limits.Window)))
	if m.Notice == Reminder {
		full = fmt.Sprintf("this session has called tools %d times, and how full its context is can't be read", m.Calls)
	}
	write := "git agent-handoff write " + quote(m.Document)
	if m.Notice == Critical {
		return fmt.Sprintf(`git-agent, URGENT: %s. It is about to be compacted, and what is not written down will be lost.
Write the handoff NOW, before anything else. Put into the file
    %s
what the next session needs to go on: the goal, what is done, what is left, what you have found out, open questions. Then run exactly this:
    %s
After that you may go on, or tell the user that a new session can take over.`, full, m.Document, write)
	}
	return fmt.Sprintf(`git-agent: %s. When it is full it will be compacted, and details will be lost.
Choose a good moment to hand off, before that: put what the next session needs to go on (the goal, what is done, what is left, what you have found out, open questions) into the file
    %s
and run:
    %s
Until then go on with the task. When to hand off is your decision.`, full, m.Document, write)
}

// quote returns s as one word of a shell command line.
func quote(s string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%"
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Comma returns a number as people read it: 123,456.
func Comma(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
