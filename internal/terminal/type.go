package terminal

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Page returns what the pane shows, with the escape sequences of colours and attributes.
func (p Pane) Page(ctx context.Context) (string, error) {
	page, err := p.tmux(ctx, "capture-pane", "-e", "-p")
	return string(page), err
}

// Press presses a key by its name in tmux.
func (p Pane) Press(ctx context.Context, key string) error {
	_, err := p.tmux(ctx, "send-keys", key)
	return err
}

// Type types text as it is.
func (p Pane) Type(ctx context.Context, text string) error {
	_, err := p.tmux(ctx, "send-keys", "-l", text)
	return err
}

// Paste pastes text. A program that supports pastes tells it from typed text: a line feed in it is
// not an Enter. tmux does not look for the sequence that ends a paste, so text must not contain
// control characters.
func (p Pane) Paste(ctx context.Context, text string) error {
	buffer := fmt.Sprintf("git-agent-%d", os.Getpid())
	if _, err := tmux(ctx, strings.NewReader(text), "load-buffer", "-b", buffer, "-"); err != nil {
		return err
	}
	_, err := p.tmux(ctx, "paste-buffer", "-p", "-d", "-b", buffer)
	return err
}
