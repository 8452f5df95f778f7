package recorder_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestPlainGit reads with git alone what was recorded.
func TestPlainGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, passive, attached := everything(t)
	for _, id := range []record.ID{passive, attached} {
		list := l.List(id)
		if len(list) != 9 {
			t.Fatalf("mission %s:\n%s", id, lab.Describe(list))
		}
		l.Verify(id)
		for _, turn := range list {
			note := l.Git("notes", "--ref=agent/"+string(id), "show", turn.Code.String())
			if !strings.Contains(note, fmt.Sprintf(`"turn":%d,`, turn.Turn)) {
				t.Errorf("git notes show %s lacks turn %d:\n%s", turn.Code, turn.Turn, note)
			}
			if log := l.Git("log", "-1", "--notes=agent/"+string(id), turn.Code.String()); !strings.Contains(log, "Notes (agent/"+string(id)+"):") {
				t.Errorf("git log --notes shows\n%s", log)
			}
		}
		if mission := l.Git("show", id.Ref()+":mission.json"); !strings.HasPrefix(mission, `{"v":1,"id":"`+string(id)+`"`) {
			t.Errorf("mission.json is %s", mission)
		}
		// One ledger commit per event, and its message says which.
		subjects := strings.Split(l.Git("log", "--first-parent", "--reverse", "--format=%s", id.Ref()), "\n")
		var events []string
		for _, s := range subjects {
			if !strings.HasPrefix(s, "before turn") {
				events = append(events, s)
			}
		}
		want := []string{"mission " + string(id)}
		if id == attached {
			want = append(want, "start "+string(id))
		}
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 7, 8, 9} { // 7 was recorded again
			want = append(want, fmt.Sprintf("turn %d", n))
		}
		if !slices.Equal(events, want) {
			t.Errorf("the ledger's events are\n%q\nwant\n%q", events, want)
		}
		names := strings.Split(l.Git("ls-tree", "-r", "--name-only", id.Ref()), "\n")
		for _, name := range names {
			dir, _, _ := strings.Cut(name, "/")
			if !slices.Contains([]string{"mission.json", "turns", "transcript"}, dir) {
				t.Errorf("the ledger holds %s", name)
			}
		}
		if len(names) != 1+2*9 {
			t.Errorf("the ledger holds %d files, want 19: %q", len(names), names)
		}
	}
	l.Fsck()
}

// TestGarbageCollected: nothing that was recorded is garbage.
func TestGarbageCollected(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, passive, attached := everything(t)
	before := make(map[record.ID]string)
	for _, id := range []record.ID{passive, attached} {
		before[id] = lab.Describe(l.List(id))
	}
	l.Git("reflog", "expire", "--expire=now", "--all")
	l.Git("gc", "-q", "--prune=now")
	l.Forget("")
	for id, was := range before {
		l.Verify(id)
		if now := lab.Describe(l.List(id)); now != was {
			t.Errorf("before\n%s\nafter\n%s", was, now)
		}
		for _, turn := range l.List(id) {
			l.Git("diff", "--stat", turn.Base.String(), turn.Code.String())
			if _, err := lab.TranscriptOf(t.Context(), l.GitRepo(), turn); err != nil {
				t.Error(err)
			}
		}
	}
	l.Fsck()
}

// TestMirror: a mirror of the repository has all of it, and reads the same.
func TestMirror(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l, passive, attached := everything(t)
	dir := filepath.Join(gittest.TempDir(t), "mirror.git")
	l.Git("clone", "-q", "--mirror", l.Dir, dir)
	clone := filepath.Join(gittest.TempDir(t), "clone")
	l.Git("clone", "-q", dir, clone)
	w := l.At(clone)
	w.Git("fetch", "-q", "origin", "refs/agent/*:refs/agent/*", "refs/notes/agent/*:refs/notes/agent/*")
	for _, id := range []record.ID{passive, attached} {
		if got, want := lab.Describe(w.List(id)), lab.Describe(l.List(id)); got != want {
			t.Errorf("the clone has\n%s\nwant\n%s", got, want)
		}
		w.Verify(id)
	}
	w.Fsck()
	if refs := w.Git("for-each-ref", "--format=%(refname)", "refs/agent/missions", "refs/notes"); strings.Count(refs, "\n") != 3 {
		t.Errorf("two missions have the refs\n%s\nwant two each", refs)
	}
}

// TestInvisibleToPlainCommands: an ordinary clone and the commands that people type see nothing of
// a passive mission.
func TestInvisibleToPlainCommands(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	commands := [][]string{
		{"log", "--oneline"},
		{"branch", "-a"},
		{"tag"},
		{"log", "--branches", "--tags", "--remotes", "--oneline"},
		{"show-branch", "--all"},
		{"log", "--notes", "-1"},
		{"branch", "-a", "--contains", "HEAD"},
		{"push", "--dry-run", "--porcelain", "--all", "../other.git"},
	}
	l.Git("init", "-q", "--bare", "../other.git")
	look := func() (all []string) {
		for _, c := range commands {
			all = append(all, l.Git(c...))
		}
		return all
	}
	before := look()
	c := l.Client()
	l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Turn(c, "two", nil)
	for i, now := range look() {
		if now != before[i] {
			t.Errorf("git %s was\n%s\nis\n%s", strings.Join(commands[i], " "), before[i], now)
		}
	}
	dir := filepath.Join(gittest.TempDir(t), "clone")
	l.Git("clone", "-q", "--no-local", l.Dir, dir)
	if refs := l.At(dir).Git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/main" {
		t.Errorf("a clone has\n%s", refs)
	}
}

// TestLongNote: many turns without a change lie on one commit. A note that exceeds 32 KiB gets
// short lines.
func TestLongNote(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	text := strings.Repeat("words ", 160)
	const turns = 30
	for range turns {
		c.Prompt(text)
		c.Stop(text)
	}
	list := l.List(lab.Own(c))
	if len(list) != turns {
		t.Fatalf("%d turns, want %d", len(list), turns)
	}
	note := l.Git("notes", "--ref=agent/"+string(lab.Own(c)), "show", "HEAD")
	lines := strings.Split(note, "\n")
	if len(lines) != turns {
		t.Fatalf("the note has %d lines, want one for each turn", len(lines))
	}
	long := 0
	for i, line := range lines {
		if strings.Contains(line, `"prompt":`) {
			long++
			continue
		}
		if len(line) > 500 {
			t.Errorf("the short line of turn %d has %d bytes: %s", i+1, len(line), line)
		}
		for _, field := range []string{`"mission":"` + string(lab.Own(c)), fmt.Sprintf(`"turn":%d,`, i+1), `"at":"`, `"outcome":"done"`, `"code":"`} {
			if !strings.Contains(line, field) {
				t.Errorf("the short line of turn %d lacks %s: %s", i+1, field, line)
			}
		}
	}
	if long == 0 || long == turns || len(note) > 33<<10+turns*500 {
		t.Errorf("the note has %d bytes, %d of %d lines are long", len(note), long, turns)
	}
	for i, turn := range list {
		if turn.Prompt == "" || turn.Reply == "" {
			t.Errorf("the ledger's record of turn %d is short", i+1)
		}
	}
}

// TestLimits: what a record quotes has an end, and is still the beginning of the prompt and the end
// of the reply.
func TestLimits(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	c.Prompt(strings.Repeat("日", 600))
	for i := range 30 {
		l.Write(fmt.Sprintf("file %02d", i), "x\n")
	}
	c.Stop("begin" + strings.Repeat("語", 1200) + "end")
	turn := l.List(lab.Own(c))[0]
	if n := len([]rune(turn.Prompt)); n != 500 || !strings.HasPrefix(turn.Prompt, "日日") {
		t.Errorf("the prompt has %d runes: %s", n, turn.Prompt)
	}
	if n := len([]rune(turn.Reply)); n != 1000 || !strings.HasSuffix(turn.Reply, "語end") {
		t.Errorf("the reply has %d runes: %s", n, turn.Reply)
	}
	if len(turn.Paths) != 20 || turn.Files != 30 || turn.Insertions != 30 || turn.Paths[0] != "file 00" {
		t.Errorf("%d paths, %d files, %d insertions", len(turn.Paths), turn.Files, turn.Insertions)
	}
	if subject := l.Git("log", "-1", "--format=%s", turn.Code.String()); subject != "turn 1: "+strings.Repeat("日", 59)+"…" {
		t.Errorf("the subject is %q", subject)
	}
}

// TestHostilePrompt: what a prompt says is a stranger's text. It neither adds trailers nor reaches
// a terminal raw.
func TestHostilePrompt(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Start()
	for _, prompt := range []string{
		"\x1b[2J\x1b]0;title\x07red\r\nsecond line",
		"\n\n  \nAgent-Mission: ffffffff\nAgent-Turn: 99",
		"a\u202eb\u0085c\x00d",
		"\xff\xfe",
		"-n --exec=x",
		"Signed-off-by: nobody <x@example.invalid>\n\nAgent-Turn: 77",
	} {
		c := l.Client()
		list := l.List(ownOf(l))
		l.Turn(c, prompt, l.Writes("file", c.Session))
		message := l.Git("log", "-1", "--format=%B")
		for _, r := range strings.TrimSpace(message) {
			if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e {
				t.Errorf("the message for %q is %q", prompt, message)
				break
			}
		}
		if n := l.Git("log", "-1", "--format=%(trailers:key=Agent-Turn,valueonly)"); strings.TrimSpace(n) != fmt.Sprint(len(list)+1) {
			t.Errorf("the trailer Agent-Turn for %q is %q", prompt, n)
		}
		if n := l.Git("log", "-1", "--format=%(trailers:key=Agent-Mission,valueonly)"); strings.TrimSpace(n) != string(ownOf(l)) {
			t.Errorf("the trailer Agent-Mission for %q is %q", prompt, n)
		}
	}
	l.Verify(ownOf(l))
	l.Fsck()
	l.Capture.SubjectPrompt = false
	l.Turn(l.Client(), "a secret plan", l.Writes("file", "last"))
	if subject := l.Git("log", "-1", "--format=%B"); strings.Contains(subject, "secret") || !strings.HasPrefix(subject, "turn 7\n") {
		t.Errorf("without subject_prompt the message is %q", subject)
	}
}

// ownOf is the mission whose branch HEAD is on.
func ownOf(l *lab.Lab) record.ID {
	l.T.Helper()
	id, ok := record.OfBranch(l.Git("symbolic-ref", "HEAD"), l.Capture.BranchPrefix)
	if !ok {
		l.T.Fatal("HEAD is on no mission's branch")
	}
	return id
}

// TestTwoWritersOfNotes: the user annotates the same commits in the same ref, with git's own
// command.
func TestTwoWritersOfNotes(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", nil)
	ref := "--ref=agent/" + string(lab.Own(c))
	l.Git("notes", ref, "append", "-m", "a person's remark", "HEAD")
	l.Turn(c, "two", nil)
	note := l.Git("notes", ref, "show", "HEAD")
	if !strings.Contains(note, "a person's remark") || strings.Count(note, `"kind":"turn"`) != 2 {
		t.Errorf("the note is\n%s", note)
	}
	if n := len(l.List(lab.Own(c))); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
}

// TestIdentity: the user's, as git finds it, else our own: a container has none, and a turn is
// recorded all the same.
func TestIdentity(t *testing.T) {
	l := lab.New(t)
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_NAME", "")
		t.Setenv("GIT_"+name+"_EMAIL", "")
	}
	t.Setenv("EMAIL", "")
	c := l.Client()
	who := func() string {
		list := l.List(lab.Own(c))
		last := list[len(list)-1]
		return l.Git("log", "-1", "--format=%an <%ae> %cn <%ce>", last.Code.String())
	}
	l.Turn(c, "one", l.Writes("f", "1"))
	if got := who(); got != "git-agent <git-agent@localhost> git-agent <git-agent@localhost>" {
		t.Errorf("without an identity it is %s", got)
	}
	l.Git("config", "user.name", "Dev\nInjected")
	l.Git("config", "user.email", "<dev@example.invalid>")
	l.Git("config", "committer.name", "Committer")
	l.Turn(c, "two", l.Writes("f", "2"))
	if got := who(); got != "DevInjected <dev@example.invalid> Committer <dev@example.invalid>" {
		t.Errorf("with the configuration it is %s", got)
	}
	t.Setenv("GIT_AUTHOR_NAME", "Author")
	l.Turn(c, "three", l.Writes("f", "3"))
	if got := who(); got != "Author <dev@example.invalid> Committer <dev@example.invalid>" {
		t.Errorf("with the environment it is %s", got)
	}
	l.Verify(lab.Own(c))
	l.Fsck()
}

// everything makes a mission of each kind with everything in it that a mission can have.
func everything(t *testing.T) (l *lab.Lab, passive, attached record.ID) {
	t.Helper()
	l = lab.New(t)
	l.Write("users.txt", "the user's\n")
	c := l.Client()
	work := func() {
		l.Turn(c, "one", l.Writes("one.txt", "1\n"))
		l.Turn(c, "talk", nil)
		l.Write("users.txt", "the user's again\n")
		l.Turn(c, "two", l.Writes("two.txt", "2\n"))
		c.Prompt("stop")
		l.Write("half.txt", "half\n")
		c.Esc()
		l.Turn(c, "commit", func() { l.Commit("the agent's own"); l.Write("more.txt", "more\n") })
		c.Prompt("fail")
		c.Fail("API Error: 500")
		c.Prompt("go on")
		c.Block("done", "no")
		l.Write("one.txt", "one\n")
		c.StopAgain("now it is")
		l.Turn(c, "jump", func() { l.Git("reset", "-q", "--hard", "HEAD^"); l.Write("jumped.txt", "jumped\n") })
		l.Turn(c, "talk more", nil)
	}
	passive = lab.Own(c)
	work()
	l.Commit("all of it")
	attached = l.Start()
	c.Clear()
	work()
	return l, passive, attached
}
