package recorder_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/agent/claude"
	"gitagent/internal/checkout"
	"gitagent/internal/gitdiff"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// hears gives a client hooks that are ours.
func hears(l *lab.Lab, c *replay.Client) { c.Hook = func(e replay.Event) { l.Record(e) } }

// became checks what became of a client's session.
func became(l *lab.Lab, all map[string]recorder.Imported, c *replay.Client, state recorder.ImportState, added, last int) {
	l.T.Helper()
	if got := all[c.Session]; got.State != state || got.Added != added || got.Turns != last {
		l.T.Errorf("the session is %+v, want it %s by %d turns, the last %d", got, state, added, last)
	}
}

// refs are all refs of missions and their notes.
func refs(l *lab.Lab) string { l.T.Helper(); return l.Git("for-each-ref", "refs/agent", "refs/notes") }

// TestImport: a conversation from before becomes a mission, once, and goes on in it.
func TestImport(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Unheard()
	one := l.Turn(c, "first", l.Writes("kept.txt", "changed\n"))
	c.Prompt("stopped")
	c.Esc()
	c.Prompt("fails")
	c.FailUnheard("API Error: 500")
	c.Flush()
	// Nothing is known of the worktree, so nothing is claimed.
	one.Tree, one.Base = l.TreeOf("HEAD"), l.TreeOf("HEAD")
	stopped := lab.Want{Prompt: "stopped", Outcome: record.Interrupted}
	failed := lab.Want{Prompt: "fails", Reply: "API Error: 500", Outcome: record.Failed}

	before := refs(l)
	became(l, l.Imported(true), c, recorder.New, 3, 3)
	if now := refs(l); now != before {
		t.Errorf("the dry run has left\n%s", now)
	}
	all := l.Imported(false)
	became(l, all, c, recorder.New, 3, 3)
	if got := all[c.Session]; got.Mission != lab.Own(c) || got.Title != "first" {
		t.Errorf("it is %+v", got)
	}
	list := l.Check(lab.Own(c), one, stopped, failed)
	for _, turn := range list {
		if turn.Session != c.Session || turn.Started.IsZero() || turn.At.Before(turn.Started) || time.Since(turn.At) > time.Hour || turn.Imported == "" {
			t.Errorf("turn %d is %+v", turn.Turn, turn)
		}
	}
	if list[0].Tools["Edit"] != 1 || list[0].Context != 123 || list[0].Model == "" {
		t.Errorf("turn 1 is %+v", list[0])
	}
	once := refs(l)
	became(l, l.Imported(false), c, recorder.UpToDate, 0, 3)
	if now := refs(l); now != once {
		t.Errorf("importing again has changed\n%s\nto\n%s", once, now)
	}

	// What the client notes for itself is no turn, and belongs to the next one.
	l.Turn(c, "fourth", nil)
	c.Flush()
	became(l, l.Imported(true), c, recorder.Grown, 1, 4)
	became(l, l.Imported(false), c, recorder.Grown, 1, 4)
	fourth := lab.Want{Prompt: "fourth", Reply: "answer to fourth"}
	l.Check(lab.Own(c), one, stopped, failed, fourth)

	// With hooks, it goes on in the same mission.
	hears(l, c)
	fifth := l.Turn(c, "fifth", l.Writes("kept.txt", "again\n"))
	l.Check(lab.Own(c), one, stopped, failed, fourth, fifth)
	became(l, l.Imported(false), c, recorder.Recorded, 0, 5)
	sixth := l.Turn(c, "sixth", nil)
	c.End("other")
	list = l.Check(lab.Own(c), one, stopped, failed, fourth, fifth, sixth)
	if list[4].Imported != "" || list[4].Files != 1 {
		t.Errorf("the turn of the hooks is %+v", list[4])
	}
}

// TestImportUnknown: where the code was is not claimed if nothing proves it, nothing is restored from
// there, and a fork begins at HEAD.
func TestImportUnknown(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Unheard()
	one := l.Turn(c, "first", nil)
	l.DropLog()
	l.Imported(false)
	list := l.Check(lab.Own(c), one)
	if list[0].Imported != "head" || list[0].Code.String() != l.Git("rev-parse", "HEAD") || !list[0].Head.IsZero() {
		t.Errorf("it is %s", lab.Describe(list))
	}
	if notes, err := l.Try("notes", "--ref=agent/"+string(lab.Own(c)), "list"); err == nil && notes != "" {
		t.Errorf("a note says that it ended in a commit: %s", notes)
	}
	w := l.Workspace(l.Dir)
	if _, err := checkout.Restore(context.Background(), w, time.Now(), list[0].After(), gitdiff.Paths{}, checkout.RestorePlan{}); !errors.Is(err, turns.ErrCodeUnknown) {
		t.Errorf("Restore: %v", err)
	}
	l.Write("kept.txt", "since\n")
	l.Commit("since")
	done, err := missionstore.Fork(context.Background(), w, missionstore.ForkPlan{
		Source: list[0], ID: "f0f0f0f0", At: time.Now(), Worktree: filepath.Join(filepath.Dir(l.Dir), "fork"),
		Session: replay.NewID(), Config: l.Config,
	})
	if err != nil || done.Why != nil || done.File == "" || done.Mission.Base != l.Git("rev-parse", "HEAD") {
		t.Fatalf("Fork: %+v, %v", done, err)
	}
	// The hooks find the worktree as it is, and say nothing in the name of a turn that nobody saw.
	hears(l, c)
	l.Write("kept.txt", "by hand\n")
	two := l.Turn(c, "second", l.Writes("dir/edited.txt", "two\n"))
	l.Check(lab.Own(c), one, two)
}

// TestImportTimes: an imported mission is as old as its last turn, in every list. The times of its
// ledger never go backwards, whatever the client's file says.
func TestImportTimes(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	began := time.Now()
	session := func(n int) (*file, record.ID) {
		id := fmt.Sprintf("5e550000-0000-4000-8000-%012d", n)
		return &file{t: t, config: l.Config, dir: l.Dir, session: id}, record.ID(id[len(id)-8:])
	}
	newest := func(want record.ID) {
		t.Helper()
		if id, _, err := l.Workspace(l.Dir).Newest(context.Background()); err != nil || id != want {
			t.Errorf("the newest mission is %s, %v; want %s", id, err, want)
		}
	}
	// The tip of an imported mission has its last turn's time, and nothing before is newer.
	times := func(id record.ID, want time.Duration) {
		t.Helper()
		var seconds []int64
		for _, line := range strings.Fields(l.Git("log", "--first-parent", "--reverse", "--format=%ct", id.Ref())) {
			n, err := strconv.ParseInt(line, 10, 64)
			gittest.Must(t, err)
			seconds = append(seconds, n)
		}
		if !slices.IsSorted(seconds) || seconds[0] < 0 {
			t.Errorf("the times of mission %s go backwards: %v", id, seconds)
		}
		last := time.Unix(seconds[len(seconds)-1], 0)
		if last.Before(began.Add(want-time.Minute)) || last.After(time.Now().Add(want+time.Minute)) {
			t.Errorf("the times of mission %s are %v, want the last one %s after %v", id, seconds, want, began)
		}
	}
	old, oldID := session(1)
	old.turn("months ago", -1000*time.Hour, -999*time.Hour, "")
	old.turn("a clock went backwards", -2000*time.Hour, -1500*time.Hour, "")
	recent, recentID := session(2)
	recent.turn("this week", -40*time.Hour, -30*time.Hour, "")
	late, lateID := session(3)
	late.turn("years ago", -1_000_000*time.Hour, -1_000_000*time.Hour, "")
	l.Imported(false)
	newest(recentID)
	times(oldID, -999*time.Hour)
	times(recentID, -30*time.Hour)
	times(lateID, time.Until(time.Unix(0, 0)))

	old.turn("yesterday", -20*time.Hour, -19*time.Hour, "")
	late.turn("before yesterday", -50*time.Hour, -49*time.Hour, "")
	l.Imported(false)
	newest(oldID)
	times(oldID, -19*time.Hour)
	times(lateID, -49*time.Hour)

	recent.turn("by a clock that is wrong", time.Hour, 10*time.Hour, "")
	l.Imported(false)
	newest(recentID)
	times(recentID, 0)

	c := l.Unheard()
	l.Turn(c, "now", nil)
	c.Flush()
	l.Imported(false)
	hears(l, c)
	l.Turn(c, "with hooks", nil)
	times(lab.Own(c), 0)
}

// TestImportUnborn: a repository without a commit has missions all the same.
func TestImportUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.Empty(t)
	one, two := l.Unheard(), l.Unheard()
	for _, c := range []*replay.Client{one, two} {
		c.Prompt("first")
		c.Stop("done")
		c.Flush()
	}
	all := l.Imported(false)
	for _, c := range []*replay.Client{one, two} {
		became(l, all, c, recorder.New, 1, 1)
		l.Check(lab.Own(c), lab.Want{Prompt: "first", Reply: "done", Tree: l.Tree()})
	}
}

// TestImportProved: a commit that a turn ended in is claimed where the reflog or the transcript tells.
func TestImportProved(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	at := func(d time.Duration) *gittest.Repo {
		r := l.In(l.Dir)
		date := fmt.Sprintf("@%d +0000", time.Now().Add(d).Unix())
		r.Env = append(append([]string{}, l.Env...), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
		return r
	}
	l.Git("reflog", "expire", "--expire=all", "HEAD")
	commit := func(d time.Duration, content string) string {
		l.Write("kept.txt", content)
		at(d).Git("commit", "-q", "-a", "-m", content)
		return l.Git("rev-parse", "HEAD")
	}
	early := commit(-10*time.Hour, "early\n") // before the reflog: not known
	l.DropLog()
	first := commit(-5*time.Hour, "first\n")
	second := commit(-3*time.Hour, "second\n")
	third := commit(-2*time.Hour, "third\n")
	f := file{t: t, config: l.Config, dir: l.Dir, session: replay.NewID()}
	f.turn("before the reflog", -9*time.Hour, -8*time.Hour, "")
	f.turn("told of by the transcript", -10*time.Hour-time.Minute, -10*time.Hour+time.Minute, "[main "+early[:7]+"] early\n 1 file changed")
	f.turn("another time's", -8*time.Hour, -7*time.Hour, "[main "+early[:7]+"] early\n")
	f.turn("while HEAD stayed", -4*time.Hour, -4*time.Hour+time.Minute, "")
	f.turn("while HEAD moved", -4*time.Hour, -150*time.Minute, "[main "+third[:7]+"] not then\n")
	f.turn("without a commit that is here", -9*time.Hour, -8*time.Hour, "[main 0123456] nowhere\n")
	commit(time.Hour, "later\n")
	head := l.Git("rev-parse", "HEAD")
	l.Imported(false)
	list := l.List(record.ID(f.session[len(f.session)-8:]))
	for i, want := range []struct {
		by, base, code string
		files          int
	}{
		{"head", head, head, 0},
		{"transcript", l.Git("rev-parse", early+"^"), early, 1},
		{"head", head, head, 0},
		{"reflog", first, first, 0},
		{"reflog", first, second, 1},
		{"head", head, head, 0},
	} {
		if i >= len(list) {
			t.Fatalf("there are %d turns", len(list))
		}
		if got := list[i]; got.Imported != want.by || got.Code.String() != want.code || got.Base.String() != want.base || got.Files != want.files {
			t.Errorf("%s: %s, code %s, base %s, %d files; want %+v", got.Prompt, got.Imported, got.Code, got.Base, got.Files, want)
		}
	}
	l.Verify(record.ID(f.session[len(f.session)-8:]))
}

// A file is a session's file, written by hand.
type file struct {
	t               *testing.T
	config          string
	dir             string // where the agent is
	from            string // where it began, if that is another directory
	session, parent string
}

// move makes the session go on in another directory.
func (f *file) move(dir string) { f.from, f.dir = cmp.Or(f.from, f.dir), dir }

// turn adds a turn between two times, counted from now, with what git printed in it.
func (f *file) turn(prompt string, from, to time.Duration, output string) {
	f.t.Helper()
	id, tool := replay.NewID(), replay.NewID()
	f.add("user", from, map[string]any{"promptId": id, "turnOrigin": "human", "message": map[string]any{"content": prompt}})
	f.add("assistant", from, map[string]any{"message": map[string]any{"id": replay.NewID(), "model": "m", "stop_reason": "tool_use", "content": []any{
		map[string]any{"type": "tool_use", "id": tool, "name": "Bash", "input": map[string]any{"command": "git commit -am 'as asked'"}},
	}}})
	f.add("user", to, map[string]any{"promptId": id, "message": map[string]any{"content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": tool, "content": output},
	}}})
	f.add("assistant", to, map[string]any{"message": map[string]any{"id": replay.NewID(), "model": "m", "stop_reason": "end_turn", "content": []any{
		map[string]any{"type": "text", "text": "done"},
	}}})
}

func (f *file) add(kind string, at time.Duration, fields map[string]any) {
	f.t.Helper()
	fields["type"], fields["uuid"], fields["parentUuid"], fields["sessionId"] = kind, replay.NewID(), f.parent, f.session
	fields["timestamp"], fields["cwd"] = time.Now().Add(at).UTC().Format(time.RFC3339Nano), f.dir
	f.parent = fields["uuid"].(string)
	line, err := json.Marshal(fields)
	path := claude.Path(f.config, cmp.Or(f.from, f.dir), f.session)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	var to *os.File
	if err == nil {
		to, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
	if err == nil {
		_, err = to.Write(append(line, '\n'))
	}
	gittest.Must(f.t, err)
	to.Close()
}

// TestImportRedacts: what is imported is redacted as what is recorded, and a grown session is known
// again all the same.
func TestImportRedacts(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Unheard()
	const secret = "hunter2hunter2"
	l.Turn(c, "log in with password="+secret, nil)
	c.Flush()
	became(l, l.Imported(false), c, recorder.New, 1, 1)
	l.Turn(c, "and again with password="+secret, nil)
	c.Flush()
	all := l.Imported(false)
	became(l, all, c, recorder.Grown, 1, 2)
	list := l.List(lab.Own(c))
	stored, err := lab.ForkConversation(l.GitRepo(), list[1])
	gittest.Must(t, err)
	record, err := list[1].Encode()
	gittest.Must(t, err)
	for what, text := range map[string]string{
		"segments": string(stored), "record": string(record), "title": all[c.Session].Title, "mission": l.Git("show", lab.Own(c).Ref()+":mission.json"),
	} {
		if strings.Contains(text, secret) {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// TestImportCopies: a conversation that the client has copied is a fork of the other one's mission,
// whoever has recorded that.
func TestImportCopies(t *testing.T) {
	t.Parallel()
	for name, heard := range map[string]bool{"imported": false, "recorded by hooks": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if heard {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Unheard()
			if heard {
				hears(l, c)
			}
			for n := range 3 {
				l.Turn(c, fmt.Sprintf("common %d", n+1), nil)
			}
			c.Flush()
			copied, mere := c.Fork(), c.Fork()
			copied.Hook = nil
			mere.Flush()
			l.Turn(copied, "another way", nil)
			copied.Flush()
			l.Turn(c, "fourth", nil)
			c.Flush()
			importable := func(want int) {
				t.Helper()
				if n, err := recorder.Importable(context.Background(), l.Workspace(l.Dir), l.Getenv); err != nil || n != want {
					t.Errorf("Importable: %d, %v, want %d", n, err, want)
				}
			}
			importable(map[bool]int{false: 2, true: 1}[heard])
			dry := l.Imported(true)
			became(l, dry, copied, recorder.New, 1, 4)
			all := l.Imported(false)
			importable(0)
			if !heard {
				became(l, all, c, recorder.New, 4, 4)
			}
			became(l, all, copied, recorder.New, 1, 4)
			if got := all[mere.Session]; got.State != recorder.Skipped || got.Mission != lab.Own(c) {
				t.Errorf("the mere copy is %+v", got)
			}
			list := l.List(lab.Own(copied))
			if len(list) != 4 || list[2].Mission != lab.Own(c) || list[3].Mission != lab.Own(copied) || list[3].Prompt != "another way" || list[3].Transcript.After != 3 {
				t.Errorf("the copy's turns are\n%s", lab.Describe(list))
			}
			if from := l.Git("show", lab.Own(copied).Ref()+":mission.json"); !strings.Contains(from, fmt.Sprintf(`"forked_from":{"mission":%q,"turn":3}`, lab.Own(c))) {
				t.Errorf("the copy's mission is %s", from)
			}
			became(l, l.Imported(false), copied, recorder.UpToDate, 0, 4)
			// It goes on there, too.
			hears(l, copied)
			l.Turn(copied, "further", nil)
			if list := l.List(lab.Own(copied)); len(list) != 5 || list[4].Transcript.After != 4 {
				t.Errorf("the copy's turns are\n%s", lab.Describe(list))
			}
		})
	}
}

// TestImportRunning: a turn that runs is left to whoever sees its end, hooks or the next import, and
// is there once.
func TestImportRunning(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Unheard()
	one := l.Turn(c, "first", nil)
	hears(l, c)
	c.Prompt("runs") // the hooks have just been installed
	c.Say("I am at it.")
	c.Flush()
	became(l, l.Imported(false), c, recorder.New, 1, 1)
	l.Write("kept.txt", "changed\n")
	c.Stop("done")
	list := l.Check(lab.Own(c), one, lab.Want{Prompt: "runs", Reply: "done", Tree: l.Tree()})
	if list[1].Imported != "" || list[1].Files != 1 {
		t.Errorf("the turn of the hooks is %+v", list[1])
	}

	l.Git("checkout", "-q", "--", ".") // what is imported says nothing of the worktree

	// Without hooks, of a client of which it is not known that it lives, the turn counts as interrupted
	// until there is more of it.
	d := l.Unheard()
	d.Prompt("first")
	d.Tool("Read")
	d.Flush()
	became(l, l.Imported(false), d, recorder.New, 1, 1)
	l.Check(lab.Own(d), lab.Want{Prompt: "first", Outcome: record.Interrupted})
	d.Stop("done")
	two := l.Turn(d, "second", nil)
	d.Flush()
	became(l, l.Imported(false), d, recorder.Grown, 2, 2)
	l.Check(lab.Own(d), lab.Want{Prompt: "first", Reply: "done"}, two)
	became(l, l.Imported(false), d, recorder.UpToDate, 0, 2)

	// And of one that lives it is left out.
	e := l.Unheard()
	e.PID = os.Getpid()
	register(l, e)
	first := l.Turn(e, "first", nil)
	e.Prompt("runs")
	e.Flush()
	became(l, l.Imported(false), e, recorder.New, 1, 1)
	e.Stop("done")
	e.Flush()
	became(l, l.Imported(false), e, recorder.Grown, 1, 2)
	l.Check(lab.Own(e), first, lab.Want{Prompt: "runs", Reply: "done"})
}

// register lets a client say that it runs.
func register(l *lab.Lab, c *replay.Client) {
	l.T.Helper()
	start := session.ReadClient(c.PID).Start
	if start == "" {
		l.T.Skip("the system does not tell when a process started")
	}
	data, err := json.Marshal(map[string]any{"pid": c.PID, "sessionId": c.Session, "procStart": start, "status": "busy"})
	if err == nil {
		err = os.MkdirAll(filepath.Join(l.Config, "sessions"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(l.Config, "sessions", fmt.Sprintf("%d.json", c.PID)), data, 0o600)
	}
	gittest.Must(l.T, err)
}

// TestImportOnly: what is not of this repository, no conversation, or not what was imported before is
// left alone.
func TestImportOnly(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	// Beside it, with a name that the client spells as that of a directory below it.
	beside := gittest.New(t)
	dir := l.Dir + "-below"
	gittest.Must(t, os.Rename(beside.Dir, dir))
	strange := replay.New(l.Config, dir, nil)
	l.Turn(strange, "elsewhere", nil)
	strange.Flush()
	// Below it, in a linked worktree, and in one that is gone.
	below := replay.New(l.Config, filepath.Join(l.Dir, "dir"), nil)
	l.Turn(below, "below", nil)
	below.Flush()
	linked := filepath.Join(gittest.TempDir(t), "linked")
	l.Git("worktree", "add", "-q", "--detach", linked)
	there := replay.New(l.Config, linked, nil)
	l.Turn(there, "linked", nil)
	there.Flush()
	gone := replay.New(l.Config, filepath.Join(l.Dir, ".claude", "worktrees", "x"), nil)
	l.Turn(gone, "gone", nil)
	gone.Flush()
	// No conversation, no session, and no file.
	for name, content := range map[string]string{
		replay.NewID() + ".jsonl": `{"type":"summary","summary":"nothing"}` + "\n", "agent-1234.jsonl": "", "-x.jsonl": "", "memory/x.jsonl": "", replay.NewID() + ".jsonl/x": "",
	} {
		path := filepath.Join(filepath.Dir(claude.Path(l.Config, l.Dir, "x")), name)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	short := l.Unheard()
	short.Session = "abc"
	short.Path = claude.Path(l.Config, l.Dir, short.Session)
	l.Turn(short, "no mission can be named after it", nil)
	short.Flush()
	// A repository within it.
	inner := filepath.Join(l.Dir, "inner")
	gittest.Must(t, os.MkdirAll(inner, 0o700))
	l.In(inner).Git("init", "-q")
	within := replay.New(l.Config, inner, nil)
	within.Prompt("within")
	within.Stop("done")
	within.Flush()
	// More than can be read at once: most of it is a hole.
	huge := l.Unheard()
	huge.Prompt("without end")
	huge.Flush()
	gittest.Must(t, os.Truncate(huge.Path, transcript.MaxSegment+1))
	n, err := recorder.Importable(context.Background(), l.Workspace(l.Dir), l.Getenv)
	if err != nil || n != 3 {
		t.Errorf("Importable: %d, %v, want 3", n, err)
	}
	all := l.Imported(false)
	if len(all) != 5 {
		t.Errorf("the sessions are %+v", all)
	}
	for _, c := range []*replay.Client{below, there, gone} {
		became(l, all, c, recorder.New, 1, 1)
	}
	for c, why := range map[*replay.Client]string{short: "hex digits", huge: "more than 256 MiB"} {
		if became(l, all, c, recorder.Skipped, 0, 0); !strings.Contains(all[c.Session].Why, why) {
			t.Errorf("it was skipped: %s, want %s", all[c.Session].Why, why)
		}
	}
	if n, err := recorder.Importable(context.Background(), l.Workspace(l.Dir), l.Getenv); err != nil || n != 0 {
		t.Errorf("Importable: %d, %v, want 0", n, err)
	}
	// The file of another conversation in the place of one that was imported.
	data, err := os.ReadFile(there.Path)
	if err == nil {
		err = os.WriteFile(below.Path, data, 0o600)
	}
	if err == nil {
		var f *os.File
		f, err = os.OpenFile(below.Path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString("{}\n")
			f.Close()
		}
	}
	gittest.Must(t, err)
	before := l.Git("rev-parse", lab.Own(below).Ref())
	if got := l.Imported(false)[below.Session]; got.State != recorder.Skipped || l.Git("rev-parse", lab.Own(below).Ref()) != before {
		t.Errorf("it is %+v", got)
	}
}

// TestImportsAtOnce: several imports, and the hooks of sessions that go on meanwhile. No turn is lost,
// none is there twice.
func TestImportsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	sessions, rounds := gittest.Size(8, 4), gittest.Size(6, 3)
	var clients []*replay.Client
	for range sessions {
		c := l.Unheard()
		l.Turn(c, "turn 1", nil)
		l.Turn(c, "turn 2", nil)
		c.Flush()
		clients = append(clients, c)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range rounds {
				err := recorder.Import(context.Background(), l.Workspace(l.Dir), recorder.ImportOptions{Getenv: l.Getenv, At: time.Now()})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i, c := range clients {
		all.Go(func() {
			if i%2 == 0 {
				hears(l, c)
			}
			for n := range rounds {
				c.Prompt(fmt.Sprintf("turn %d", n+3))
				c.Tool("Read")
				c.Stop(fmt.Sprintf("answer to turn %d", n+3))
			}
			c.Flush()
		})
	}
	all.Wait()
	l.Imported(false)
	for i, c := range clients {
		list := l.List(lab.Own(c))
		// Hooks that came first keep what was before them with their first turn.
		first := list[0].Turn
		if skipped := rounds + 2 - len(list); i%2 == 1 && skipped != 0 || first != 1 || skipped > 2 {
			t.Errorf("session %d has\n%s", i, lab.Describe(list))
		}
		for n, turn := range list {
			if want := fmt.Sprintf("turn %d", n+1+rounds+2-len(list)); turn.Prompt != want || turn.Outcome != record.Done {
				t.Errorf("session %d: turn %d is %s, %s, want %s\n%s", i, turn.Turn, turn.Prompt, turn.Outcome, want, lab.Describe(list))
			}
		}
		l.Verify(lab.Own(c))
	}
}
