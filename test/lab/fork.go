package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

const ForkID = record.ID("f0f0f0f0")

// Three makes a session of three turns.
func (l *Lab) Three() (*replay.Client, []*turns.Turn) {
	l.T.Helper()
	c := l.Client()
	wants := []Want{
		l.Turn(c, "first", l.Writes("a.txt", "a\n")),
		l.Turn(c, "second", nil),
		l.Turn(c, "third", l.Writes("b.txt", "b\n")),
	}
	return c, l.Check(Own(c), wants...)
}

// ForkOf is a fork of a turn into a worktree beside the repository.
func (l *Lab) ForkOf(t *turns.Turn) missionstore.ForkPlan {
	return missionstore.ForkPlan{
		Source: t, ID: ForkID, Title: "again", At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		Worktree: filepath.Join(filepath.Dir(l.Dir), "fork"), Session: replay.NewID(), Config: l.Config,
	}
}

func (l *Lab) Fork(f missionstore.ForkPlan) *missionstore.Forked {
	l.T.Helper()
	done, err := missionstore.Fork(context.Background(), l.Workspace(l.Dir), f)
	gittest.Must(l.T, err)
	if done.Why != nil {
		l.T.Fatalf("no conversation: %v", done.Why)
	}
	return done
}

// ForkTo is a fork of a turn, and the lab in its worktree.
func (l *Lab) ForkTo(id record.ID, t *turns.Turn, before bool) *Lab {
	l.T.Helper()
	f := l.ForkOf(t)
	f.ID, f.Before, f.Worktree = id, before, filepath.Join(gittest.TempDir(l.T), string(id))
	l.Fork(f)
	return l.At(f.Worktree)
}

// Stranger makes a turn whose tree has hooks, also one by configuration, a monitor of files and a filter, and configures them
// as a project might that trusts its own tree. ran returns which of them ran since it was called last.
func (l *Lab) Stranger() (turn *turns.Turn, ran func() []string) {
	l.T.Helper()
	if runtime.GOOS == "windows" {
		l.T.Skip("the programs are shell scripts")
	}
	log := filepath.Join(filepath.Dir(l.Dir), "ran")
	program := func(name, does string) {
		l.Write(name, fmt.Sprintf("#!/bin/sh\necho %s >>'%s'\n%s\n", filepath.Base(name), log, does))
		l.Chmod(name, 0o755)
	}
	c := l.Client()
	wants := []Want{
		l.Turn(c, "give me hooks", func() {
			for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout"} {
				program(".githooks/"+hook, "true")
			}
			program(".githooks/fsmonitor", "exit 1")
			program("bin/filter", "cat")
			program("bin/configured", "true")
			l.Write(".gitattributes", "zzz filter=x\n")
			l.Write("zzz", "filtered\n")
		}),
		l.Turn(c, "and away with them", func() {
			for _, name := range []string{".githooks", "bin", ".gitattributes", "zzz"} {
				l.Remove(name)
			}
		}),
	}
	turn = l.Check(Own(c), wants...)[0]
	for _, set := range [][2]string{
		{"core.hooksPath", ".githooks"},
		{"core.fsmonitor", ".githooks/fsmonitor"},
		{"filter.x.smudge", "bin/filter"},
		{"filter.x.clean", "bin/filter"},
		{"hook.x.event", "post-checkout"},
		{"hook.x.command", "/bin/sh bin/configured"},
	} {
		l.Git("config", set[0], set[1])
	}
	return turn, func() []string {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		names := strings.Fields(string(text))
		slices.Sort(names)
		return slices.Compact(names)
	}
}
