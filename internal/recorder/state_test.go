package recorder_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// TestStateDeleted: what is known locally is lost after each event in turn. Nothing is recorded
// twice, and no byte of the conversation is stored twice.
func TestStateDeleted(t *testing.T) {
	t.Parallel()
	for _, attached := range []bool{false, true} {
		for at := 0; at < 9; at += gittest.Size(1, 3) {
			t.Run(fmt.Sprintf("attached=%t/after event %d", attached, at), func(t *testing.T) {
				t.Parallel()
				if attached || at != 3 {
					gittest.Check(t)
				}
				l := lab.New(t)
				c := l.Client()
				id := lab.Own(c)
				if attached {
					id = l.Start()
				}
				n := 0
				c.Hook = func(e replay.Event) {
					l.Record(e)
					if n == at {
						l.Forget("")
					}
					n++
				}
				wants := []lab.Want{
					l.Turn(c, "one", l.Writes("one.txt", "1\n")),
					l.Turn(c, "two", nil),
					l.Turn(c, "three", l.Writes("three.txt", "3\n")),
				}
				c.Prompt("four")
				c.Block("wrong", "go on")
				c.StopAgain("right")
				c.End("other")
				if at%2 == 0 && at < 6 { // a prompt's
					wants[at/2].Base = ""
				}
				list := l.Check(id, append(wants, lab.Want{Prompt: "four", Reply: "right"})...)
				l.StoredOnce(list)
				l.Fsck()
			})
		}
	}
}

// TestStateAlwaysDeleted: after every event.
func TestStateAlwaysDeleted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Hook = func(e replay.Event) {
		l.Record(e)
		l.Forget("")
	}
	wants := []lab.Want{
		l.Turn(c, "one", l.Writes("one.txt", "1\n")),
		l.Turn(c, "two", l.Writes("two.txt", "2\n")),
		l.Turn(c, "three", nil),
	}
	wants[0].Base = lab.Unknown
	l.StoredOnce(l.Check(lab.Own(c), wants...))
	l.Fsck()
}

// TestEventTwiceAcrossDeletion: the second one of two equal events finds no state.
func TestEventTwiceAcrossDeletion(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Hook = func(e replay.Event) {
		l.Record(e)
		l.Forget("sessions")
		l.Record(e)
	}
	wants := []lab.Want{l.Turn(c, "one", l.Writes("one.txt", "1\n")), l.Turn(c, "two", nil)}
	list := l.List(lab.Own(c))
	if len(list) != len(wants) {
		t.Fatalf("%d turns, want %d:\n%s", len(list), len(wants), lab.Describe(list))
	}
	l.StoredOnce(list)
	l.Verify(lab.Own(c))
}

// TestStateUnreadable: a process died while it was written, or a later version wrote it.
func TestStateUnreadable(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, content := range map[string]string{
		"empty": "", "torn": `{"v":1,"session":"`, "later version": `{"v":99}`, "another's": `{"v":1,"session":"x"}`, "binary": "\x00\xff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			path := filepath.Join(l.Dir, ".git", "agent", "sessions", c.Session+".json")
			gittest.Must(t, os.WriteFile(path, []byte(content), 0o600))
			l.StoredOnce(l.Check(lab.Own(c), a, l.Turn(c, "two", l.Writes("two.txt", "2\n"))))
		})
	}
}

// TestFileChanges: the session's file is only ever appended to, but nothing promises that.
func TestFileChanges(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct {
		change func(data []byte) []byte // nil: the file goes away
		after  int                      // of the segment of turn 2
	}{
		"rewritten": {func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("answer"), []byte("Answer")) }, 0},
		"cut":       {func(data []byte) []byte { return data[:bytes.IndexByte(data, '\n')+1] }, 0},
		"emptied":   {func([]byte) []byte { return []byte{} }, 0},
		"replaced":  {func([]byte) []byte { return []byte("{\"type\":\"summary\"}\n") }, 0},
		"binary":    {func([]byte) []byte { return []byte{0, 0xff, '\n', 0xfe} }, 0},
		"the same":  {func(data []byte) []byte { return data }, 1},
		"missing":   {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
			c.Flush()
			data, err := os.ReadFile(c.Path)
			gittest.Must(t, err)
			gittest.Must(t, os.Remove(c.Path))
			if tt.change != nil {
				gittest.Must(t, os.WriteFile(c.Path, tt.change(data), 0o600))
			}
			b := l.Turn(c, "two", l.Writes("two.txt", "2\n"))
			list := l.List(lab.Own(c))
			if len(list) != 2 || l.TreeOf(list[1].Code.String()) != b.Tree || l.TreeOf(list[0].Code.String()) != a.Tree {
				t.Fatalf("want two turns with their trees:\n%s", lab.Describe(list))
			}
			if list[1].Transcript.After != tt.after {
				t.Errorf("the segment of turn 2 follows %d, want %d", list[1].Transcript.After, tt.after)
			}
			l.Conversation(list[1])
			l.Holds(list[1], "answer to two")
			stored, err := lab.ForkConversation(l.GitRepo(), list[0])
			if err != nil || !bytes.HasPrefix(data, stored) || !bytes.Contains(stored, []byte("answer to one")) {
				t.Errorf("the conversation of turn 1 is not what the file had: %v\n%s", err, stored)
			}
			l.Fsck()
		})
	}
}

// TestFileMoves: entering a worktree moves the session's file. It is the session that counts.
func TestFileMoves(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	c.Prompt("two")
	c.Move()
	l.Write("two.txt", "2\n")
	c.Stop("moved")
	list := l.Check(lab.Own(c), a, lab.Want{Prompt: "two", Reply: "moved", Tree: l.Tree()}, l.Turn(c, "three", nil))
	l.StoredOnce(list)
}

// TestFileIsNone: the path in the payload names something that is no file of a session.
func TestFileIsNone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, path := range []string{"/dev/zero", "/dev/stdin", "/", "/home/dev/nowhere"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			c.Hook = func(e replay.Event) {
				e.Transcript = path
				l.Record(e)
			}
			c.Prompt("one")
			l.Write("one.txt", "1\n")
			c.Stop("done")
			list := l.List(lab.Own(c))
			if len(list) != 1 || l.TreeOf(list[0].Code.String()) != l.Tree() || list[0].Reply != "done" || list[0].Prompt != "one" {
				t.Fatalf("want one turn:\n%s", lab.Describe(list))
			}
			if s := list[0].Transcript; s != nil && (s.Path != "" || s.Missing == "") {
				t.Errorf("there is a segment: %+v", s)
			}
		})
	}
}

// TestRedacted: secrets are taken out before anything becomes an object, and what can't be redacted
// is not stored.
func TestRedacted(t *testing.T) {
	t.Parallel()
	secret := "AKIA" + strings.Repeat("Z", 8) + "QWERTY12"
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "use "+secret, nil)
	c.Prompt("say it")
	c.Stop("it is " + secret)
	for _, turn := range l.List(lab.Own(c)) {
		if strings.Contains(turn.Prompt+turn.Reply, secret) {
			t.Errorf("turn %d: %q %q", turn.Turn, turn.Prompt, turn.Reply)
		}
	}
	list := l.List(lab.Own(c))
	stored, err := lab.ForkConversation(l.GitRepo(), list[1])
	if err != nil || bytes.Contains(stored, []byte(secret)) || !bytes.Contains(stored, []byte("[redacted:")) {
		t.Errorf("the conversation: %v\n%s", err, stored)
	}
	nowhere(l, secret)
}

// nowhere fails the test if any object of the repository, or a file of the local state, holds the
// text.
func nowhere(l *lab.Lab, text string) {
	l.T.Helper()
	for line := range strings.Lines(l.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
		hash, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "tree" && strings.Contains(l.Git("cat-file", kind, hash), text) {
			l.T.Errorf("%s %s holds %q", kind, hash, text)
		}
	}
	err := filepath.WalkDir(filepath.Join(l.Dir, ".git", "agent"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			l.T.Errorf("%s holds %q", path, text)
		}
		return err
	})
	gittest.Must(l.T, err)
}

// TestRedactedText: a line that is not JSON is redacted as text.
func TestRedactedText(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	c := l.Client()
	c.Prompt("one")
	c.Flush()
	appendTo(l, c.Path, "{\"type\":\"attachment\",\"bad\":\"\\q\",\"token\":\""+secret+"\"}\n")
	c.Stop("done")
	list := l.List(lab.Own(c))
	l.Holds(list[0], "[redacted:")
	nowhere(l, secret)
}

func appendTo(l *lab.Lab, path, text string) {
	l.T.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	gittest.Must(l.T, err)
	if _, err := f.WriteString(text); err != nil {
		l.T.Fatal(err)
	}
	gittest.Must(l.T, f.Close())
}

// TestTooLarge: more lies after the cursor than is read at once. The segment is not stored, and the
// turn says so; the next one's is.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	a := l.Turn(c, "one", nil)
	c.Prompt("two")
	c.Flush()
	if err := os.Truncate(c.Path, transcript.MaxSegment+c.Size()); err != nil { // a hole
		t.Fatal(err)
	}
	appendTo(l, c.Path, "\n")
	l.Write("two.txt", "2\n")
	b := lab.Want{Prompt: "two", Reply: "done", Tree: l.Tree()}
	c.Stop("done")
	d := l.Turn(c, "three", nil)
	list := l.List(lab.Own(c))
	if len(list) != 3 || list[0].Reply != a.Reply || l.TreeOf(list[1].Code.String()) != b.Tree || list[2].Reply != d.Reply {
		t.Fatalf("want three turns:\n%s", lab.Describe(list))
	}
	if s := list[1].Transcript; s == nil || s.Missing != "size" || s.Path != "" || s.Bytes != 0 {
		t.Errorf("the segment of turn 2 is %+v, want it missing", s)
	}
	if s := list[2].Transcript; s.Missing != "" || s.From != list[1].Transcript.To {
		t.Errorf("the segment of turn 3 is %+v", s)
	}
	if _, err := l.Try("cat-file", "-e", lab.Own(c).Ref()+":transcript/0000/000002.jsonl"); err == nil {
		t.Error("the ledger has a segment of turn 2")
	}
	if len(l.Seen.Warnings) == 0 {
		t.Error("no warning for the log")
	}
	if _, err := lab.ForkConversation(l.GitRepo(), list[2]); err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("conversation of turn 3: %v, want an error that says why there is none", err)
	}
	if data, err := lab.TranscriptOf(t.Context(), l.GitRepo(), list[2]); err != nil || !bytes.Contains(data, []byte("answer to three")) {
		t.Errorf("transcript of turn 3: %v\n%s", err, data)
	}
}

// TestTooLargeWithoutLine: of a file that no line ends in for 200 GB little is read. As soon as there
// is a line again, segments go on after it.
func TestTooLargeWithoutLine(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", nil)
	c.Prompt("two")
	c.Flush()
	if err := os.Truncate(c.Path, 200<<30); err != nil { // a hole
		t.Fatal(err)
	}
	c.End("other")
	l.Turn(c, "three", nil)
	l.Turn(c, "four", nil)
	list := l.List(lab.Own(c))
	if len(list) != 4 {
		t.Fatalf("want four turns:\n%s", lab.Describe(list))
	}
	for i, missing := range []string{"", "size", "size", ""} {
		if s := list[i].Transcript; s == nil || s.Missing != missing || i > 0 && s.From != list[i-1].Transcript.To {
			t.Errorf("the segment of turn %d is %+v, want %q", i+1, s, missing)
		}
	}
	if s := list[1].Transcript; s.To != s.From {
		t.Errorf("the segment of turn 2 is %+v, want it to end where it begins", s)
	}
}

// TestStateDeletedAfterTooLarge: what was left out once is not looked at again.
func TestStateDeletedAfterTooLarge(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	c.Prompt("one")
	c.Flush()
	if err := os.Truncate(c.Path, transcript.MaxSegment+c.Size()); err != nil { // a hole
		t.Fatal(err)
	}
	appendTo(l, c.Path, "\n")
	c.Stop("done")
	l.Forget("")
	l.Turn(c, "two", nil)
	list := l.List(lab.Own(c))
	if len(list) != 2 || list[0].Transcript.Missing != "size" {
		t.Fatalf("want two turns:\n%s", lab.Describe(list))
	}
	if s := list[1].Transcript; s.Missing != "" || s.From != list[0].Transcript.To || s.After != 1 {
		t.Errorf("the segment of turn 2 is %+v, that of turn 1 %+v", s, list[0].Transcript)
	}
}

// TestStateDeletedThenEnded: the session ends in a turn of which the local state knew, and no more
// does.
func TestStateDeletedThenEnded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	a := l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	c.Prompt("two")
	l.Write("two.txt", "2\n")
	l.Forget("")
	c.End("other")
	l.StoredOnce(l.Check(lab.Own(c), a, lab.Want{Prompt: "two", Outcome: record.Interrupted, Tree: l.Tree()}))
}

// TestNothingIsWrittenTwice: the worktree differs from HEAD in all that the session has changed so
// far. What an earlier turn has written is not written again.
func TestNothingIsWrittenTwice(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	for i := range 8 {
		l.Turn(c, "more", l.Writes(fmt.Sprintf("dir-%d/sub/file", i), fmt.Sprintf("content of %d\n", i)))
	}
	packs, err := filepath.Glob(filepath.Join(l.Dir, ".git", "objects", "pack", "*.idx"))
	if err != nil || len(packs) < 5 {
		t.Fatalf("packs are %q, %v", packs, err)
	}
	joined, err := os.ReadFile(filepath.Join(l.Dir, ".git", "agent", "joined-packs"))
	gittest.Must(t, err)
	_, waiting, _ := strings.Cut(string(joined), "\n") // the packs that one has replaced
	packs = slices.DeleteFunc(packs, func(idx string) bool {
		return strings.Contains(waiting, strings.TrimSuffix(filepath.Base(idx), ".idx"))
	})
	in := make(map[string]string)
	for _, idx := range packs {
		for _, line := range strings.Split(l.Git("verify-pack", "-v", idx), "\n") {
			f := strings.Fields(line)
			if len(f) < 5 || !object.IsHash(f[0]) {
				continue
			}
			if other, twice := in[f[0]]; twice {
				t.Errorf("%s %s is in %s and in %s", f[1], f[0], filepath.Base(other), filepath.Base(idx))
			}
			in[f[0]] = idx
		}
	}
}
