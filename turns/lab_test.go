package turns_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// A lab is a repository, the clients that work in it, and what is recorded of them.
type lab struct {
	*gittest.Repo
	t       testing.TB
	capture config.Capture
	flush   time.Duration
	limits  limit.Limits // of what records; else none
	config  string       // where clients keep their files
	keyless bool         // what is recorded is not signed, and what others signed is a stranger's
	seen    *seen
}

// A seen is what the hooks were told and what they said; several may run at once.
type seen struct {
	mu       sync.Mutex
	files    map[string]string // of sessions
	warnings []string
}

// newLab makes a repository with a few files and one commit.
func newLab(t testing.TB) *lab {
	t.Helper()
	return labIn(t, gittest.Like(t, "lab", func(r *gittest.Repo) {
		r.Write("kept.txt", "kept\n")
		r.Write("dir/edited.txt", "one\ntwo\nthree\n")
		r.Write(".gitignore", "*.ignored\n")
		r.Commit("first")
	}))
}

// emptyLab makes a repository without commits.
func emptyLab(t testing.TB) *lab {
	t.Helper()
	return labIn(t, gittest.New(t))
}

func labIn(t testing.TB, repo *gittest.Repo) *lab {
	t.Helper()
	return &lab{
		Repo: repo, t: t, capture: config.Default().Capture,
		flush: 2 * time.Second, config: gittest.TempDir(t), seen: &seen{files: make(map[string]string)},
	}
}

// at is the same lab seen from another worktree.
func (l *lab) at(dir string) *lab {
	other := *l
	other.Repo = l.In(dir)
	return &other
}

// client starts an agent's client whose hooks are ours.
func (l *lab) client() *replay.Client {
	return replay.New(l.config, l.Dir, func(e replay.Event) { l.record(e) })
}

// signal is what an event of the client says, in the words of the package, as the hook makes it.
func signal(e replay.Event) turns.Signal {
	return turns.Signal{
		Event: map[string]turns.SignalKind{
			"UserPromptSubmit": turns.Prompted, "Stop": turns.Stopped, "StopFailure": turns.Erred, "SessionEnd": turns.Ended,
		}[e.Name],
		At: e.At, Agent: "claude-code", Session: e.Session, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.Reply,
		Again: e.Again, Transcript: e.Transcript, Client: session.Client{PID: e.PID},
	}
}

// recorder is the one of a hook that runs in dir.
func (l *lab) recorder(dir string) *turns.Recorder {
	l.t.Helper()
	repo, err := git.Find(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	settings := config.Default()
	settings.Capture = l.capture
	if l.keyless {
		settings.Trust.Key = filepath.Join(l.config, "there is none")
	}
	return &turns.Recorder{Workspace: workspace.New(repo, settings), FlushWait: l.flush}
}

// record takes an event as the hook does. The test fails if that does.
func (l *lab) record(e replay.Event) *turns.Result {
	l.t.Helper()
	result, err := l.try(e)
	if err != nil {
		l.t.Fatalf("%s: %v", e.Name, err)
	}
	return result
}

func (l *lab) try(e replay.Event) (*turns.Result, error) {
	l.t.Helper()
	result, err := l.recorder(e.Cwd).Record(limit.With(context.Background(), l.limits), signal(e))
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	l.seen.files[e.Session] = e.Transcript
	if err == nil {
		l.seen.warnings = append(l.seen.warnings, result.Warnings...)
	}
	return result, err
}

// own is the passive mission of a client's session.
func own(c *replay.Client) record.ID { return record.ID(c.Session[len(c.Session)-8:]) }

// tree is the worktree as a tree, taken the plainest way that there is.
func (l *lab) tree() string {
	l.t.Helper()
	tmp, users := filepath.Join(l.t.TempDir(), "index"), filepath.Join(l.repo().GitDir, "index")
	if data, err := os.ReadFile(users); err == nil {
		info, err := os.Stat(users)
		if err == nil {
			err = os.WriteFile(tmp, data, 0o666)
		}
		if err == nil {
			err = os.Chtimes(tmp, info.ModTime(), info.ModTime()) // or git would trust a file that was changed in the same moment
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
	w := l.In(l.Dir)
	w.Env = append(slices.Clip(l.Env), "GIT_INDEX_FILE="+tmp)
	w.Git("-c", "core.hooksPath=/dev/null", "add", "-A", "--sparse")
	return w.Git("-c", "core.hooksPath=/dev/null", "write-tree")
}

// treeOf is the tree of a commit.
func (l *lab) treeOf(rev string) string { l.t.Helper(); return l.Git("rev-parse", rev+"^{tree}") }

// trees are the trees of the turns' code commits, and of their bases.
func (l *lab) trees(list []*turns.Turn) (code, base []string) {
	l.t.Helper()
	if len(list) == 0 {
		return nil, nil
	}
	args := []string{"rev-parse"}
	for _, t := range list {
		args = append(args, t.Code.String()+"^{tree}", t.Base.String()+"^{tree}")
	}
	out := strings.Fields(l.Git(args...))
	for i := range list {
		code, base = append(code, out[2*i]), append(base, out[2*i+1])
	}
	return code, base
}

// A want is what the record of a turn must say. Empty texts are not compared.
type want struct {
	prompt  string
	reply   string
	outcome record.Outcome // "" for done
	tree    string         // of the worktree when it ended
	base    string         // of the worktree when it began
}

// turn is a whole turn: the prompt, what the agent does, and its answer.
func (l *lab) turn(c *replay.Client, prompt string, work func()) want {
	l.t.Helper()
	w := want{prompt: prompt, reply: "answer to " + prompt, base: l.tree()}
	c.Prompt(prompt)
	if work != nil {
		c.Tool("Edit")
		work()
	}
	c.Stop(w.reply)
	w.tree = l.tree()
	return w
}

// write returns the work of writing a file.
func (l *lab) write(name, content string) func() { return func() { l.Write(name, content) } }

func (l *lab) repo() *git.Repo { return l.recorder(l.Dir).Repo }

// dropLog removes the log of HEAD.
func (l *lab) dropLog() {
	l.t.Helper()
	if l.InTables() {
		l.Git("reflog", "drop", "HEAD")
	} else if err := os.Remove(filepath.Join(l.Dir, ".git", "logs", "HEAD")); err != nil {
		l.t.Fatal(err)
	}
}

// operation is what git has under way.
func (l *lab) operation() string {
	l.t.Helper()
	op, err := l.repo().Operation(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return op
}

// list is what was recorded in a mission.
func (l *lab) list(id record.ID) []*turns.Turn {
	l.t.Helper()
	list, err := turns.List(context.Background(), l.repo(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

// check compares what was recorded in a mission with what is wanted: exactly one record for every
// turn, in order, and everything that has to hold in any mission.
func (l *lab) check(id record.ID, wants ...want) []*turns.Turn {
	l.t.Helper()
	list := l.list(id)
	if len(list) != len(wants) {
		l.t.Fatalf("mission %s has %d turns, want %d:\n%s", id, len(list), len(wants), describe(list))
	}
	code, base := l.trees(list)
	for i, w := range wants {
		t := list[i]
		if t.Turn != i+1 || t.Mission != id {
			l.t.Errorf("turn %s in the place of %d", t.ID(), i+1)
		}
		if w.outcome == "" {
			w.outcome = record.Done
		}
		if t.Outcome != w.outcome {
			l.t.Errorf("turn %d: outcome = %s, want %s", t.Turn, t.Outcome, w.outcome)
		}
		if w.prompt != "" && t.Prompt != w.prompt {
			l.t.Errorf("turn %d: prompt = %q, want %q", t.Turn, t.Prompt, w.prompt)
		}
		if w.reply != "" && t.Reply != w.reply {
			l.t.Errorf("turn %d: reply = %q, want %q", t.Turn, t.Reply, w.reply)
		}
		if got := code[i]; w.tree != "" && got != w.tree {
			l.t.Errorf("turn %d: tree differs:\n%s", t.Turn, l.Git("diff", "--stat", w.tree, got))
		}
		if got := base[i]; w.base != "" && got != w.base {
			l.t.Errorf("turn %d: base differs:\n%s", t.Turn, l.Git("diff", "--stat", w.base, got))
		}
	}
	l.verify(id)
	if l.t.Failed() {
		l.t.Log(describe(list))
	}
	return list
}

func describe(list []*turns.Turn) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "%d %s %q %q code %.8s base %.8s head %.8s session %.8s segment %+v\n",
			t.Turn, t.Outcome, t.Prompt, t.Reply, t.Code, t.Base, t.Head, t.Session, t.Transcript)
	}
	return b.String()
}

// verify checks with plain git what has to hold in any mission at any time.
func (l *lab) verify(id record.ID) {
	l.t.Helper()
	list := l.list(id)
	var records, commits []string
	followed := make(map[int]bool)
	for i, t := range list {
		if t.Turn != i+1 {
			l.t.Errorf("the turn after %d is %d", i, t.Turn)
		}
		records = append(records, id.Ref()+":"+ledger.TurnPath("turns", t.Turn, ".json"))
		commits = append(commits, t.Code.String(), t.Base.String())
		if t.Transcript != nil {
			followed[t.Transcript.After] = true
		}
	}
	notes, stored := l.notes(id), l.objects(records)
	for i, t := range list {
		line, err := t.Encode()
		if err != nil {
			l.t.Fatal(err)
		}
		noted := string(line)
		if t.CodeKnown() != nil {
			noted = "" // it is not known to have ended there
		}
		if newest := notes[t.Code.String()][t.Turn]; newest != noted {
			l.t.Errorf("turn %d: the note says\n%s\nthe ledger\n%s", t.Turn, newest, line)
		}
		if stored[i] != string(line)+"\n" {
			l.t.Errorf("turn %d: the ledger says\n%s\nwant\n%s", t.Turn, stored[i], line)
		}
		if !followed[t.Turn] {
			l.conversation(t)
		}
	}
	if lost := l.Git(slices.Concat([]string{"rev-list"}, commits, []string{"--not", id.Ref()})...); lost != "" {
		l.t.Errorf("not reachable from the ledger: %s", lost)
	}
	for line := range strings.Lines(l.Git(slices.Concat([]string{"rev-list", "--no-walk", "--parents"}, commits)...)) {
		if parents := strings.Fields(line); len(parents) > 2 && l.Git("log", "-1", "--format=%(trailers:key=Agent-Mission)", parents[0]) != "" {
			l.t.Errorf("the code commit %s has the parents %v", parents[0], parents[1:])
		}
	}
	chain := l.chain(id)
	for i := range chain {
		chain[i] += ":mission.json"
	}
	l.objects(chain) // which are there
}

// objects are the contents of objects that must be there.
func (l *lab) objects(names []string) []string {
	l.t.Helper()
	out, err := l.Feed(strings.Join(names, "\n")+"\n", "cat-file", "--batch=%(objectsize)")
	if err != nil {
		l.t.Fatal(err)
	}
	var all []string
	out += "\n"
	for _, name := range names {
		head, rest, _ := strings.Cut(out, "\n")
		size, err := strconv.Atoi(head)
		if err != nil {
			l.t.Fatalf("%s: %s", name, head)
		}
		all = append(all, rest[:size])
		out = rest[size+1:]
	}
	return all
}

// chain is the first-parent chain of a ledger, the newest commit first.
func (l *lab) chain(id record.ID) []string {
	l.t.Helper()
	return strings.Fields(l.Git("rev-list", "--first-parent", id.Ref()))
}

// notes are the lines of a mission's notes: the newest one of each turn, by code commit.
func (l *lab) notes(id record.ID) map[string]map[int]string {
	l.t.Helper()
	var blobs, commits []string
	for entry := range strings.Lines(l.Git("notes", "--ref=agent/"+string(id), "list")) {
		blob, commit, _ := strings.Cut(strings.TrimSpace(entry), " ")
		blobs, commits = append(blobs, blob), append(commits, commit)
	}
	all := make(map[string]map[int]string)
	for i, note := range l.objects(blobs) {
		all[commits[i]] = make(map[int]string)
		times := make(map[int]time.Time)
		for line := range strings.Lines(note) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" {
				continue
			}
			t, err := turns.Parse([]byte(line), git.NewHash(gittest.Hash("1")).Format())
			if err != nil {
				l.t.Errorf("note on %s: %v", commits[i], err)
				continue
			}
			if !t.At.Before(times[t.Turn]) {
				all[commits[i]][t.Turn], times[t.Turn] = line, t.At
			}
		}
	}
	return all
}

// forkConversation returns the conversation up to a turn as it was written.
func forkConversation(repo *git.Repo, t *turns.Turn) ([]byte, error) {
	segments, err := turns.Conversation(context.Background(), repo, t)
	return slices.Concat(segments...), err
}

// conversation checks that the segments up to a turn are, byte for byte, a prefix of the client's
// file.
func (l *lab) conversation(t *turns.Turn) {
	l.t.Helper()
	path := l.seen.files[t.Session]
	if t.Transcript == nil || t.Transcript.Missing != "" || path == "" {
		return
	}
	stored, err := forkConversation(l.repo(), t)
	if err != nil {
		l.t.Errorf("turn %d: %v", t.Turn, err)
		return
	}
	file, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		l.t.Fatal(err)
	}
	if !bytes.HasPrefix(file, stored) {
		at := 0
		for at < min(len(file), len(stored)) && file[at] == stored[at] {
			at++
		}
		l.t.Errorf("turn %d: the conversation (%d bytes) leaves the client's file (%d bytes) at byte %d:\n%.200s", t.Turn, len(stored), len(file), at, stored[at:])
	}
	if len(stored) > 0 && stored[len(stored)-1] != '\n' {
		l.t.Errorf("turn %d: the segment ends within a line", t.Turn)
	}
}

// holds checks that the conversation up to a turn has the text.
func (l *lab) holds(t *turns.Turn, text string) {
	l.t.Helper()
	stored, err := forkConversation(l.repo(), t)
	if err != nil {
		l.t.Errorf("turn %d: %v", t.Turn, err)
	} else if !strings.Contains(string(stored), text) {
		l.t.Errorf("turn %d: the conversation lacks %q", t.Turn, text)
	}
}

// fsck fails the test unless git finds the repository sound.
func (l *lab) fsck() {
	l.t.Helper()
	if out, err := l.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		l.t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

// quiet fails the test if the recording had anything to warn of.
func (l *lab) quiet() {
	l.t.Helper()
	if len(l.seen.warnings) > 0 {
		l.t.Errorf("warnings: %q", l.seen.warnings)
	}
}

// transcriptOf is a turn's segment.
func transcriptOf(ctx context.Context, repo *git.Repo, t *turns.Turn) ([]byte, error) {
	var b bytes.Buffer
	err := turns.WriteTranscript(ctx, repo, t, &b)
	return b.Bytes(), err
}
