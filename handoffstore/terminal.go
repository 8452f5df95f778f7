package handoffstore

import (
	"bytes"
	"context"
	"strings"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/redact"
	"gitagent/internal/terminal"
	"gitagent/internal/transcript"
)

const (
	snapshotLines = 2000    // of a conversation
	snapshotBytes = 1 << 20 // of either kind; the end is kept
)

// The first line of a snapshot says which kind it is.
const (
	fromPane         = "# What the terminal showed, with what had scrolled off.\n"
	fromConversation = "# The conversation, at most its last 2,000 lines: the terminal showed a single page.\n"
)

// Snapshot returns the redacted text of a tmux pane, see [terminal.FindPane],
// or the last lines of session, the conversation's file, if a full-screen
// client leaves only a page there. It sends no keys.
func Snapshot(ctx context.Context, rules *redact.Rules, target, name, session string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pane, err := terminal.FindPane(target)
	if err != nil {
		return nil, err
	}
	text, err := terminal.Snapshot(ctx, target)
	if err != nil {
		return nil, err
	}
	first := fromPane
	if single, err := pane.OnAlternate(ctx); err == nil && single {
		said, _ := transcript.Tail(session, saidBytes) // an error leaves us the page
		if lines := transcript.Text(agent.Of(name).Reader(), said, snapshotLines); len(lines) > 0 {
			first, text = fromConversation, []byte(strings.Join(lines, "\n")+"\n")
		}
	}
	if cut := len(text) - snapshotBytes; cut > 0 {
		text = text[cut:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return append([]byte(first), bytes.ToValidUTF8(rules.Bytes(text), []byte("\uFFFD"))...), nil
}
