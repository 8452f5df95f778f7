package recorder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/hooks"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// A bench is a repository in which tools run.
type bench struct {
	*gittest.Repo
	t testing.TB
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{gittest.Like(t, "bench", func(r *gittest.Repo) {
		r.Do("a=a; d/b=b; d/e/c=c; ln a link; commit one")
		r.Write(".gitignore", "*.o\n")
		r.Commit("two")
	}), t}
}

// workspace opens the repository as another process would.
func (b *bench) workspace() *workspace.Workspace {
	b.t.Helper()
	repo, err := git.Find(b.Dir)
	gittest.Must(b.t, err)
	return workspace.New(repo.With(git.Env(b.Env...)), config.Default())
}

// ran has a session's tools run. Each has "edit", "read" or a command, and perhaps paths.
func (b *bench) ran(session string, calls ...hooks.Call) error {
	b.t.Helper()
	w := b.workspace()
	return Step(context.Background(), w.Repo, func() *workspace.Workspace { return w }, Batch{
		Session: session, PromptID: "p", Cwd: filepath.Join(b.Dir, "d"), Calls: calls,
	})
}

// about has a session's tool about to run.
func (b *bench) about(session string) {
	b.t.Helper()
	w := b.workspace()
	gittest.Must(b.t, StepBefore(context.Background(), w.Repo, func() *workspace.Workspace { return w }, Batch{Session: session, PromptID: "p", Cwd: b.Dir}))
}

func (b *bench) entries() []*journal.Entry {
	b.t.Helper()
	all, err := journal.Read(b.workspace().Repo)
	gittest.Must(b.t, err)
	return all
}

// last returns the last of the journal's entries, of which there must be n.
func (b *bench) last(n int) *journal.Entry {
	b.t.Helper()
	all := b.entries()
	if len(all) != n {
		b.t.Fatalf("%d entries, want %d", len(all), n)
	}
	return all[n-1]
}

// rested rewrites the journal as if no look at the worktree had taken time.
func (b *bench) rested() {
	b.t.Helper()
	b.rewrite(func(e *journal.Entry) { e.Cost = 0 })
}

func (b *bench) rewrite(change func(e *journal.Entry)) {
	b.t.Helper()
	repo := b.workspace().Repo
	all := b.entries()
	gittest.Must(b.t, journal.Drop(repo))
	for _, e := range all {
		change(e)
		gittest.Must(b.t, journal.Append(repo, e))
	}
}

// tree returns the tree of the worktree, by another index than ours.
func (b *bench) tree() string {
	b.t.Helper()
	other := &gittest.Repo{}
	*other = *b.Repo
	other.Env = append(slices.Clip(b.Env), "GIT_INDEX_FILE="+filepath.Join(gittest.TempDir(b.t), "index"))
	other.Git("add", "-A")
	return other.Git("write-tree")
}

// whole fails if the entry's tree is not the worktree's, or not all in the database.
func (b *bench) whole(e *journal.Entry) {
	b.t.Helper()
	if e.Tree.String() != b.tree() {
		b.t.Errorf("the state is %s, and the worktree %s", e.Tree, b.tree())
	}
	b.Git("rev-list", "--objects", "--quiet", e.Tree.String())
}

func edits(paths ...string) hooks.Call {
	return hooks.Call{ID: "1", Tool: "Edit", Effect: hooks.Edits, Paths: paths}
}

func shell(command string) hooks.Call { return hooks.Call{ID: "2", Tool: "Bash", Command: command} }

var reads = hooks.Call{ID: "3", Tool: "Read", Effect: hooks.Reads, Paths: []string{"a"}}

// TestStepNone: what writes nothing in the worktree leaves no entry, nor any file.
func TestStepNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := gittest.TempDir(t)
	for _, calls := range [][]hooks.Call{
		nil,
		{reads},
		{reads, shell("ls -l"), shell("git status && cat a | head")},
		{edits(filepath.Join(other, "x"), "../../x", "../.git/config", "..")},
	} {
		gittest.Must(t, b.ran("s", calls...))
		if _, err := os.Lstat(filepath.Join(b.Dir, ".git", "agent")); err == nil {
			t.Errorf("%+v left something", calls)
		}
	}
}

// TestStep: the entries that tools leave, one after another.
func TestStep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	top := func(name string) string { return filepath.Join(b.Dir, filepath.FromSlash(name)) }
	n := 0
	for _, tt := range []struct {
		name   string
		change string // to the worktree
		calls  []hooks.Call
		looked bool // at the whole worktree; on Windows more are
		same   bool // as the state before
		want   journal.Entry
	}{
		{
			name: "the first one", calls: []hooks.Call{edits(top("a"))}, looked: true,
			want: journal.Entry{Calls: []journal.Call{{ID: "1", Tool: "Edit", Path: "a"}}, Steps: 1},
		},
		{
			name: "an edit", change: "a=x", calls: []hooks.Call{edits(top("a")), reads, shell("cat a")},
			want: journal.Entry{Calls: []journal.Call{{ID: "1", Tool: "Edit", Path: "a"}}, Steps: 2},
		},
		{
			name: "an edit that failed", calls: []hooks.Call{edits(top("a"))}, same: true,
			want: journal.Entry{Calls: []journal.Call{{ID: "1", Tool: "Edit", Path: "a"}}, Steps: 2},
		},
		{
			name: "from the agent's directory, through a link", change: "a=y; d/e/c=y", calls: []hooks.Call{edits("../link", "e/c", "../../out")},
			want: journal.Entry{Calls: []journal.Call{{ID: "1", Tool: "Edit", Path: "a"}, {ID: "1", Tool: "Edit", Path: "d/e/c"}}, Steps: 3},
		},
		{
			name: "a new file and an ignored one", change: "d/new=1; d/x.o=1", calls: []hooks.Call{edits("new", "x.o")},
			want: journal.Entry{Calls: []journal.Call{{ID: "1", Tool: "Edit", Path: "d/new"}, {ID: "1", Tool: "Edit", Path: "d/x.o"}}, Steps: 4},
		},
		{
			name: "a command", change: "rm d/new; d/b=z", calls: []hooks.Call{shell("rm -f new nowhere && sed -i s/b/z/ b")}, looked: true,
			want: journal.Entry{Calls: []journal.Call{{ID: "2", Tool: "Bash"}}, Named: []string{"d/new", "d/b"}, Steps: 5},
		},
		{
			name: "with an edit, in the background", change: "a=w", calls: []hooks.Call{edits("../a"), {Tool: "Bash", Command: "make e", Background: true}}, looked: true,
			want: journal.Entry{Calls: []journal.Call{{ID: "1", Tool: "Edit", Path: "a"}, {Tool: "Bash"}}, Named: []string{"d/e"}, Open: true, Steps: 6},
		},
		{
			name: "git, after a commit", change: "commit three", calls: []hooks.Call{shell("git checkout -- .. b")}, looked: true, same: true,
			want: journal.Entry{Calls: []journal.Call{{ID: "2", Tool: "Bash"}}, Named: []string{"d/b"}, Git: true, Steps: 6},
		},
		{
			name: "a tool that nobody knows, and an idle command that is cut", change: "u=1", calls: []hooks.Call{{Tool: "mcp"}, {Tool: "Bash", Command: "cat a", Cut: true}}, looked: true,
			want: journal.Entry{Calls: []journal.Call{{Tool: "mcp"}, {Tool: "Bash"}}, Steps: 7},
		},
	} {
		before := b.entries()
		if tt.change != "" {
			b.Do(tt.change)
		}
		gittest.Must(t, b.ran("s", tt.calls...))
		n++
		got := b.last(n)
		b.whole(got)
		if looked := got.Cost > 0; looked != tt.looked {
			t.Errorf("%s: looked at the worktree: %v", tt.name, looked)
		}
		if same := n > 1 && got.Tree == before[n-2].Tree; same != tt.same {
			t.Errorf("%s: the state is the one before: %v", tt.name, same)
		}
		if head := b.Git("rev-parse", "HEAD"); got.Head.String() != head {
			t.Errorf("%s: HEAD was %s, is %s", tt.name, got.Head, head)
		}
		if n > 1 && got.From != before[n-2].At {
			t.Errorf("%s: began at %d, after %d", tt.name, got.From, before[n-2].At)
		}
		if got.Took <= 0 {
			t.Errorf("%s: it is not known how long the look took", tt.name)
		}
		want := tt.want
		want.At, want.From, want.Session, want.PromptID = got.At, got.From, "s", "p"
		want.Tree, want.Head, want.Plain, want.Ctimes, want.Took, want.Cost, want.Bytes = got.Tree, got.Head, true, got.Ctimes, got.Took, got.Cost, got.Bytes
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, *got, want)
		}
		b.rested()
	}
	if all := b.entries(); all[6].Bytes == 0 || all[8].Bytes <= all[6].Bytes {
		t.Errorf("the states have added %d and %d bytes", all[6].Bytes, all[8].Bytes)
	}
}

// TestStepCtimes: an entry has those of what differs, if it is there.
func TestStepCtimes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, b.ran("s", shell("make")))
	b.rested()
	b.Do("a=x; rm d/b; new=1")
	gittest.Must(t, b.ran("s", shell("make")))
	got := b.last(2).Ctimes
	for _, name := range []string{"a", "new"} {
		info, err := os.Lstat(filepath.Join(b.Dir, name))
		gittest.Must(t, err)
		if at, ok := journal.Ctime(info); ok && got[name] != at {
			t.Errorf("%s is of %d, and the entry says %v", name, at, got)
		}
	}
	if at, told := got["d/b"]; !told || at != 0 || len(got) > 3 {
		t.Errorf("got %v", got)
	}
}

// TestStepRests: after a look at the worktree there is none for 20 times what it took, and claims have no state.
func TestStepRests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, b.ran("s", shell("make")))
	b.rewrite(func(e *journal.Entry) { e.Cost = time.Hour.Milliseconds() })
	b.Do("a=x")
	gittest.Must(t, b.ran("t", shell("make")))
	if got := b.last(2); !got.Tree.IsZero() || got.Cost != 0 || got.Session != "t" || len(got.Calls) != 1 {
		t.Errorf("got %+v", got)
	}
	gittest.Must(t, b.ran("t", edits("../a")))
	b.whole(b.last(3)) // this is no look
}

// TestStepBounds: a turn has at most 100 new states, and 8 MiB of them; the next turn has its own.
func TestStepBounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, b.ran("s", shell("make")))
	for i, full := range []func(e *journal.Entry){
		func(e *journal.Entry) { e.Steps, e.Bytes, e.Cost = maxSteps, 0, 0 },
		func(e *journal.Entry) { e.Steps, e.Bytes, e.Cost = 1, maxBytes, 0 },
	} {
		b.rewrite(func(e *journal.Entry) {
			if full(e); e.Session != "s" {
				e.Steps, e.Bytes = 0, 0
			}
		})
		b.Do(fmt.Sprintf("a=%d", i))
		n := len(b.entries())
		gittest.Must(t, b.ran("s", edits("../a")))
		if got := b.last(n + 1); !got.Tree.IsZero() || got.Steps+int(got.Bytes) < maxSteps {
			t.Errorf("%d: got %+v", i, got)
		}
		gittest.Must(t, b.ran("t", edits("../a")))
		b.whole(b.last(n + 2))
	}
	b.rewrite(func(e *journal.Entry) { e.Steps, e.Bytes, e.Cost = 1, 0, 0 })
	b.Write("large", strings.Repeat("x", maxBytes+1))
	n := len(b.entries())
	gittest.Must(t, b.ran("s", shell("make")))
	if got := b.last(n + 1); !got.Tree.IsZero() {
		t.Errorf("a large file was kept: %+v", got)
	}
}

// TestStepLost: a git gc removes what nothing keeps. The next state is whole again.
func TestStepLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, b.ran("s", edits("../a")))
	for i, gc := range [][]string{{"gc", "-q", "--prune=now"}, {"prune", "--expire=now"}} {
		b.Do(fmt.Sprintf("a=%d; u=%d", i, i))
		b.rested()
		gittest.Must(t, b.ran("s", shell("make")))
		b.Git(gc...)
		b.rested()
		b.Do("d/b=x" + gc[0])
		gittest.Must(t, b.ran("s", edits("b")))
		got := b.last(3 + 2*i)
		b.whole(got)
		if got.Cost == 0 {
			t.Errorf("after %v it was made of one that is gone", gc)
		}
	}
}

// TestStepBusy: while another process has the worktree there is a claim without a state, and no error.
func TestStepBusy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.workspace()
	held, err := w.Store.LockWorktree(context.Background(), w.Repo.GitDir)
	gittest.Must(t, err)
	ctx := limit.With(context.Background(), limit.Limits{Step: time.Millisecond})
	other := b.workspace()
	batch := Batch{Session: "s", Cwd: b.Dir, Calls: []hooks.Call{shell("make")}}
	gittest.Must(t, Step(ctx, other.Repo, func() *workspace.Workspace { return other }, batch))
	held.Release()
	if got := b.last(1); !got.Tree.IsZero() || len(got.Calls) != 1 || got.Cost > 0 {
		t.Errorf("got %+v", got)
	}
	// A look that takes too long is noted, so that the next one is not at once.
	ctx = limit.With(context.Background(), limit.Limits{Look: time.Nanosecond})
	gittest.Must(t, Step(ctx, other.Repo, func() *workspace.Workspace { return other }, batch))
	if got := b.last(2); !got.Tree.IsZero() || got.Cost == 0 || len(got.Calls) != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestStepFrom: when the calls began, by what the client says, else by what the agent did before.
func TestStepFrom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.workspace()
	now := time.Now()
	for i, tt := range []struct {
		session, agent string
		began          time.Time
		want           int64 // index of the entry, from 1, that it began after; 0 for unknown, -1 for began
	}{
		{"s", "", time.Time{}, 0},
		{"s", "", time.Time{}, 1},
		{"s", "x", time.Time{}, 0},
		{"t", "", time.Time{}, 0},
		{"s", "x", time.Time{}, 3},
		{"s", "", time.Time{}, 2},
		{"s", "", now, -1},
		{"s", "", now.Add(time.Hour), 0},
	} {
		gittest.Must(t, Step(context.Background(), w.Repo, func() *workspace.Workspace { return w }, Batch{
			Session: tt.session, PromptID: "p", Agent: tt.agent, Cwd: b.Dir, Calls: []hooks.Call{edits("a")},
			Began: func() time.Time { return tt.began },
		}))
		all := b.entries()
		want := int64(0)
		switch {
		case tt.want > 0:
			want = all[tt.want-1].At
		case tt.want < 0:
			want = now.UnixMilli()
		}
		if got := all[i]; got.From != want || got.Agent != tt.agent {
			t.Errorf("%d: got %+v, want from %d", i, got, want)
		}
	}
}

// TestStepRefused: what is in the journal's place is an error that names it.
func TestStepRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, os.Mkdir(filepath.Join(b.Dir, ".git", "agent"), 0o700))
	gittest.Must(t, os.Symlink("x", filepath.Join(b.Dir, ".git", "agent", "steps")))
	err := b.ran("s", edits("../a"))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(".git", "agent", "steps")) || !strings.Contains(err.Error(), statedir.ErrRefused.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestStepConcurrent: tools of two sessions end at the same time. Every state is whole, and none is lost.
func TestStepConcurrent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, b.ran("s0", shell("make")))
	b.rested()
	const each = 8
	var all sync.WaitGroup
	for i := range 2 {
		session, name := fmt.Sprintf("s%d", i), fmt.Sprintf("f%d", i)
		all.Go(func() {
			for n := range each {
				b.Write(name, fmt.Sprintln(n))
				if err := b.ran(session, edits("../"+name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	entries := b.entries()
	if len(entries) != 1+2*each {
		t.Fatalf("%d entries", len(entries))
	}
	for i, e := range entries[1:] {
		if e.Tree.IsZero() {
			t.Fatalf("%d has no state: %+v", i, e)
		}
		b.Git("rev-list", "--objects", "--quiet", e.Tree.String())
		for s := range 2 { // a session's own file is there from its first entry on
			name := fmt.Sprintf("f%d", s)
			began := slices.ContainsFunc(entries[:i+2], func(e *journal.Entry) bool { return len(e.Calls) > 0 && e.Calls[0].Path == name })
			if got := b.Git("ls-tree", "--name-only", e.Tree.String(), name); (got != "") != began {
				t.Errorf("%d: %s is there: %q", i, name, got)
			}
		}
	}
	b.whole(entries[len(entries)-1])
	b.Git("fsck")
}

// TestObserve: the states with which a turn begins and ends are in the journal, and steps go on from them.
func TestObserve(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	state := b.workspace().Store.Load("s")
	id, err := record.OfSession("s", 8)
	gittest.Must(t, err)
	observed := func(event SignalKind) *journal.Entry {
		t.Helper()
		w := b.workspace()
		gittest.Must(t, ledgertx.Worktree(ctx, w, func() error {
			return ledgertx.Run(ctx, w, ledgertx.Of(ledgertx.Job{Mission: id, At: time.Now(), What: "test"}), func(ctx context.Context, tx *ledgertx.Tx) error {
				r := &recording{Workspace: w, tx: tx, inputs: inputs{
					Signal: Signal{Event: event, At: tx.At, Agent: "claude-code", Session: "s", PromptID: "p", Prompt: "do it"},
					id:     tx.ID, worktree: w.Repo.GitDir, state: *state,
				}}
				if _, err := r.run(ctx); err != nil {
					return err
				}
				state = &r.state
				if len(r.result.Warnings) > 0 {
					t.Error(r.result.Warnings)
				}
				return nil
			})
		}))
		all := b.entries()
		return all[len(all)-1]
	}
	b.Do("u=by hand")
	begun := observed(Prompted)
	b.whole(begun)
	if begun.Event != journal.Prompt || begun.Session != "s" || begun.PromptID != "p" || !begun.Plain || begun.Head.String() != b.Git("rev-parse", "HEAD") {
		t.Errorf("it began with %+v", begun)
	}
	b.Do("a=x")
	gittest.Must(t, b.ran("s", edits("../a")))
	made := b.last(2)
	b.whole(made)
	if made.Cost > 0 || made.From != begun.At {
		t.Errorf("the step is %+v", made)
	}
	b.Do("d/b=by hand")
	ended := observed(Stopped)
	b.whole(ended)
	info, err := os.Lstat(filepath.Join(b.Dir, "d", "b"))
	gittest.Must(t, err)
	if at, ok := journal.Ctime(info); ended.Event != journal.Stop || ended.At < made.At || ok && !reflect.DeepEqual(ended.Ctimes, map[string]int64{"d/b": at}) {
		t.Errorf("it ended with %+v", ended)
	}

	// A state that no turn has is none: a prompt in a running turn.
	tx := &ledgertx.Tx{Workspace: b.workspace(), Objects: b.workspace().Repo.Objects(ctx)}
	tree, err := tx.Objects.EditTree(object.Hash{}, nil)
	gittest.Must(t, err)
	tx.Snap = &snapshot.Snapshot{Tree: tree}
	(&recording{Workspace: tx.Workspace, tx: tx}).observe(journal.Prompt)
	b.last(3)
}

// TestStepBefore: what is there before a command is kept if it is news, without a claim, whatever a look took before,
// and the look after the command is made as if this one had not been.
func TestStepBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gittest.Must(t, b.ran("s", shell("make")))
	made := b.last(1)
	b.about("s")
	b.last(1) // as it was
	b.rewrite(func(e *journal.Entry) { e.Cost = time.Hour.Milliseconds() })
	b.Write("a", "unsaved work\n")
	b.about("s")
	e := b.last(2)
	b.whole(e)
	if !e.Before || e.Session != "s" || e.PromptID != "p" || len(e.Calls) != 0 || e.Cost != 0 || e.From != 0 || e.Steps != made.Steps+1 {
		t.Errorf("the state before is %+v", e)
	}
	if _, ok := e.Ctimes["a"]; len(e.Ctimes) != 1 || !ok {
		t.Errorf("what has changed is %v", e.Ctimes)
	}
	b.about("s")
	b.last(2)
	b.rested()
	b.Git("checkout", "-q", "--", "a")
	gittest.Must(t, b.ran("s", shell("git checkout -- a")))
	after := b.last(3)
	b.whole(after)
	if after.Before || after.From != made.At || after.Steps != e.Steps+1 {
		t.Errorf("the state after is %+v", after)
	}
	b.rewrite(func(e *journal.Entry) { e.Steps = maxSteps })
	b.Write("a", "more\n")
	b.about("s")
	b.last(3) // there are enough of the turn
}
