package turns_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/agent/claude"
	"gitagent/internal/git"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

const forkID = record.ID("f0f0f0f0")

// three makes a session of three turns.
func (l *lab) three() (*replay.Client, []*turns.Turn) {
	l.t.Helper()
	c := l.client()
	wants := []want{
		l.turn(c, "first", l.write("a.txt", "a\n")),
		l.turn(c, "second", nil),
		l.turn(c, "third", l.write("b.txt", "b\n")),
	}
	return c, l.check(own(c), wants...)
}

// forkOf is a fork of a turn into a worktree beside the repository.
func (l *lab) forkOf(t *turns.Turn) turns.Fork {
	return turns.Fork{
		Source: t, ID: forkID, Title: "again", At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		Worktree: filepath.Join(filepath.Dir(l.Dir), "fork"), Session: replay.NewID(), Config: l.config,
	}
}

func (l *lab) fork(f turns.Fork) *turns.Forked {
	l.t.Helper()
	done, err := l.recorder(l.Dir).Fork(context.Background(), f)
	if err != nil {
		l.t.Fatal(err)
	}
	if done.Why != nil {
		l.t.Fatalf("no conversation: %v", done.Why)
	}
	return done
}

// everything is what a fork might leave behind: refs, worktrees, branches in the configuration, and
// all files of the client and of the local state.
func (l *lab) everything() string {
	l.t.Helper()
	var b strings.Builder
	for _, args := range [][]string{{"for-each-ref"}, {"worktree", "list", "--porcelain"}, {"config", "--local", "--list"}, {"status", "--porcelain"}} {
		out, err := l.Try(args...)
		fmt.Fprintln(&b, args, out, err)
	}
	for _, root := range []string{filepath.Join(l.config, "projects"), filepath.Join(l.Dir, ".git", "agent"), filepath.Join(l.Dir, ".git", "worktrees"), filepath.Dir(l.Dir)} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if path == l.Dir || filepath.Base(path) == "locks" { // a file that is locked can't be removed
				return fs.SkipDir
			}
			if err == nil && filepath.Base(path) != "worktrees" { // git may leave it, empty
				fmt.Fprintln(&b, path)
			}
			return nil
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return b.String()
}

// The fork's turns go on counting, in a conversation that is stored once.
func TestForkGoesOn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c, source := l.three()
	before := l.Git("rev-parse", own(c).Ref())
	f := l.forkOf(source[1])
	done := l.fork(f)
	wt := l.at(filepath.Join(filepath.Dir(l.Dir), "fork"))
	if got := wt.tree(); got != l.treeOf(source[1].Code.String()) {
		t.Errorf("the worktree differs from the turn's:\n%s", l.Git("diff", "--stat", source[1].Code.String(), got))
	}
	if got := l.Git("rev-parse", own(c).Ref()); got != before {
		t.Error("the source has moved")
	}
	if m := done.Mission; m.ForkedFrom == nil || *m.ForkedFrom != (record.TurnID{Mission: own(c), Turn: 2}) || m.Title != "again" {
		t.Errorf("mission.json = %+v", m)
	}
	info, err := os.Stat(done.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the session's file: %v, %v, want one for the user alone", info, err)
	}
	placed, err := os.ReadFile(done.File)
	if err != nil {
		t.Fatal(err)
	}
	if got := transcript.Turns(agent.Default().Reader(), placed); len(got) != 2 || got[1].Prompt != "second" {
		t.Errorf("the conversation has the turns %+v, want the first two", got)
	}

	// The client resumes there.
	next := replay.New(l.config, wt.Dir, func(e replay.Event) { wt.record(e) })
	next.Session, next.Path = f.Session, done.File
	w := wt.turn(next, "another way", wt.write("c.txt", "c\n"))
	list := l.list(forkID)
	if len(list) != 3 || list[2].Turn != 3 || list[2].Mission != forkID || list[2].Transcript.After != 2 {
		t.Fatalf("the fork's turns:\n%s", describe(list))
	}
	if got := l.treeOf(list[2].Code.String()); got != w.tree {
		t.Error("the tree of the fork's own turn differs")
	}
	segment, err := transcriptOf(context.Background(), l.repo(), list[2])
	if err != nil || strings.Contains(string(segment), "second") || !strings.Contains(string(segment), "another way") {
		t.Errorf("the new segment is %s, %v", segment, err)
	}
	l.holds(list[2], "first")
	if stored, _ := forkConversation(l.repo(), list[2]); strings.Contains(string(stored), "third") {
		t.Error("the fork's conversation has a turn that came after it")
	}
	l.fsck()
}

// A fork before a turn has the state that it started in, and not its conversation.
func TestForkBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.client()
	l.turn(c, "first", l.write("a.txt", "a\n"))
	l.Write("mine.txt", "by the user\n")
	l.turn(c, "second", l.write("b.txt", "b\n"))
	source := l.list(own(c))
	f := l.forkOf(source[1])
	f.Before = true
	done := l.fork(f)
	if got, want := l.at(f.Worktree).tree(), l.treeOf(source[1].Base.String()); got != want {
		t.Errorf("the worktree differs from the state before:\n%s", l.Git("diff", "--stat", want, got))
	}
	placed, err := os.ReadFile(done.File)
	if got := transcript.Turns(agent.Default().Reader(), placed); err != nil || len(got) != 1 || got[0].Prompt != "first" {
		t.Errorf("the conversation has the turns %+v, %v, want the first", got, err)
	}
	if list := l.list(forkID); len(list) != 1 {
		t.Errorf("the fork begins with\n%s", describe(list))
	}

	f = l.forkOf(source[0])
	f.ID, f.Before, f.Worktree = "f1f1f1f1", true, f.Worktree+"-1"
	if done := l.fork(f); done.File != "" {
		t.Errorf("before the first turn there is a conversation: %+v", done)
	}
	if list := l.list(f.ID); len(list) != 0 {
		t.Errorf("the fork begins with\n%s", describe(list))
	}
}

// A conversation that can't be told again is no failure, and there is never half of one.
func TestForkWithoutConversation(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name string
		turn func(t turns.Turn) turns.Turn
		why  string
	}{
		{"an unknown client", func(t turns.Turn) turns.Turn { t.Agent = "emacs"; return t }, `"emacs"`},
		{"no client", func(t turns.Turn) turns.Turn { t.Agent = ""; return t }, "by hand"},
		{"no transcript", func(t turns.Turn) turns.Turn { t.Transcript = nil; return t }, "kept none"},
		{"not redacted", func(t turns.Turn) turns.Turn { t.Transcript = &record.Segment{Missing: "redaction"}; return t }, "redaction"},
		{"a chain that is broken", func(t turns.Turn) turns.Turn { t.Transcript = &record.Segment{After: 7}; return t }, "follows turn 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			l := newLab(t)
			_, source := l.three()
			f := l.forkOf(l.putTurn(tt.turn(*source[1])))
			done, err := l.recorder(l.Dir).Fork(context.Background(), f)
			if err != nil || done.File != "" || done.Why == nil || !strings.Contains(done.Why.Error(), tt.why) {
				t.Fatalf("Fork: %+v, %v, want a reason with %q", done, err, tt.why)
			}
			if found, _ := filepath.Glob(filepath.Join(l.config, "projects", "*", f.Session+"*")); len(found) > 0 {
				t.Errorf("there is a session file: %q", found)
			}
			if got := l.at(f.Worktree).tree(); got != l.treeOf(source[1].Code.String()) {
				t.Error("the worktree differs from the turn's")
			}
		})
	}
}

// The turns of one conversation are one agent's, but a record may say anything.
func TestForkBeforeOfOthers(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for later, why := range map[string]string{"codex": "Codex goes on", "emacs": `"emacs" goes on`} {
		l := newLab(t)
		_, source := l.three()
		second := *source[1]
		second.Agent = later
		f := l.forkOf(l.putTurn(second))
		f.Before = true
		done, err := l.recorder(l.Dir).Fork(t.Context(), f)
		if err != nil || done.File != "" || done.Why == nil || !strings.Contains(done.Why.Error(), why) {
			t.Errorf("%s: Fork: %+v, %v, want a reason with %q", later, done, err, why)
		}
	}
}

// Whatever fails, nothing is left behind.
func TestForkFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name    string
		arrange func(l *lab, f *turns.Fork)
		want    string // part of the error
	}{
		{"the directory is not empty", func(l *lab, f *turns.Fork) { l.In(f.Worktree).Write("theirs.txt", "x") }, "not empty"},
		{"the directory is another worktree", func(l *lab, f *turns.Fork) { l.Git("worktree", "add", "-q", "-b", "topic", f.Worktree) }, "not empty"},
		{"the directory is a file", func(l *lab, f *turns.Fork) { l.In(filepath.Dir(f.Worktree)).Write("fork", "x") }, "not a directory"},
		{"the directory can't be made", func(l *lab, f *turns.Fork) {
			l.In(filepath.Dir(f.Worktree)).Write("file", "x")
			f.Worktree = filepath.Join(filepath.Dir(f.Worktree), "file", "below")
		}, "file"},
		{"the branch exists", func(l *lab, f *turns.Fork) { l.Git("branch", "agent/mission/"+string(f.ID)) }, ""},
		{"a branch is in the way", func(l *lab, f *turns.Fork) { l.Git("branch", "agent") }, ""},
		{"the mission exists", func(l *lab, f *turns.Fork) { l.Git("update-ref", f.ID.Ref(), "HEAD") }, ""},
		{"the client's directory is a file", func(l *lab, f *turns.Fork) {
			f.Config = filepath.Join(l.config, "other")
			l.In(l.config).Write("other", "x")
		}, "place the conversation"},
		{"the session's file can't be written", func(l *lab, f *turns.Fork) {
			path := claude.Path(f.Config, f.Worktree, f.Session) + ".tmp"
			l.In(path).Write("in/the/way", "x")
		}, "place the conversation"},
		{"the session's file can't get its name", func(l *lab, f *turns.Fork) {
			l.In(claude.Path(f.Config, f.Worktree, f.Session)).Write("in/the/way", "x")
		}, "place the conversation"},
		{"the local state can't be written", func(l *lab, f *turns.Fork) {
			l.In(l.Dir).Write(".git/agent/sessions/"+f.Session+".json.old/in/the/way", "x")
		}, "place the conversation"},
		{"the user's hook fails", func(l *lab, f *turns.Fork) { l.failingHook() }, ""},
		{"the code commit is missing", func(l *lab, f *turns.Fork) {
			lost := *f.Source
			lost.Code = git.NewHash(gittest.Hash("0123456789"))
			f.Source = l.putTurn(lost)
		}, "code commit is not here"},
		{"the turn is a stranger's", func(l *lab, f *turns.Fork) {
			later := *f.Source
			later.Turn = 9
			f.Source = &later
		}, "not signed by a key you trust"},
	} {
		for _, empty := range []bool{false, true} {
			if empty && strings.HasPrefix(tt.name, "the directory") {
				continue
			}
			t.Run(fmt.Sprintf("%s/empty=%v", tt.name, empty), func(t *testing.T) {
				t.Parallel()
				gittest.Sample(t)
				l := newLab(t)
				_, source := l.three()
				f := l.forkOf(source[1])
				if empty {
					if err := os.Mkdir(f.Worktree, 0o777); err != nil {
						t.Fatal(err)
					}
				}
				tt.arrange(l, &f)
				before := l.everything()
				_, err := l.recorder(l.Dir).Fork(context.Background(), f)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "what is left") {
					t.Fatalf("Fork: %v, want an error with %q that leaves nothing", err, tt.want)
				}
				after := l.everything()
				if empty {
					// git takes the directory away with the worktree.
					before = strings.ReplaceAll(before, f.Worktree+"\n", "")
					after = strings.ReplaceAll(after, f.Worktree+"\n", "")
				}
				if after != before {
					t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
				}
				l.fsck()
			})
		}
	}
}

// A fork that is called off leaves nothing behind either.
func TestForkCancelled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	_, source := l.three()
	f := l.forkOf(source[1])
	// The hook outlives git, whose output it holds open, and ends with the test, when the directory goes.
	ctx, cancel := context.WithCancel(limit.With(context.Background(), limit.Limits{Git: limit.Default().Git}))
	reached := filepath.Join(gittest.TempDir(t), "reached")
	l.Write(".git/hooks/post-checkout", "#!/bin/sh\n: >'"+reached+"'\nwhile test -e '"+reached+"'; do sleep 0.1; done\n")
	if err := os.Chmod(filepath.Join(l.Dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := l.everything()
	go func() {
		defer cancel()
		for !exists(reached) && ctx.Err() == nil {
			<-time.After(5 * time.Millisecond)
		}
	}()
	_, err := l.recorder(l.Dir).Fork(ctx, f)
	if err == nil || strings.Contains(err.Error(), "what is left") {
		t.Fatalf("Fork: %v, want an error", err)
	}
	if after := l.everything(); after != before {
		t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// The worktree may lie anywhere; the client is told where it really is.
func TestForkPlaces(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	long := strings.Repeat("long/", 45)
	for _, name := range []string{"with blanks and 'quotes'", "日本語 é 👍", "-dash", long + "end", "link/inside"} {
		t.Run(name[:min(len(name), 20)], func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			_, source := l.three()
			root := gittest.TempDir(t)
			real := filepath.Join(root, name)
			if strings.HasPrefix(name, "link/") {
				real = filepath.Join(root, "real", "inside")
				if err := errors.Join(os.Mkdir(filepath.Dir(real), 0o777), os.Symlink("real", filepath.Join(root, "link"))); err != nil {
					t.Fatal(err)
				}
			}
			f := l.forkOf(source[1])
			f.Worktree = filepath.Join(root, name)
			done := l.fork(f)
			if want := claude.Path(l.config, real, f.Session); done.File != want {
				t.Errorf("the conversation is at\n%s, want\n%s", done.File, want)
			}
			st := session.Open(filepath.Join(l.Dir, ".git")).Load(f.Session)
			repo, err := git.Find(real)
			if err != nil || st.Worktree != repo.GitDir || st.Mission != forkID || st.Cursors[forkID].Turn != 2 {
				t.Errorf("the local state is %+v, %v", st, err)
			}
			if !slices.Contains(strings.Split(l.Git("worktree", "list", "--porcelain"), "\n"), "worktree "+real) {
				t.Errorf("git does not know the worktree %s", real)
			}
		})
	}
}
