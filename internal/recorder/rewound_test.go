package recorder_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

const (
	codexThread = "01a20994-f999-7070-ae09-149962ce9ef3"                  // of the capture "tui"
	codexFirst  = "rollout-2026-11-23T18-04-47-" + codexThread + ".jsonl" // and its file
	codexShared = "01a20995-6f16-7d00-aeca-5ac5249cbff2"                  // its last turn that "rewound" goes on from
	codexFresh  = "01a20997-98c1-7c43-b7e2-8b939adfb8c1"                  // the first turn of "rewound"
)

// playCodex plays a capture of Codex as a session: the prompt and the end of each turn, with the file as it was then.
// It returns the mission and the number of each turn by its prompt's id.
func playCodex(t *testing.T, l *lab.Lab, name, session, file string, at time.Time) (mission record.ID, numbers map[string]int) {
	t.Helper()
	client := agent.Of("codex")
	data, err := os.ReadFile(filepath.Join("..", "agent", "codex", "testdata", name+".jsonl"))
	gittest.Must(t, err)
	day := filepath.Join(l.Config, "sessions", "2026", "11", "23")
	gittest.Must(t, os.MkdirAll(day, 0o700))
	path := filepath.Join(day, file)
	numbers = make(map[string]int)
	for i, b := range transcript.Turns(client.Reader(), data) {
		sig := recorder.Signal{FlushWait: l.Flush, Agent: client.Name, Session: session, PromptID: b.PromptID, Prompt: b.Prompt, Transcript: path}
		for _, sig.Event = range []recorder.SignalKind{recorder.Prompted, recorder.Stopped} {
			end := b.Start
			if sig.Event == recorder.Stopped {
				end = b.End
			}
			gittest.Must(t, os.WriteFile(path, data[:end], 0o600))
			at = at.Add(time.Second)
			sig.At = at
			done, err := recorder.Record(context.Background(), l.Workspace(l.Dir), sig)
			if err != nil {
				t.Fatalf("turn %d of %s: %v", i+1, name, err)
			}
			if len(done.Turns) > 0 {
				mission, numbers[b.PromptID] = done.Turns[0].Mission, done.Turns[0].Turn
			}
		}
	}
	return mission, numbers
}

// TestRewound plays captures of a client that begins a new file when a person goes back in the
// conversation: what it has in common with the old one is stored once, and the first turn of the new one
// follows the last that they share.
func TestRewound(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	at := time.Date(2026, 11, 23, 18, 5, 0, 0, time.UTC)
	mission, old := playCodex(t, l, "tui", codexThread, codexFirst, at)
	_, fresh := playCodex(t, l, "rewound", codexThread, "rollout-2026-11-23T18-07-36-"+codexThread+"_01a20997-8db3-7e80-9295-6f8b14881855.jsonl", at.Add(time.Hour))
	first := fresh[codexFresh]
	if old[codexShared] == 0 || first == 0 {
		t.Fatalf("recorded %v, then %v", old, fresh)
	}
	for _, turn := range l.List(mission) {
		if turn.Turn == first && (turn.Transcript.After != old[codexShared] || turn.Transcript.From != 0) {
			t.Errorf("turn %d is %+v; want it after turn %d", first, turn.Transcript, old[codexShared])
		}
		if turn.Turn == first+1 && turn.Transcript.After != first {
			t.Errorf("turn %d is %+v; want it after turn %d", turn.Turn, turn.Transcript, first)
		}
	}
}

// TestForkedByClient plays the same as a session of its own, which the client has forked: its mission is a
// fork of the turn that it goes on from, and has what was said before.
func TestForkedByClient(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const session = "01a20997-8db3-7e80-9295-6f8b14881855"
	l := lab.New(t)
	at := time.Date(2026, 11, 23, 18, 5, 0, 0, time.UTC)
	source, old := playCodex(t, l, "tui", codexThread, codexFirst, at)
	fork, fresh := playCodex(t, l, "rewound", session, "rollout-2026-11-23T18-07-36-"+session+".jsonl", at.Add(time.Hour))
	first := fresh[codexFresh]
	if fork == source || first != old[codexShared]+1 {
		t.Fatalf("%s has %v, its fork %s %v", source, old, fork, fresh)
	}
	for _, turn := range l.List(fork) {
		if turn.Turn == first && (turn.Transcript.After != old[codexShared] || turn.Transcript.From != 0) {
			t.Errorf("turn %d is %+v; want it after turn %d", first, turn.Transcript, old[codexShared])
		}
		if turn.Turn < first && turn.Mission != source {
			t.Errorf("turn %d is of mission %s", turn.Turn, turn.Mission)
		}
	}
	m, err := record.ParseMission(l.Git("show", fork.Ref()+":mission.json"))
	if err != nil || m.ForkedFrom == nil || m.ForkedFrom.Mission != source || m.ForkedFrom.Turn != old[codexShared] {
		t.Errorf("the mission is %+v, %v", m, err)
	}
}

// TestWrittenAnew: a client that writes what it leaves of its file anew, not byte by byte as it was.
func TestWrittenAnew(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	for i, prompt := range []string{"one", "two", "three", "four", "five"} {
		if i == 3 {
			c.Flush()
			data, err := os.ReadFile(c.Path)
			gittest.Must(t, err)
			left := bytes.ReplaceAll(data[:c.Said()[2].Offset], []byte(`":"`), []byte(`": "`))
			gittest.Must(t, os.WriteFile(c.Path, left, 0o666))
		}
		l.Turn(c, prompt, l.Writes(prompt, prompt))
	}
	list := l.List(lab.Own(c))
	if len(list) != 5 || list[3].Transcript.After != 2 || list[4].Transcript.After != 4 {
		t.Fatalf("want turn 4 after turn 2:\n%s", lab.Describe(list))
	}
	stored, err := lab.ForkConversation(l.GitRepo(), list[4])
	gittest.Must(t, err)
	for word, want := range map[string]int{"one": 1, "two": 1, "three": 0, "four": 1, "five": 1} {
		if has := bytes.Count(stored, []byte("answer to "+word)); has != want {
			t.Errorf("the conversation of turn 5 has turn %s %d times, want %d", word, has, want)
		}
	}
	l.Fsck()
}

// TestCutBack: a client that cuts its file off where a person goes back to: what it has left is stored once, the
// next turn follows the last one that is still there, and those that were gone back over stay.
func TestCutBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		to    int // the turn of which the prompt is gone
		after int // that the next one follows
	}{
		{"the last turn", 4, 3},
		{"two turns", 3, 2},
		{"all but the first", 2, 1},
		{"everything", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.to != 3 {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			for i, prompt := range []string{"one", "two", "three", "four", "five", "six"} {
				if i == 4 {
					c.Flush()
					gittest.Must(t, os.Truncate(c.Path, c.Said()[tt.to-1].Offset))
				}
				l.Turn(c, prompt, l.Writes(prompt, prompt))
			}
			list := l.List(lab.Own(c))
			if len(list) != 6 {
				t.Fatalf("want six turns:\n%s", lab.Describe(list))
			}
			from := int64(0)
			if tt.after > 0 {
				from = list[tt.after-1].Transcript.To
			}
			if five := list[4].Transcript; five.After != tt.after || five.From != from || list[5].Transcript.After != 5 {
				t.Errorf("want turn 5 after turn %d, from %d on:\n%s", tt.after, from, lab.Describe(list))
			}
			l.Conversation(list[5])
			stored, err := lab.ForkConversation(l.GitRepo(), list[5])
			gittest.Must(t, err)
			for i, word := range []string{"one", "two", "three", "four", "five", "six"} {
				if has, want := bytes.Contains(stored, []byte("answer to "+word)), i < tt.after || i > 3; has != want {
					t.Errorf("the conversation of turn 6 has turn %d: %t", i+1, has)
				}
			}
			l.Fsck()
		})
	}
}

// TestForkedInClient: a client copies a session's file under another id, as with --fork-session and /branch. The
// copy's mission is a fork of the first one's at the last turn that both have, and what was said before is stored
// once; only what nobody recorded is the copy's own.
func TestForkedInClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		dirty bool // something changed before the first prompt: the mission has begun when the file is read
		more  bool // the first session had a turn that nobody told of
		again bool // the first one goes on afterwards
		late  bool // the client copies the file after the first prompt
		own   bool // the fork is told at its second turn only
		said  bool // the client says something in the fork before its first prompt
	}{
		{name: "at once"},
		{name: "in a dirty worktree", dirty: true},
		{name: "with an untold turn", more: true},
		{name: "and the first goes on", again: true},
		{name: "the file is late", late: true},
		{name: "late in a dirty worktree", late: true, dirty: true},
		{name: "and its first turn is untold", own: true},
		{name: "by a command that is in the conversation", said: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "at once" && tt.name != "in a dirty worktree" {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			l.Turn(c, "two", l.Writes("two.txt", "2\n"))
			hook := c.Hook
			if tt.more {
				c.Hook = nil
				c.Prompt("untold")
				c.Stop("answer to untold")
				c.Hook = hook
			}
			if tt.dirty {
				l.Write("users.txt", "the user's\n")
			}
			c.Flush()
			f := c.Fork()
			if !tt.late {
				f.Flush()
			}
			if tt.said {
				f.Command("/branch", "Branched session.")
			}
			prompts := []string{"one", "two"}
			if tt.more {
				prompts = append(prompts, "untold")
			}
			if tt.own {
				f.Hook = nil
				f.Prompt("untold in the fork")
				f.Stop("answer to untold in the fork")
				f.Flush()
				f.Hook = hook
				prompts = append(prompts, "untold in the fork")
			}
			prompts = append(prompts, "three", "four")
			l.Turn(f, "three", l.Writes("three.txt", "3\n"))
			l.Turn(f, "four", nil)
			if tt.again {
				l.Turn(c, "five", nil)
				if list := l.List(lab.Own(c)); len(list) != 3 {
					t.Errorf("the first session has\n%s", lab.Describe(list))
				}
			}
			list := l.List(lab.Own(f))
			if len(list) != len(prompts) {
				t.Fatalf("want the turns %q:\n%s", prompts, lab.Describe(list))
			}
			for i, turn := range list {
				mission, past := lab.Own(f), i >= 2 && i < len(list)-2
				if i < 2 {
					mission = lab.Own(c)
				}
				if turn.Prompt != prompts[i] || turn.Mission != mission || past != (turn.Imported != "") || turn.Transcript.After != i {
					t.Errorf("turn %d: %s", i+1, lab.Describe(list[i:i+1]))
				}
				if turn.Prompt == "three" && strings.Join(turn.Paths, " ") != "three.txt" {
					t.Errorf("turn three has changed %q", turn.Paths)
				}
			}
			stored, err := lab.ForkConversation(l.GitRepo(), list[len(list)-1])
			gittest.Must(t, err)
			for _, p := range prompts {
				if n := bytes.Count(stored, []byte(`"answer to `+p+`"`)); n != 1 {
					t.Errorf("the conversation has the answer to %q %d times", p, n)
				}
			}
			if n := bytes.Count(stored, []byte("Branched session.")); tt.said != (n == 1) {
				t.Errorf("the conversation has what the client said %d times", n)
			}
			m, err := record.ParseMission(l.Git("show", lab.Own(f).Ref()+":mission.json"))
			if err != nil || m.ForkedFrom == nil || m.ForkedFrom.Mission != lab.Own(c) || m.ForkedFrom.Turn != 2 {
				t.Errorf("the mission is %+v, %v", m, err)
			}
			l.Fsck()
			l.Quiet()
		})
	}
}
