package missionstore_test

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
	"gitagent/internal/git/object"
	"gitagent/internal/limit"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// The fork's turns go on counting, in a conversation that is stored once.
func TestForkGoesOn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c, source := l.Three()
	before := l.Git("rev-parse", lab.Own(c).Ref())
	f := l.ForkOf(source[1])
	done := l.Fork(f)
	wt := l.At(filepath.Join(filepath.Dir(l.Dir), "fork"))
	if got := wt.Tree(); got != l.TreeOf(source[1].Code.String()) {
		t.Errorf("the worktree differs from the turn's:\n%s", l.Git("diff", "--stat", source[1].Code.String(), got))
	}
	if got := l.Git("rev-parse", lab.Own(c).Ref()); got != before {
		t.Error("the source has moved")
	}
	if m := done.Mission; m.ForkedFrom == nil || *m.ForkedFrom != (record.TurnID{Mission: lab.Own(c), Turn: 2}) || m.Title != "again" {
		t.Errorf("mission.json = %+v", m)
	}
	info, err := os.Stat(done.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the session's file: %v, %v, want one for the user alone", info, err)
	}
	placed, err := os.ReadFile(done.File)
	gittest.Must(t, err)
	if got := transcript.Turns(agent.Default().Reader(), placed); len(got) != 2 || got[1].Prompt != "second" {
		t.Errorf("the conversation has the turns %+v, want the first two", got)
	}

	// The client resumes there.
	next := replay.New(l.Config, wt.Dir, func(e replay.Event) { wt.Record(e) })
	next.Session, next.Path = f.Session, done.File
	w := wt.Turn(next, "another way", wt.Writes("c.txt", "c\n"))
	list := l.List(lab.ForkID)
	if len(list) != 3 || list[2].Turn != 3 || list[2].Mission != lab.ForkID || list[2].Transcript.After != 2 {
		t.Fatalf("the fork's turns:\n%s", lab.Describe(list))
	}
	if got := l.TreeOf(list[2].Code.String()); got != w.Tree {
		t.Error("the tree of the fork's own turn differs")
	}
	segment, err := lab.TranscriptOf(context.Background(), l.GitRepo(), list[2])
	if err != nil || strings.Contains(string(segment), "second") || !strings.Contains(string(segment), "another way") {
		t.Errorf("the new segment is %s, %v", segment, err)
	}
	l.Holds(list[2], "first")
	if stored, _ := lab.ForkConversation(l.GitRepo(), list[2]); strings.Contains(string(stored), "third") {
		t.Error("the fork's conversation has a turn that came after it")
	}
	l.Fsck()
}

// A fork before a turn has the state that it started in, and not its conversation.
func TestForkBefore(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "first", l.Writes("a.txt", "a\n"))
	l.Write("mine.txt", "by the user\n")
	l.Turn(c, "second", l.Writes("b.txt", "b\n"))
	source := l.List(lab.Own(c))
	f := l.ForkOf(source[1])
	f.Before = true
	done := l.Fork(f)
	if got, want := l.At(f.Worktree).Tree(), l.TreeOf(source[1].Base.String()); got != want {
		t.Errorf("the worktree differs from the state before:\n%s", l.Git("diff", "--stat", want, got))
	}
	placed, err := os.ReadFile(done.File)
	if got := transcript.Turns(agent.Default().Reader(), placed); err != nil || len(got) != 1 || got[0].Prompt != "first" {
		t.Errorf("the conversation has the turns %+v, %v, want the first", got, err)
	}
	if list := l.List(lab.ForkID); len(list) != 1 {
		t.Errorf("the fork begins with\n%s", lab.Describe(list))
	}

	f = l.ForkOf(source[0])
	f.ID, f.Before, f.Worktree = "f1f1f1f1", true, f.Worktree+"-1"
	if done := l.Fork(f); done.File != "" {
		t.Errorf("before the first turn there is a conversation: %+v", done)
	}
	if list := l.List(f.ID); len(list) != 0 {
		t.Errorf("the fork begins with\n%s", lab.Describe(list))
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
			l := lab.New(t)
			_, source := l.Three()
			f := l.ForkOf(l.PutTurn(tt.turn(*source[1])))
			done, err := missionstore.Fork(context.Background(), l.Workspace(l.Dir), f)
			if err != nil || done.File != "" || done.Why == nil || !strings.Contains(done.Why.Error(), tt.why) {
				t.Fatalf("Fork: %+v, %v, want a reason with %q", done, err, tt.why)
			}
			if found, _ := filepath.Glob(filepath.Join(l.Config, "projects", "*", f.Session+"*")); len(found) > 0 {
				t.Errorf("there is a session file: %q", found)
			}
			if got := l.At(f.Worktree).Tree(); got != l.TreeOf(source[1].Code.String()) {
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
		l := lab.New(t)
		_, source := l.Three()
		second := *source[1]
		second.Agent = later
		f := l.ForkOf(l.PutTurn(second))
		f.Before = true
		done, err := missionstore.Fork(t.Context(), l.Workspace(l.Dir), f)
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
		arrange func(l *lab.Lab, f *missionstore.ForkPlan)
		want    string // part of the error
	}{
		{"the directory is not empty", func(l *lab.Lab, f *missionstore.ForkPlan) { l.In(f.Worktree).Write("theirs.txt", "x") }, "not empty"},
		{"the directory is another worktree", func(l *lab.Lab, f *missionstore.ForkPlan) { l.Git("worktree", "add", "-q", "-b", "topic", f.Worktree) }, "not empty"},
		{"the directory is a file", func(l *lab.Lab, f *missionstore.ForkPlan) { l.In(filepath.Dir(f.Worktree)).Write("fork", "x") }, "not a directory"},
		{"the directory can't be made", func(l *lab.Lab, f *missionstore.ForkPlan) {
			l.In(filepath.Dir(f.Worktree)).Write("file", "x")
			f.Worktree = filepath.Join(filepath.Dir(f.Worktree), "file", "below")
		}, "file"},
		{"the branch exists", func(l *lab.Lab, f *missionstore.ForkPlan) { l.Git("branch", "agent/mission/"+string(f.ID)) }, ""},
		{"a branch is in the way", func(l *lab.Lab, f *missionstore.ForkPlan) { l.Git("branch", "agent") }, ""},
		{"the mission exists", func(l *lab.Lab, f *missionstore.ForkPlan) { l.Git("update-ref", f.ID.Ref(), "HEAD") }, ""},
		{"the client's directory is a file", func(l *lab.Lab, f *missionstore.ForkPlan) {
			f.Config = filepath.Join(l.Config, "other")
			l.In(l.Config).Write("other", "x")
		}, "place the conversation"},
		{"the session's file can't be written", func(l *lab.Lab, f *missionstore.ForkPlan) {
			path := claude.Path(f.Config, f.Worktree, f.Session) + ".tmp"
			l.In(path).Write("in/the/way", "x")
		}, "place the conversation"},
		{"the session's file can't get its name", func(l *lab.Lab, f *missionstore.ForkPlan) {
			l.In(claude.Path(f.Config, f.Worktree, f.Session)).Write("in/the/way", "x")
		}, "place the conversation"},
		{"the local state can't be written", func(l *lab.Lab, f *missionstore.ForkPlan) {
			l.In(l.Dir).Write(".git/agent/sessions/"+f.Session+".json.old/in/the/way", "x")
		}, "place the conversation"},
		{"the code commit is missing", func(l *lab.Lab, f *missionstore.ForkPlan) {
			lost := *f.Source
			lost.Code = object.NewHash(gittest.Hash("0123456789"))
			f.Source = l.PutTurn(lost)
		}, "code commit is not here"},
		{"the turn is a stranger's", func(l *lab.Lab, f *missionstore.ForkPlan) {
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
				l := lab.New(t)
				_, source := l.Three()
				f := l.ForkOf(source[1])
				if empty {
					gittest.Must(t, os.Mkdir(f.Worktree, 0o777))
				}
				tt.arrange(l, &f)
				before := leavings(l)
				_, err := missionstore.Fork(context.Background(), l.Workspace(l.Dir), f)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "what is left") {
					t.Fatalf("Fork: %v, want an error with %q that leaves nothing", err, tt.want)
				}
				after := leavings(l)
				if empty {
					// git takes the directory away with the worktree.
					before = strings.ReplaceAll(before, f.Worktree+"\n", "")
					after = strings.ReplaceAll(after, f.Worktree+"\n", "")
				}
				if after != before {
					t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
				}
				l.Fsck()
			})
		}
	}
}

// TestForkHookFails: what is checked out stays, with all that comes after it.
func TestForkHookFails(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	_, source := l.Three()
	f := l.ForkOf(source[1])
	var told []string
	f.Unhooked = func(err error) { told = append(told, err.Error()) }
	l.FailingHook()
	done, err := missionstore.Fork(t.Context(), l.Workspace(l.Dir), f)
	if err != nil || done.File == "" || len(told) != 1 || !strings.Contains(told[0], "git worktree: ") {
		t.Fatalf("Fork: %+v, %v, told %q", done, err, told)
	}
	if got := l.At(f.Worktree).Git("status", "--porcelain", "--branch"); got != "## "+l.Branch(f.ID) {
		t.Errorf("there is %q", got)
	}
}

// A fork that is called off leaves nothing behind either.
func TestForkCancelled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	f := l.ForkOf(source[1])
	// The hook outlives git, whose output it holds open, and ends with the test, when the directory goes.
	ctx, cancel := context.WithCancel(limit.With(context.Background(), limit.Limits{Git: limit.Default().Git}))
	reached := filepath.Join(gittest.TempDir(t), "reached")
	l.Write(".git/hooks/post-checkout", "#!/bin/sh\n: >'"+reached+"'\nwhile test -e '"+reached+"'; do sleep 0.1; done\n")
	gittest.Must(t, os.Chmod(filepath.Join(l.Dir, ".git/hooks/post-checkout"), 0o755))
	before := leavings(l)
	go func() {
		defer cancel()
		for !Exists(reached) && ctx.Err() == nil {
			<-time.After(5 * time.Millisecond)
		}
	}()
	_, err := missionstore.Fork(ctx, l.Workspace(l.Dir), f)
	if err == nil || strings.Contains(err.Error(), "what is left") {
		t.Fatalf("Fork: %v, want an error", err)
	}
	if after := leavings(l); after != before {
		t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
	}
}

func Exists(path string) bool {
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
			l := lab.New(t)
			_, source := l.Three()
			root := gittest.TempDir(t)
			real := filepath.Join(root, name)
			if strings.HasPrefix(name, "link/") {
				real = filepath.Join(root, "real", "inside")
				gittest.Must(t, errors.Join(os.Mkdir(filepath.Dir(real), 0o777), os.Symlink("real", filepath.Join(root, "link"))))
			}
			f := l.ForkOf(source[1])
			f.Worktree = filepath.Join(root, name)
			done := l.Fork(f)
			if want := claude.Path(l.Config, real, f.Session); done.File != want {
				t.Errorf("the conversation is at\n%s, want\n%s", done.File, want)
			}
			st := session.Open(filepath.Join(l.Dir, ".git")).Load(f.Session)
			repo, err := git.Find(real)
			if err != nil || st.Worktree != repo.GitDir || st.Mission != lab.ForkID || st.Cursors[lab.ForkID].Turn != 2 {
				t.Errorf("the local state is %+v, %v", st, err)
			}
			if !slices.Contains(strings.Split(l.Git("worktree", "list", "--porcelain"), "\n"), "worktree "+real) {
				t.Errorf("git does not know the worktree %s", real)
			}
		})
	}
}

// leavings is what a fork might leave behind: refs, worktrees, branches in the configuration, and
// all files of the client and of the local state.
func leavings(l *lab.Lab) string {
	l.T.Helper()
	var b strings.Builder
	for _, args := range [][]string{
		{"for-each-ref", "refs/agent/missions", "refs/notes", "refs/heads", "refs/tags"},
		{"for-each-ref", "--format=%(refname)", "refs/agent"}, // keepers are commits of their own
		{"worktree", "list", "--porcelain"},
		{"config", "--local", "--list"},
		{"status", "--porcelain"},
	} {
		out, err := l.Try(args...)
		fmt.Fprintln(&b, args, out, err)
	}
	for _, root := range []string{filepath.Join(l.Config, "projects"), filepath.Join(l.Dir, ".git", "agent"), filepath.Join(l.Dir, ".git", "worktrees"), filepath.Dir(l.Dir)} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if path == l.Dir || filepath.Base(path) == "locks" { // a file that is locked can't be removed
				return fs.SkipDir
			}
			if name := filepath.Base(path); err == nil && name != "worktrees" && name != "joined-packs" { // git may leave it, empty
				fmt.Fprintln(&b, path)
			}
			return nil
		})
		gittest.Must(l.T, err)
	}
	return b.String()
}
