package handoffstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestGather: all that is to be known about a worktree is in the record, and is read back as it was
// stored.
func TestGather(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	head := l.Commit("second")
	l.turn(1, "s", "interrupted", "do it", "half of it is done")
	l.Write("file", "2\n")
	l.Write("new/file", strings.Repeat("a line of the new file\n", 1000))
	l.Write(".env", "TOKEN=x\n")
	session := filepath.Join(t.TempDir(), "s.jsonl")
	todo := `{"type":"assistant","uuid":"1","message":{"content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"read","status":"completed"}]}}]}}`
	gittest.Must(t, os.WriteFile(session, []byte(todo+"\n"), 0o600))
	g := l.gather(0, Request{Exit: record.Killed, Session: "s", Transcript: session})
	if !g.New {
		t.Error("the first handoff is not new")
	}
	f := l.find("")
	if got, want := f.Handoff, g.Handoff; got.Text.Size() == 0 || !sameRecord(t, got, want) {
		t.Errorf("stored\n%+v, gathered\n%+v", got, want)
	}
	if f.Number != 1 || f.ExitType != record.Killed || f.Session != "s" || f.Agent != "claude-code" || f.Branch != "main" || f.Head.String() != head {
		t.Errorf("the record is %+v", f.Handoff)
	}
	if f.LastTurn != 1 || f.LastOutcome != "interrupted" || f.LastPrompt != "do it" || f.Summary != "half of it is done" || !f.Written.IsZero() {
		t.Errorf("of the last turn it says %+v", f.Handoff)
	}
	if !slices.Equal(f.Todos, []transcript.Todo{{Text: "read", Status: "completed"}}) {
		t.Errorf("todos %+v", f.Todos)
	}
	if len(f.Commits) != 2 || f.Commits[0].Subject != "second" || f.Commits[0].Hash.String() != head {
		t.Errorf("commits %+v", f.Commits)
	}
	if f.Files != 2 || !slices.Equal(f.Paths, []string{"file", "new/file"}) || len(f.Skipped) != 1 || f.Skipped[0].Path != ".env" {
		t.Errorf("%d files, %q, skipped %+v", f.Files, f.Paths, f.Skipped)
	}
	patch, err := f.Patch()
	if err != nil || !strings.HasPrefix(string(patch), f.Diff) || len(f.Diff) > 10240 || len(f.Diff) < 10000 || !strings.HasSuffix(f.Diff, "\n") {
		t.Errorf("%v: a diff of %d bytes, of a patch of %d", err, len(f.Diff), len(patch))
	}
	if !slices.Equal(f.Truncated, []string{"uncommitted_changes"}) {
		t.Errorf("truncated %q", f.Truncated)
	}
	// With plain git.
	l.Says(head, "rev-parse", f.Stash.String()+"^") // HEAD
	l.Says("file\nnew/file", "ls-tree", "-r", "--name-only", f.Stash.String())
	l.Git("merge-base", "--is-ancestor", f.Stash.String(), mission.Ref())
	note := l.Git("notes", "--ref=agent/"+string(mission), "show", head)
	if !strings.HasPrefix(note, `{"v":1,"kind":"handoff","mission":"a1b2c3d4","handoff":1,`) || strings.Contains(note, "\n") {
		t.Errorf("the note is %s", note)
	}
	l.Says(" M file\n?? .env\n?? new/", "status", "--porcelain") // the worktree is as it was
	l.Says("", "stash", "list")
	l.fsck()
}

func sameRecord(t *testing.T, a, b *Handoff) bool {
	t.Helper()
	first, err := a.Encode()
	gittest.Must(t, err)
	second, err := b.Encode()
	gittest.Must(t, err)
	return bytes.Equal(first, second)
}

// TestCleanGrace: a crash does not replace a clean end that is less than five minutes old.
func TestCleanGrace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		first        Request
		change       bool
		after        time.Duration
		second, want record.ExitType
		fresh        bool
	}{
		{"4:59", Request{}, false, 4*time.Minute + 59*time.Second, record.Crash, record.Clean, false},
		{"5:01", Request{}, false, 5*time.Minute + time.Second, record.Crash, record.Crash, true},
		{"5:00", Request{}, false, 5 * time.Minute, record.Killed, record.Killed, true},
		{"4:59, and work that is not committed", Request{}, true, 4*time.Minute + 59*time.Second, record.Killed, record.Clean, true},
		{"a crash is no clean end", Request{Exit: record.Crash}, false, time.Second, record.Killed, record.Killed, true},
		{"clean again", Request{}, false, time.Hour, record.Clean, record.Clean, false},
		{"crash again", Request{Exit: record.Crash}, false, time.Hour, record.Crash, record.Crash, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.turn(1, "s", "done", "do it", "done")
			tt.first.Session = "s"
			first := l.gather(0, tt.first)
			if tt.change {
				l.Write("file", "2\n")
			}
			second := l.gather(tt.after, Request{Exit: tt.second, Session: "s"})
			if second.New != tt.fresh || second.ExitType != tt.want || second.New == (second.Number == first.Number) {
				t.Errorf("handoff %d is new %t, %s; want %t, %s", second.Number, second.New, second.ExitType, tt.fresh, tt.want)
			}
			if tt.change && second.Stash.IsZero() {
				t.Error("what is not committed was not kept")
			}
			if last := l.find(""); last.Number != second.Number || last.ExitType != tt.want {
				t.Errorf("the last one is %d, %s", last.Number, last.ExitType)
			}
		})
	}
}

// TestTakeOver: what a session has written stays, whatever is gathered for it afterwards; another
// session does not get it.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.turn(1, "s", "done", "do it", "done")
	l.gather(0, Request{
		Session: "s", Document: document(t, "Go on."), Summary: "a summary", Questions: []string{"why?", " "}, Log: "/home/dev/log", Terminal: []byte("screen\n"),
	})
	l.turn(2, "s", "done", "more", "done more")
	l.Write("file", "2\n")
	l.gather(time.Hour, Request{Session: "s", Exit: record.Killed})
	f := l.find("2")
	text, err := f.Document()
	if err != nil || string(text) != "Go on.\n" || f.Summary != "a summary" || !reflect.DeepEqual(f.Questions, []string{"why?"}) || f.Log != "/home/dev/log" || f.Source != "HANDOFF.md" {
		t.Errorf("%v: the document is %q, the record %+v", err, text, f.Handoff)
	}
	if screen, err := f.Terminal(); err != nil || string(screen) != "screen\n" || f.Handoff.Terminal != "handoffs/000002/terminal.txt" {
		t.Errorf("%v: the snapshot is %q at %s", err, screen, f.Handoff.Terminal)
	}
	if f.ExitType != record.Killed || f.LastTurn != 2 || !f.Written.Equal(l.now) || f.Files != 1 {
		t.Errorf("the record is %+v", f.Handoff)
	}
	if l.gather(2*time.Hour, Request{Session: "s", Summary: "a better summary"}); l.find("").Doc != "" || l.find("").Summary != "a better summary" {
		t.Error("what is written anew does not replace what was written")
	}
	l.turn(3, "other", "done", "of another one", "its reply")
	l.gather(3*time.Hour, Request{Session: "other"})
	if f := l.find(""); f.Doc != "" || f.Summary != "its reply" || !f.Written.IsZero() {
		t.Errorf("another session's record is %+v", f.Handoff)
	}
	l.fsck()
}

// TestFailedTurn: a session whose last turn failed has not ended well, if its end was seen.
func TestFailedTurn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.turn(1, "s", "failed", "do it", "API Error: 500")
	if g := l.gather(0, Request{Session: "s", Ended: true}); g.ExitType != record.Crash {
		t.Errorf("the exit is %s", g.ExitType)
	}
	if g := l.gather(time.Minute, Request{Session: "s", Exit: record.Killed}); g.ExitType != record.Crash {
		t.Errorf("the exit of one that is gone is %s", g.ExitType)
	}
	if g := l.gather(time.Hour, Request{Session: "s", Summary: "all is well"}); g.ExitType != record.Clean {
		t.Errorf("the exit of what was written is %s", g.ExitType)
	}
}

// TestRunning: in the middle of a turn it is that one's prompt which counts, and what the agent has
// said in it.
func TestRunning(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	session := filepath.Join(t.TempDir(), "s.jsonl")
	lines := `{"type":"user","uuid":"1","promptId":"p","turnOrigin":"human","message":{"content":"the prompt"}}
{"type":"assistant","uuid":"2","message":{"id":"m","model":"x","content":[{"type":"text","text":"I am at it."}]}}
`
	gittest.Must(t, os.WriteFile(session, []byte(lines), 0o600))
	g := l.gather(0, Request{Session: "s", Agent: "claude-code", Running: "the prompt", Transcript: session})
	if g.When() != "in the middle of turn 1" || g.LastPrompt != "the prompt" || g.Summary != "I am at it." || g.LastTurn != 0 {
		t.Errorf("the record is %+v", g.Handoff)
	}
	if got := l.Git("cat-file", "-p", mission.Ref()+":mission.json"); !strings.Contains(got, `"agent":"claude-code"`) || !strings.Contains(got, `"sessions":["s"]`) {
		t.Errorf("the mission is %s", got)
	}
	if _, err := l.Gather(t.Context(), Request{Mission: "0badcafe", Exit: record.Crash, At: l.now}); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a mission that has recorded nothing: %v", err)
	}
}

// TestGatherAtOnce: of many at once none is lost, and numbers are given once.
func TestGatherAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.turn(1, "s", "done", "do it", "done")
	linked := filepath.Join(gittestDir(t), "linked")
	l.Git("worktree", "add", "-q", "--detach", linked)
	other := openLab(t, l.In(linked))
	const each = 8
	var all sync.WaitGroup
	for i := range 2 * each {
		all.Go(func() {
			from := l
			if i%2 == 1 {
				from = other // another worktree, another lock
			}
			if _, err := from.Gather(t.Context(), Request{At: l.now, Exit: record.Clean, Mission: mission, Session: fmt.Sprint(i), Summary: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := List(t.Context(), l.Store.Repo, mission)
	if err != nil || len(list) != 2*each {
		t.Fatalf("%d handoffs, %v; want %d", len(list), err, 2*each)
	}
	seen := make(map[string]bool)
	for i, h := range list {
		if h.Number != i+1 || seen[h.Summary] {
			t.Errorf("handoff %d is %+v", i+1, h)
		}
		seen[h.Summary] = true
	}
	if notes := l.Git("notes", "--ref=agent/"+string(mission), "show", "HEAD"); strings.Count(notes, "\n")+1 != 2*each {
		t.Errorf("the note has not a line for each:\n%s", notes)
	}
	l.fsck()
}

func gittestDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	gittest.Must(t, err)
	return dir
}

func TestUnborn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Git("checkout", "-q", "--orphan", "fresh")
	g := l.gather(0, Request{Summary: "before the first commit"})
	if !g.Head.IsZero() || g.Branch != "fresh" || g.Stash.IsZero() || g.Files != 1 || g.Commits != nil {
		t.Errorf("the record is %+v", g.Handoff)
	}
	if parents := l.Git("rev-list", "--parents", "-1", g.Stash.String()); strings.Contains(parents, " ") {
		t.Errorf("the stash has a parent: %s", parents)
	}
	l.fsck()
}
