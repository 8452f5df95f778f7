package turns_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// mission is the mission.json of a mission, as plain git shows it.
func (l *lab) mission(id record.ID) record.Mission {
	l.t.Helper()
	var m record.Mission
	if err := json.Unmarshal([]byte(l.Git("show", id.Ref()+":mission.json")), &m); err != nil {
		l.t.Fatal(err)
	}
	return m
}

// TestClear: a new session in the same process. In a passive checkout it begins a new mission.
func TestClear(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	first := own(c)
	a := l.turn(c, "one", l.write("one.txt", "1\n"))
	c.Clear()
	second := own(c)
	b := l.turn(c, "two", l.write("two.txt", "2\n"))
	l.check(first, a)
	l.check(second, b)
	if m := l.mission(second); m.Predecessor != first || m.Agent != "claude-code" {
		t.Errorf("the second mission is %+v, want the predecessor %s", m, first)
	}
	if m := l.mission(first); m.Predecessor != "" || len(m.Sessions) != 1 {
		t.Errorf("the first mission is %+v", m)
	}
	other := l.client()
	other.PID = 5000 // another client has nothing to do with it
	l.turn(other, "three", nil)
	if m := l.mission(own(other)); m.Predecessor != "" {
		t.Errorf("another client's mission has the predecessor %s", m.Predecessor)
	}
	l.fsck()
}

// TestClearInMidTurn: the turn that /clear cut off is the old session's.
func TestClearInMidTurn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	first := own(c)
	c.Prompt("cut off")
	l.Write("half.txt", "half\n")
	w := want{prompt: "cut off", outcome: record.Interrupted, tree: l.tree()}
	c.Clear()
	b := l.turn(c, "two", nil)
	l.check(first, w)
	l.check(own(c), b)
}

// TestSessionsInOneMission: two sessions take turns in one mission; each conversation has a chain
// of its own.
func TestSessionsInOneMission(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	m := l.start()
	one, two := l.client(), l.client()
	var wants []want
	for _, c := range []*replay.Client{one, two, two, one, two, one} {
		name := "of-" + c.Session[:4]
		wants = append(wants, l.turn(c, name, l.write(name, c.Session+strings.Repeat("x", len(wants)))))
	}
	list := l.check(m, wants...)
	for i, after := range []int{0, 0, 2, 1, 3, 4} {
		if got := list[i].Transcript.After; got != after {
			t.Errorf("the segment of turn %d follows that of %d, want %d", i+1, got, after)
		}
	}
	if got := l.mission(m).Sessions; !slices.Equal(got, []string{one.Session, two.Session}) {
		t.Errorf("the mission's sessions are %v", got)
	}
	l.quiet()
	l.fsck()
}

// TestClearInAttachedMission: the new session goes on in the mission, with a chain of its own.
func TestClearInAttachedMission(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	m := l.start()
	c := l.client()
	wants := []want{l.turn(c, "one", l.write("one.txt", "1\n"))}
	c.Clear()
	wants = append(wants, l.turn(c, "two", l.write("two.txt", "2\n")), l.turn(c, "three", nil))
	list := l.check(m, wants...)
	if list[1].Transcript.After != 0 || list[2].Transcript.After != 2 {
		t.Errorf("segments follow %d and %d, want 0 and 2", list[1].Transcript.After, list[2].Transcript.After)
	}
}

// TestSessionMoves: a session goes to the branch of another mission and back. A cursor belongs to
// a session and a mission, so each mission has the conversation from its beginning.
func TestSessionMoves(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	first := l.start()
	second := l.start()
	c := l.client()
	l.Git("switch", "-q", l.branch(first))
	a := l.turn(c, "one", l.write("one.txt", "1\n"))
	l.Git("switch", "-q", l.branch(second))
	b := l.turn(c, "two", l.write("two.txt", "2\n"))
	l.Git("switch", "-q", l.branch(first))
	d := l.turn(c, "three", l.write("three.txt", "3\n"))
	l.Git("switch", "-q", "main")
	e := l.turn(c, "four", l.write("four.txt", "4\n")) // stays with the mission that it recorded to last
	list := l.check(first, a, d, e)
	l.holds(list[1], `"two"`)
	if list[1].Transcript.After != 1 || list[2].Transcript.After != 2 {
		t.Errorf("segments follow %d and %d, want 1 and 2", list[1].Transcript.After, list[2].Transcript.After)
	}
	list = l.check(second, b)
	l.holds(list[0], `"one"`)
	if list[0].Transcript.After != 0 || list[0].Transcript.From != 0 {
		t.Errorf("the segment in the second mission is %+v, want all of the file", list[0].Transcript)
	}
	l.fsck()
}

// TestAsked: GIT_AGENT_MISSION names the mission of a session on a branch of the user's, if there
// is such a mission.
func TestAsked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	m := l.start()
	l.Git("switch", "-q", "main")
	ask := func(c *replay.Client, id string) {
		c.Hook = func(e replay.Event) {
			s := signal(e)
			s.Asked = id
			if _, err := l.recorder(l.Dir).Record(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := l.client()
	ask(c, string(m))
	w := l.turn(c, "asked", l.write("asked.txt", "1\n"))
	l.check(m, w)
	if now := l.Git("rev-parse", l.branch(m)); now != l.Git("rev-parse", "main") {
		t.Errorf("the branch moved to %s while HEAD was elsewhere", now)
	}
	for _, id := range []string{"ffffffff", "../../../etc", "", "x"} {
		c := l.client()
		ask(c, id)
		l.check(own(c), l.turn(c, "of its own", nil))
	}
}

// TestSameEnding: the ids of two sessions end in the same 8 digits.
func TestSameEnding(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	one, two := l.client(), l.client()
	one.Session = "01234567-0000-4000-8000-0000aaaa1111"
	two.Session = "01234567-0000-4000-8000-0000bbbb1111"
	one.Session = one.Session[:len(one.Session)-8] + "cafe1111"
	two.Session = two.Session[:len(two.Session)-8] + "cafe1111"
	two.Session = strings.Replace(two.Session, "8000-0000", "8000-00ff", 1)
	one.Path, two.Path = one.Path+"1", two.Path+"2"
	a := l.turn(one, "one", nil)
	b := l.turn(two, "two", l.write("two.txt", "2\n"))
	c := l.turn(two, "three", nil)
	l.check("cafe1111", a)
	l.check("00ffcafe1111", b, c)
}

// TestForkByTheClient: a copy of the conversation under another session id, in which all old
// prompts have one id.
func TestForkByTheClient(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	wants := []want{l.turn(c, "one", l.write("one.txt", "1\n")), l.turn(c, "two", nil)}
	f := c.Fork()
	forked := l.turn(f, "three", l.write("three.txt", "3\n"))
	again := l.turn(f, "four", nil)
	l.check(own(c), wants...)
	list := l.check(own(f), forked, again)
	l.holds(list[0], `"one"`)
	if s := list[0].Transcript; s.After != 0 || s.From != 0 {
		t.Errorf("the fork's first segment is %+v, want all of the copy", s)
	}
	l.fsck()
}

// TestWithoutFile: a client that keeps no session file (--no-session-persistence).
func TestWithoutFile(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	c.Hold = true
	w := l.turn(c, "leave no trace", l.write("new.txt", "new\n"))
	list := l.check(own(c), w, l.turn(c, "again", nil))
	if list[0].Transcript != nil || list[1].Transcript != nil {
		t.Errorf("there are segments: %s", describe(list))
	}
	if _, err := turns.Conversation(t.Context(), l.repo(), list[1]); err == nil {
		t.Error("there is a conversation")
	}
	l.quiet()
}

// TestWrittenTooLate: the client did not write the turn's end before the hook gave up. The rest
// comes with the next turn.
func TestWrittenTooLate(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	l.flush = 0
	c := l.client()
	first := l.turn(c, "first", nil)
	c.Prompt("late")
	c.Say("I work.")
	c.Flush()
	c.Hold = true
	c.Stop("the answer")
	c.Hold = false
	list := l.check(own(c), first, want{prompt: "late", reply: "the answer"}, l.turn(c, "next", nil))
	l.holds(list[2], "the answer")
	l.quiet()
}

// TestInstalledInMidSession: hooks are loaded while a session runs, so it has a past that nobody
// told of.
func TestInstalledInMidSession(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, inMidTurn := range map[string]bool{"between turns": false, "in mid-turn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c := l.client()
			record := c.Hook
			c.Hook = nil
			l.turn(c, "unseen", l.write("unseen.txt", "1\n"))
			l.turn(c, "also unseen", nil)
			w := want{prompt: "seen", reply: "I see", tree: ""}
			if inMidTurn {
				c.Prompt("seen")
				c.Hook = record
			} else {
				w.base = l.tree()
				c.Hook = record
				c.Prompt("seen")
			}
			l.Write("seen.txt", "2\n")
			w.tree = l.tree()
			c.Stop("I see")
			list := l.check(own(c), w, l.turn(c, "next", l.write("next.txt", "3\n")))
			l.holds(list[0], `"unseen"`)
			if inMidTurn && list[0].Base.String() != l.Git("rev-parse", "HEAD") {
				t.Errorf("the base is %s, want HEAD", list[0].Base)
			}
			l.quiet()
		})
	}
}

// TestEnvironmentDoesNotMatter: a client that is run by git (an alias, a hook of git's) has git's
// variables in its environment.
func TestEnvironmentDoesNotMatter(t *testing.T) {
	l := newLab(t)
	elsewhere := newLab(t)
	t.Setenv("GIT_DIR", elsewhere.Git("rev-parse", "--absolute-git-dir"))
	t.Setenv("GIT_WORK_TREE", elsewhere.Dir)
	t.Setenv("GIT_INDEX_FILE", elsewhere.Git("rev-parse", "--absolute-git-dir")+"/index")
	c := l.client()
	l.check(own(c), l.turn(c, "here", l.write("here.txt", "1\n")))
	if refs := elsewhere.Git("for-each-ref", "refs/agent"); refs != "" {
		t.Errorf("recorded elsewhere: %s", refs)
	}
	if _, err := os.Stat(elsewhere.Dir + "/.git/agent"); err == nil {
		t.Error("the other repository has local state")
	}
}
