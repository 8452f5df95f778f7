package recorder_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// mission is the mission.json of a mission, as plain git shows it.
func mission(l *lab.Lab, id record.ID) record.Mission {
	l.T.Helper()
	var m record.Mission
	gittest.Must(l.T, json.Unmarshal([]byte(l.Git("show", id.Ref()+":mission.json")), &m))
	return m
}

// TestClear: a new session in the same process. In a passive checkout it begins a new mission.
func TestClear(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	first := lab.Own(c)
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	c.Clear()
	second := lab.Own(c)
	b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
	l.Check(first, a)
	l.Check(second, b)
	if m := mission(l, second); m.Predecessor != first || m.Agent != "claude-code" {
		t.Errorf("the second mission is %+v, want the predecessor %s", m, first)
	}
	if m := mission(l, first); m.Predecessor != "" || len(m.Sessions) != 1 {
		t.Errorf("the first mission is %+v", m)
	}
	other := l.Client()
	other.PID = 5000 // another client has nothing to do with it
	l.Turn(other, "three", nil)
	if m := mission(l, lab.Own(other)); m.Predecessor != "" {
		t.Errorf("another client's mission has the predecessor %s", m.Predecessor)
	}
	l.Fsck()
}

// TestClearInMidTurn: the turn that /clear cut off is the old session's.
func TestClearInMidTurn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	first := lab.Own(c)
	c.Prompt("cut off")
	l.Write("half.txt", "half\n")
	w := lab.Want{Prompt: "cut off", Outcome: record.Interrupted, Tree: l.Tree()}
	c.Clear()
	b := l.Turn(c, "two", nil)
	l.Check(first, w)
	l.Check(lab.Own(c), b)
}

// TestSessionsInOneMission: two sessions take turns in one mission; each conversation has a chain
// of its own.
func TestSessionsInOneMission(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	m := l.Start()
	one, two := l.Client(), l.Client()
	var wants []lab.Want
	for _, c := range []*replay.Client{one, two, two, one, two, one} {
		name := "of-" + c.Session[:4]
		wants = append(wants, l.Turn(c, name, l.Writes(name, c.Session+strings.Repeat("x", len(wants)))))
	}
	list := l.Check(m, wants...)
	for i, after := range []int{0, 0, 2, 1, 3, 4} {
		if got := list[i].Transcript.After; got != after {
			t.Errorf("the segment of turn %d follows that of %d, want %d", i+1, got, after)
		}
	}
	if got := mission(l, m).Sessions; !slices.Equal(got, []string{one.Session, two.Session}) {
		t.Errorf("the mission's sessions are %v", got)
	}
	l.Quiet()
	l.Fsck()
}

// TestClearInAttachedMission: the new session goes on in the mission, with a chain of its own.
func TestClearInAttachedMission(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	m := l.Start()
	c := l.Client()
	wants := []lab.Want{l.Turn(c, "one", l.Writes("one.txt", "1\n"))}
	c.Clear()
	wants = append(wants, l.Turn(c, "two", l.Writes("two.txt", "2\n")), l.Turn(c, "three", nil))
	list := l.Check(m, wants...)
	if list[1].Transcript.After != 0 || list[2].Transcript.After != 2 {
		t.Errorf("segments follow %d and %d, want 0 and 2", list[1].Transcript.After, list[2].Transcript.After)
	}
}

// TestSessionMoves: a session goes to the branch of another mission and back. A cursor belongs to
// a session and a mission, so each mission has the conversation from its beginning.
func TestSessionMoves(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	first := l.Start()
	second := l.Start()
	c := l.Client()
	l.Git("switch", "-q", l.Branch(first))
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Git("switch", "-q", l.Branch(second))
	b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
	l.Git("switch", "-q", l.Branch(first))
	d := l.Turn(c, "three", l.Writes("three.txt", "3\n"))
	l.Git("switch", "-q", "main")
	e := l.Turn(c, "four", l.Writes("four.txt", "4\n")) // stays with the mission that it recorded to last
	list := l.Check(first, a, d, e)
	l.Holds(list[1], `"two"`)
	if list[1].Transcript.After != 1 || list[2].Transcript.After != 2 {
		t.Errorf("segments follow %d and %d, want 1 and 2", list[1].Transcript.After, list[2].Transcript.After)
	}
	list = l.Check(second, b)
	l.Holds(list[0], `"one"`)
	if list[0].Transcript.After != 0 || list[0].Transcript.From != 0 {
		t.Errorf("the segment in the second mission is %+v, want all of the file", list[0].Transcript)
	}
	l.Fsck()
}

// TestAsked: GIT_AGENT_MISSION names the mission of a session on a branch of the user's, if there
// is such a mission.
func TestAsked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	m := l.Start()
	l.Git("switch", "-q", "main")
	ask := func(c *replay.Client, id string) {
		c.Hook = func(e replay.Event) {
			s := l.Signal(e)
			s.Asked = id
			if _, err := recorder.Record(t.Context(), l.Workspace(l.Dir), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := l.Client()
	ask(c, string(m))
	w := l.Turn(c, "asked", l.Writes("asked.txt", "1\n"))
	l.Check(m, w)
	if now := l.Git("rev-parse", l.Branch(m)); now != l.Git("rev-parse", "main") {
		t.Errorf("the branch moved to %s while HEAD was elsewhere", now)
	}
	for _, id := range []string{"ffffffff", "../../../etc", "", "x"} {
		c := l.Client()
		ask(c, id)
		l.Check(lab.Own(c), l.Turn(c, "of its own", nil))
	}
}

// TestSameEnding: the ids of two sessions end in the same 8 digits.
func TestSameEnding(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	one, two := l.Client(), l.Client()
	one.Session = "01234567-0000-4000-8000-0000aaaa1111"
	two.Session = "01234567-0000-4000-8000-0000bbbb1111"
	one.Session = one.Session[:len(one.Session)-8] + "cafe1111"
	two.Session = two.Session[:len(two.Session)-8] + "cafe1111"
	two.Session = strings.Replace(two.Session, "8000-0000", "8000-00ff", 1)
	one.Path, two.Path = one.Path+"1", two.Path+"2"
	a := l.Turn(one, "one", nil)
	b := l.Turn(two, "two", l.Writes("two.txt", "2\n"))
	c := l.Turn(two, "three", nil)
	l.Check("cafe1111", a)
	l.Check("00ffcafe1111", b, c)
}

// TestWithoutFile: a client that keeps no session file (--no-session-persistence).
func TestWithoutFile(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Hold = true
	w := l.Turn(c, "leave no trace", l.Writes("new.txt", "new\n"))
	list := l.Check(lab.Own(c), w, l.Turn(c, "again", nil))
	if list[0].Transcript != nil || list[1].Transcript != nil {
		t.Errorf("there are segments: %s", lab.Describe(list))
	}
	if _, err := lab.ForkConversation(l.GitRepo(), list[1]); err == nil {
		t.Error("there is a conversation")
	}
	l.Quiet()
}

// TestWrittenTooLate: the client did not write the turn's end before the hook gave up. The rest
// comes with the next turn.
func TestWrittenTooLate(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Flush = 0
	c := l.Client()
	first := l.Turn(c, "first", nil)
	c.Prompt("late")
	c.Say("I work.")
	c.Flush()
	c.Hold = true
	c.Stop("the answer")
	c.Hold = false
	list := l.Check(lab.Own(c), first, lab.Want{Prompt: "late", Reply: "the answer"}, l.Turn(c, "next", nil))
	l.Holds(list[2], "the answer")
	l.Quiet()
}

// TestInstalledInMidSession: hooks are loaded while a session runs. The turns before are turns of the mission, too, of
// which no more is known than of imported ones.
func TestInstalledInMidSession(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, inMidTurn := range map[string]bool{"between turns": false, "in mid-turn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			record := c.Hook
			c.Hook = nil
			l.Turn(c, "unseen", l.Writes("unseen.txt", "1\n"))
			l.Turn(c, "also unseen", nil)
			w := lab.Want{Prompt: "seen", Reply: "I see"}
			if inMidTurn {
				c.Prompt("seen")
				c.Hook = record
				w.Base = lab.Unknown
			} else {
				w.Base = l.Tree()
				c.Hook = record
				c.Prompt("seen")
			}
			l.Write("seen.txt", "2\n")
			w.Tree = l.Tree()
			c.Stop("I see")
			before := []lab.Want{{Prompt: "unseen", Reply: "answer to unseen"}, {Prompt: "also unseen", Reply: "answer to also unseen"}}
			list := l.Check(lab.Own(c), append(before, w, l.Turn(c, "next", l.Writes("next.txt", "3\n")))...)
			for i, turn := range list {
				if past := i < 2; past != (turn.Imported != "") || turn.Files != []int{0, 0, 1, 1}[i] && !turn.Base.IsZero() {
					t.Errorf("turn %d is %s", i+1, lab.Describe(list[i:i+1]))
				}
			}
			l.StoredOnce(list)
			became(l, l.Imported(false), c, recorder.Recorded, 0, 4)
			l.Quiet()
		})
	}
}

// TestEnvironmentDoesNotMatter: a client that is run by git (an alias, a hook of git's) has git's
// variables in its environment.
func TestEnvironmentDoesNotMatter(t *testing.T) {
	l := lab.New(t)
	elsewhere := lab.New(t)
	t.Setenv("GIT_DIR", elsewhere.Git("rev-parse", "--absolute-git-dir"))
	t.Setenv("GIT_WORK_TREE", elsewhere.Dir)
	t.Setenv("GIT_INDEX_FILE", elsewhere.Git("rev-parse", "--absolute-git-dir")+"/index")
	c := l.Client()
	l.Check(lab.Own(c), l.Turn(c, "here", l.Writes("here.txt", "1\n")))
	if refs := elsewhere.Git("for-each-ref", "refs/agent"); refs != "" {
		t.Errorf("recorded elsewhere: %s", refs)
	}
	if _, err := os.Stat(elsewhere.Dir + "/.git/agent"); err == nil {
		t.Error("the other repository has local state")
	}
}
