package missionstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent/claude"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// told is a lab with a fork whose conversation has gone on for a turn.
func told(t *testing.T) (l *lab.Lab, last *turns.Turn) {
	t.Helper()
	l = lab.New(t)
	_, source := l.Three()
	f := l.ForkOf(source[1])
	done := l.Fork(f)
	at := l.At(f.Worktree)
	c := replay.New(l.Config, at.Dir, func(e replay.Event) { at.Record(e) })
	c.Session, c.Path = f.Session, done.File
	at.Turn(c, "another way", at.Writes("c.txt", "c\n"))
	return l, l.List(lab.ForkID)[2]
}

func resumption(l *lab.Lab, t *turns.Turn) missionstore.Resumption {
	return missionstore.Resumption{
		Source: t, At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), ID: "e0e0e0e0", Session: replay.NewID(), Config: l.Config,
	}
}

// resumed is the client that goes on with a conversation here.
func resumed(l *lab.Lab, session string) *replay.Client {
	c := l.Client()
	c.Session, c.Path = session, claude.Path(l.Config, l.Dir, session)
	return c
}

// The conversation goes on in the checkout, in a mission that has no branch, and what is there is where its next
// turn begins.
func TestResume(t *testing.T) {
	t.Parallel()
	l, last := told(t)
	branches, head := l.Git("for-each-ref", "refs/heads"), l.Git("rev-parse", "HEAD")
	how := resumption(l, last)
	id, err := missionstore.Resume(t.Context(), l.Workspace(l.Dir), how)
	if err != nil || id != how.ID {
		t.Fatalf("Resume: %s, %v", id, err)
	}
	m, err := record.ParseMission(l.Git("show", id.Ref()+":mission.json"))
	if err != nil || m.Branch != "" || m.ForkedFrom == nil || *m.ForkedFrom != last.ID() || m.Base != last.Code.String() || len(m.Sessions) > 0 {
		t.Errorf("mission.json = %+v, %v", m, err)
	}
	l.Write("mine.txt", "mine\n")
	c := resumed(l, how.Session)
	w := l.Turn(c, "go on", l.Writes("c.txt", "here\n"))
	list := l.List(id)
	if len(list) != 4 || list[3].Turn != 4 || list[3].Mission != id || list[3].Transcript.After != 3 {
		t.Fatalf("the turns:\n%s", lab.Describe(list))
	}
	if code, base := l.Trees(list[3:]); code[0] != w.Tree || base[0] != w.Base {
		t.Errorf("the turn begins at %s, want %s; it ends at %s, want %s", base[0], w.Base, code[0], w.Tree)
	}
	if stored, err := lab.ForkConversation(l.GitRepo(), list[3]); err != nil || !strings.Contains(string(stored), "another way") || strings.Contains(string(stored), "third") {
		t.Errorf("the conversation is %s, %v", stored, err)
	}
	if got := l.Git("for-each-ref", "refs/heads") + l.Git("rev-parse", "HEAD"); got != branches+head {
		t.Errorf("branches and HEAD were %s, and are %s", branches+head, got)
	}
	if list := l.List(lab.ForkID); len(list) != 3 {
		t.Errorf("the fork has the turns\n%s", lab.Describe(list))
	}
	l.Fsck()
}

// On the branch of a mission, the conversation is recorded to that: all of it with its next turn.
func TestResumeAttached(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, last := told(t)
	at := l.Attached("a1b2c3d4")
	at.Turn(at.Client(), "by another", at.Writes("d.txt", "d\n"))
	missions := l.Git("for-each-ref", "refs/agent/missions")
	how := resumption(l, last)
	id, err := missionstore.Resume(t.Context(), at.Workspace(at.Dir), how)
	if err != nil || id != "a1b2c3d4" {
		t.Fatalf("Resume: %s, %v", id, err)
	}
	if got := l.Git("for-each-ref", "refs/agent/missions"); got != missions {
		t.Errorf("the missions were\n%s, and are\n%s", missions, got)
	}
	w := at.Turn(resumed(at, how.Session), "go on", at.Writes("c.txt", "here\n"))
	list := l.List(id)
	if len(list) != 2 || list[1].Transcript.After != 0 || l.TreeOf(list[1].Code.String()) != w.Tree {
		t.Fatalf("the turns:\n%s", lab.Describe(list))
	}
	if stored, err := lab.ForkConversation(l.GitRepo(), list[1]); err != nil || !strings.Contains(string(stored), "another way") || !strings.Contains(string(stored), "go on") {
		t.Errorf("the conversation is %s, %v", stored, err)
	}
	if got := l.Git("rev-parse", "refs/heads/agent/mission/a1b2c3d4"); got != list[1].Code.String() {
		t.Errorf("the branch is at %s, and the turn at %s", got, list[1].Code)
	}
	l.Fsck()
}

// Whatever fails, nothing is left behind, and nothing of other sessions is forgotten.
func TestResumeFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name     string
		attached bool
		arrange  func(l *lab.Lab, how *missionstore.Resumption)
		want     string // part of the error
	}{
		{"no conversation", false, func(l *lab.Lab, how *missionstore.Resumption) {
			t := *how.Source
			t.Agent = "codex"
			how.Source = l.PutTurn(t)
		}, missionstore.ErrNoConversation.Error()},
		{"the mission exists", false, func(l *lab.Lab, how *missionstore.Resumption) { how.ID = lab.ForkID }, "already exists"},
		{"the file can't get its name", false, func(l *lab.Lab, how *missionstore.Resumption) {
			l.In(claude.Path(how.Config, l.Dir, how.Session)).Write("in/the/way", "x")
		}, "place the conversation"},
		{"the file can't get its name, on a mission's branch", true, func(l *lab.Lab, how *missionstore.Resumption) {
			l.In(claude.Path(how.Config, l.Dir, how.Session)).Write("in/the/way", "x")
		}, "place the conversation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, last := told(t)
			at := l
			if tt.attached {
				at = l.Attached("a1b2c3d4")
				at.Turn(at.Client(), "by another", nil)
			}
			how := resumption(l, last)
			tt.arrange(at, &how)
			before := leavings(l)
			_, err := missionstore.Resume(context.Background(), at.Workspace(at.Dir), how)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Resume: %v, want an error with %q", err, tt.want)
			}
			if after := leavings(l); after != before {
				t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
			}
			l.Fsck()
		})
	}
}
