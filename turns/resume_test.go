package turns_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent/claude"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// told is a lab with a fork whose conversation has gone on for a turn.
func told(t *testing.T) (l *lab, last *turns.Turn) {
	t.Helper()
	l = newLab(t)
	_, source := l.three()
	f := l.forkOf(source[1])
	done := l.fork(f)
	at := l.at(f.Worktree)
	c := replay.New(l.config, at.Dir, func(e replay.Event) { at.record(e) })
	c.Session, c.Path = f.Session, done.File
	at.turn(c, "another way", at.write("c.txt", "c\n"))
	return l, l.list(forkID)[2]
}

func (l *lab) resumption(t *turns.Turn) turns.Resumption {
	return turns.Resumption{
		Source: t, At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), ID: "e0e0e0e0", Session: replay.NewID(), Config: l.config,
	}
}

// resumed is the client that goes on with a conversation here.
func (l *lab) resumed(session string) *replay.Client {
	c := l.client()
	c.Session, c.Path = session, claude.Path(l.config, l.Dir, session)
	return c
}

// The conversation goes on in the checkout, in a mission that has no branch, and what is there is where its next
// turn begins.
func TestResume(t *testing.T) {
	t.Parallel()
	l, last := told(t)
	branches, head := l.Git("for-each-ref", "refs/heads"), l.Git("rev-parse", "HEAD")
	how := l.resumption(last)
	id, err := l.recorder(l.Dir).Resume(t.Context(), how)
	if err != nil || id != how.ID {
		t.Fatalf("Resume: %s, %v", id, err)
	}
	m, err := record.ParseMission([]byte(l.Git("show", id.Ref()+":mission.json")))
	if err != nil || m.Branch != "" || m.ForkedFrom == nil || *m.ForkedFrom != last.ID() || m.Base != last.Code.String() || len(m.Sessions) > 0 {
		t.Errorf("mission.json = %+v, %v", m, err)
	}
	l.Write("mine.txt", "mine\n")
	c := l.resumed(how.Session)
	w := l.turn(c, "go on", l.write("c.txt", "here\n"))
	list := l.list(id)
	if len(list) != 4 || list[3].Turn != 4 || list[3].Mission != id || list[3].Transcript.After != 3 {
		t.Fatalf("the turns:\n%s", describe(list))
	}
	if code, base := l.trees(list[3:]); code[0] != w.tree || base[0] != w.base {
		t.Errorf("the turn begins at %s, want %s; it ends at %s, want %s", base[0], w.base, code[0], w.tree)
	}
	if stored, err := forkConversation(l.repo(), list[3]); err != nil || !strings.Contains(string(stored), "another way") || strings.Contains(string(stored), "third") {
		t.Errorf("the conversation is %s, %v", stored, err)
	}
	if got := l.Git("for-each-ref", "refs/heads") + l.Git("rev-parse", "HEAD"); got != branches+head {
		t.Errorf("branches and HEAD were %s, and are %s", branches+head, got)
	}
	if list := l.list(forkID); len(list) != 3 {
		t.Errorf("the fork has the turns\n%s", describe(list))
	}
	l.fsck()
}

// On the branch of a mission, the conversation is recorded to that: all of it with its next turn.
func TestResumeAttached(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, last := told(t)
	at := l.attached("a1b2c3d4")
	at.turn(at.client(), "by another", at.write("d.txt", "d\n"))
	missions := l.Git("for-each-ref", "refs/agent/missions")
	how := l.resumption(last)
	id, err := at.recorder(at.Dir).Resume(t.Context(), how)
	if err != nil || id != "a1b2c3d4" {
		t.Fatalf("Resume: %s, %v", id, err)
	}
	if got := l.Git("for-each-ref", "refs/agent/missions"); got != missions {
		t.Errorf("the missions were\n%s, and are\n%s", missions, got)
	}
	w := at.turn(at.resumed(how.Session), "go on", at.write("c.txt", "here\n"))
	list := l.list(id)
	if len(list) != 2 || list[1].Transcript.After != 0 || l.treeOf(list[1].Code.String()) != w.tree {
		t.Fatalf("the turns:\n%s", describe(list))
	}
	if stored, err := forkConversation(l.repo(), list[1]); err != nil || !strings.Contains(string(stored), "another way") || !strings.Contains(string(stored), "go on") {
		t.Errorf("the conversation is %s, %v", stored, err)
	}
	if got := l.Git("rev-parse", "refs/heads/agent/mission/a1b2c3d4"); got != list[1].Code.String() {
		t.Errorf("the branch is at %s, and the turn at %s", got, list[1].Code)
	}
	l.fsck()
}

// Whatever fails, nothing is left behind, and nothing of other sessions is forgotten.
func TestResumeFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name     string
		attached bool
		arrange  func(l *lab, how *turns.Resumption)
		want     string // part of the error
	}{
		{"no conversation", false, func(l *lab, how *turns.Resumption) {
			t := *how.Source
			t.Agent = "codex"
			how.Source = l.putTurn(t)
		}, turns.ErrNoConversation.Error()},
		{"the mission exists", false, func(l *lab, how *turns.Resumption) { how.ID = forkID }, "already exists"},
		{"the file can't get its name", false, func(l *lab, how *turns.Resumption) {
			l.In(claude.Path(how.Config, l.Dir, how.Session)).Write("in/the/way", "x")
		}, "place the conversation"},
		{"the file can't get its name, on a mission's branch", true, func(l *lab, how *turns.Resumption) {
			l.In(claude.Path(how.Config, l.Dir, how.Session)).Write("in/the/way", "x")
		}, "place the conversation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, last := told(t)
			at := l
			if tt.attached {
				at = l.attached("a1b2c3d4")
				at.turn(at.client(), "by another", nil)
			}
			how := l.resumption(last)
			tt.arrange(at, &how)
			before := l.everything()
			_, err := at.recorder(at.Dir).Resume(context.Background(), how)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Resume: %v, want an error with %q", err, tt.want)
			}
			if after := l.everything(); after != before {
				t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
			}
			l.fsck()
		})
	}
}
