//go:build unix

package handoffstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/terminal"
	"gitagent/test/gittest"
)

// fakeTmux puts a shell script in the place of tmux. Package terminal is tested with the real one.
func fakeTmux(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n"+script), 0o777))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestSnapshot(t *testing.T) {
	session, err := filepath.Abs(filepath.Join("..", "testdata", "transcripts", "five-turns.jsonl"))
	gittest.Must(t, err)
	for name, tt := range map[string]struct{ alternate, session, first, holds, lacks string }{
		"a classic screen":                     {"0", session, fromPane, "a page\n", "T1 please write a file"},
		"a single page":                        {"1", session, fromConversation, "> T1 please write a file\n", "a page"},
		"a single page, and no conversation":   {"1", "", fromPane, "a page\n", "T1"},
		"a single page, and no file of it":     {"1", session + ".gone", fromPane, "a page\n", "T1"},
		"a tmux that does not know what it is": {"", session, fromPane, "a page\n", "T1"},
	} {
		t.Run(name, func(t *testing.T) {
			token := "gh" + "p_" + strings.Repeat("A1b2C3d4", 4) + "E5f6"
			fakeTmux(t, `case "$*" in *"-S -"*) echo 80 8; echo a page; echo the token `+token+`;; *) echo `+tt.alternate+`;; esac`)
			got, err := Snapshot(t.Context(), nil, "%0", "claude-code", tt.session, time.Minute)
			if err != nil || !strings.HasPrefix(string(got), tt.first) || !strings.Contains(string(got), tt.holds) || strings.Contains(string(got), tt.lacks) {
				t.Errorf("%v: %s", err, got)
			}
			if strings.Contains(string(got), token) {
				t.Errorf("a secret stays: %s", got)
			}
		})
	}
}

func TestNoSnapshot(t *testing.T) {
	t.Setenv("TMUX", "")
	if got, err := Snapshot(t.Context(), nil, "", "claude-code", "", time.Minute); got != nil || !errors.Is(err, terminal.ErrNoPane) {
		t.Errorf("outside of tmux: %q, %v", got, err)
	}
	fakeTmux(t, "echo half; exit 7")
	if got, err := Snapshot(t.Context(), nil, "%0", "claude-code", "", time.Minute); got != nil || err == nil {
		t.Errorf("a tmux that fails: %q, %v", got, err)
	}
	fakeTmux(t, "sleep 60")
	if got, err := Snapshot(t.Context(), nil, "%0", "claude-code", "", 50*time.Millisecond); got != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a tmux that hangs: %q, %v", got, err)
	}
	fakeTmux(t, `case "$*" in *"-S -"*) echo 80 8; yes "a line of much text" | head -c 3000000;; *) echo 0;; esac`)
	got, err := Snapshot(t.Context(), nil, "%0", "claude-code", "", time.Minute)
	if err != nil || len(got) > snapshotBytes+len(fromPane) || !strings.HasPrefix(string(got), fromPane+"a line of much text\n") {
		t.Errorf("of 3 MB %d bytes are kept (%v): %.100q", len(got), err, got)
	}
}
