package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// A Lab is a repository, the clients that work in it, and what is recorded of them.
type Lab struct {
	*gittest.Repo
	T       testing.TB
	Capture config.Capture
	Flush   time.Duration
	Limits  limit.Limits // of what records; else none
	Config  string       // where clients keep their files
	Keyless bool         // what is recorded is not signed, and what others signed is a stranger's
	Seen    *seen
}

// A seen is what the hooks were told and what they said; several may run at once.
type seen struct {
	mu       sync.Mutex
	files    map[string]string // of sessions
	Warnings []string
}

// New makes a repository with a few files and one commit.
func New(t testing.TB) *Lab {
	t.Helper()
	return In(t, gittest.Like(t, "lab", func(r *gittest.Repo) {
		r.Write("kept.txt", "kept\n")
		r.Write("dir/edited.txt", "one\ntwo\nthree\n")
		r.Write(".gitignore", "*.ignored\n")
		r.Commit("first")
	}))
}

// Empty makes a repository without commits.
func Empty(t testing.TB) *Lab {
	t.Helper()
	return In(t, gittest.New(t))
}

// In makes a lab of a repository.
func In(t testing.TB, repo *gittest.Repo) *Lab {
	t.Helper()
	return &Lab{
		Repo: repo, T: t, Capture: config.Default().Capture,
		Flush: 2 * time.Second, Config: gittest.TempDir(t), Seen: &seen{files: make(map[string]string)},
	}
}

// At is the same lab seen from another worktree.
func (l *Lab) At(dir string) *Lab {
	other := *l
	other.Repo = l.In(dir)
	return &other
}

// Client starts an agent's client whose hooks are ours.
func (l *Lab) Client() *replay.Client {
	return replay.New(l.Config, l.Dir, func(e replay.Event) { l.Record(e) })
}

// Signal is what an event of the client says, in the words of the package, as the hook makes it.
func (l *Lab) Signal(e replay.Event) recorder.Signal {
	return recorder.Signal{
		Event: map[string]recorder.SignalKind{
			"UserPromptSubmit": recorder.Prompted, "Stop": recorder.Stopped, "StopFailure": recorder.Erred, "SessionEnd": recorder.Ended,
		}[e.Name],
		At: e.At, Agent: "claude-code", Session: e.Session, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.Reply,
		Again: e.Again, Transcript: e.Transcript, Client: session.Client{PID: e.PID}, FlushWait: l.Flush,
	}
}

// Workspace is the one of a hook that runs in dir.
func (l *Lab) Workspace(dir string) *workspace.Workspace {
	l.T.Helper()
	repo, err := git.Find(dir)
	gittest.Must(l.T, err)
	settings := config.Default()
	settings.Capture = l.Capture
	if l.Keyless {
		settings.Trust.Key = filepath.Join(l.Config, "there is none")
	}
	return workspace.New(repo, settings)
}

// Record takes an event as the hook does. The test fails if that does.
func (l *Lab) Record(e replay.Event) *recorder.Result {
	l.T.Helper()
	result, err := l.TryRecord(e)
	if err != nil {
		l.T.Fatalf("%s: %v", e.Name, err)
	}
	return result
}

func (l *Lab) TryRecord(e replay.Event) (*recorder.Result, error) {
	l.T.Helper()
	ctx, w, s := limit.With(context.Background(), l.Limits), l.Workspace(e.Cwd), l.Signal(e)
	if s.Event == recorder.Prompted {
		missionstore.ClearDead(ctx, w)
	}
	result, err := recorder.Record(ctx, w, s)
	l.Seen.mu.Lock()
	defer l.Seen.mu.Unlock()
	l.Seen.files[e.Session] = e.Transcript
	if err == nil {
		l.Seen.Warnings = append(l.Seen.Warnings, result.Warnings...)
	}
	return result, err
}

// Own is the passive mission of a client's session.
func Own(c *replay.Client) record.ID { return record.ID(c.Session[len(c.Session)-8:]) }

// Tree is the worktree as a tree, taken the plainest way that there is.
func (l *Lab) Tree() string {
	l.T.Helper()
	tmp, users := filepath.Join(l.T.TempDir(), "index"), filepath.Join(l.GitRepo().GitDir, "index")
	if data, err := os.ReadFile(users); err == nil {
		info, err := os.Stat(users)
		if err == nil {
			err = os.WriteFile(tmp, data, 0o666)
		}
		if err == nil {
			err = os.Chtimes(tmp, info.ModTime(), info.ModTime()) // or git would trust a file that was changed in the same moment
		}
		gittest.Must(l.T, err)
	}
	w := l.In(l.Dir)
	w.Env = append(slices.Clip(l.Env), "GIT_INDEX_FILE="+tmp)
	w.Git("-c", "core.hooksPath=/dev/null", "add", "-A", "--sparse")
	return w.Git("-c", "core.hooksPath=/dev/null", "write-tree")
}

// TreeOf is the tree of a commit.
func (l *Lab) TreeOf(rev string) string { l.T.Helper(); return l.Git("rev-parse", rev+"^{tree}") }

// Trees are the trees of the turns' code commits, and of their bases.
func (l *Lab) Trees(list []*turns.Turn) (code, base []string) {
	l.T.Helper()
	if len(list) == 0 {
		return nil, nil
	}
	args := []string{"rev-parse"}
	for _, t := range list {
		args = append(args, t.Code.String()+"^{tree}", t.Before().Commit.String()+"^{tree}")
	}
	out := strings.Fields(l.Git(args...))
	for i, t := range list {
		if t.Base.IsZero() {
			out[2*i+1] = Unknown
		}
		code, base = append(code, out[2*i]), append(base, out[2*i+1])
	}
	return code, base
}

// Unknown is the Base of a turn of which nothing told that it began.
const Unknown = "unknown"

// A Want is what the record of a turn must say. Empty texts are not compared.
type Want struct {
	Prompt  string
	Reply   string
	Outcome record.Outcome // "" for done
	Tree    string         // of the worktree when it ended
	Base    string         // of the worktree when it began
}

// Turn is a whole turn: the prompt, what the agent does, and its answer.
func (l *Lab) Turn(c *replay.Client, prompt string, work func()) Want {
	l.T.Helper()
	w := Want{Prompt: prompt, Reply: "answer to " + prompt, Base: l.Tree()}
	c.Prompt(prompt)
	if work != nil {
		c.Tool("Edit")
		work()
	}
	c.Stop(w.Reply)
	w.Tree = l.Tree()
	return w
}

// Writes returns the work of writing a file.
func (l *Lab) Writes(name, content string) func() { return func() { l.Write(name, content) } }

func (l *Lab) GitRepo() *git.Repo { return l.Workspace(l.Dir).Repo }

// DropLog removes the log of HEAD.
func (l *Lab) DropLog() {
	l.T.Helper()
	if l.InTables() {
		l.Git("reflog", "drop", "HEAD")
		return
	}
	gittest.Must(l.T, os.Remove(filepath.Join(l.Dir, ".git", "logs", "HEAD")))
}

// Operation is what git has under way.
func (l *Lab) Operation() string {
	l.T.Helper()
	op, err := l.GitRepo().Operation(l.T.Context())
	gittest.Must(l.T, err)
	return op
}

// List is what was recorded in a mission.
func (l *Lab) List(id record.ID) []*turns.Turn {
	l.T.Helper()
	list, err := turns.List(context.Background(), l.GitRepo(), id)
	gittest.Must(l.T, err)
	return list
}

// Check compares what was recorded in a mission with what is wanted: exactly one record for every
// turn, in order, and everything that has to hold in any mission.
func (l *Lab) Check(id record.ID, wants ...Want) []*turns.Turn {
	l.T.Helper()
	list := l.List(id)
	if len(list) != len(wants) {
		l.T.Fatalf("mission %s has %d turns, want %d:\n%s", id, len(list), len(wants), Describe(list))
	}
	code, base := l.Trees(list)
	for i, w := range wants {
		t := list[i]
		if t.Turn != i+1 || t.Mission != id {
			l.T.Errorf("turn %s in the place of %d", t.ID(), i+1)
		}
		if w.Outcome == "" {
			w.Outcome = record.Done
		}
		if t.Outcome != w.Outcome {
			l.T.Errorf("turn %d: outcome = %s, want %s", t.Turn, t.Outcome, w.Outcome)
		}
		if w.Prompt != "" && t.Prompt != w.Prompt {
			l.T.Errorf("turn %d: prompt = %q, want %q", t.Turn, t.Prompt, w.Prompt)
		}
		if w.Reply != "" && t.Reply != w.Reply {
			l.T.Errorf("turn %d: reply = %q, want %q", t.Turn, t.Reply, w.Reply)
		}
		if got := code[i]; w.Tree != "" && got != w.Tree {
			l.T.Errorf("turn %d: tree differs:\n%s", t.Turn, l.Git("diff", "--stat", w.Tree, got))
		}
		if got := base[i]; w.Base != "" && got != w.Base {
			l.T.Errorf("turn %d: base differs:\n%s", t.Turn, l.Git("diff", "--stat", w.Base, got))
		}
	}
	l.Verify(id)
	if l.T.Failed() {
		l.T.Log(Describe(list))
	}
	return list
}

// Describe shows turns in a failure.
func Describe(list []*turns.Turn) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "%d %s %q %q code %.8s base %.8s head %.8s session %.8s segment %+v\n",
			t.Turn, t.Outcome, t.Prompt, t.Reply, t.Code, t.Base, t.Head, t.Session, t.Transcript)
	}
	return b.String()
}

// Verify checks with plain git what has to hold in any mission at any time.
func (l *Lab) Verify(id record.ID) {
	l.T.Helper()
	list := l.List(id)
	var records, commits []string
	followed := make(map[int]bool)
	for i, t := range list {
		if t.Turn != i+1 {
			l.T.Errorf("the turn after %d is %d", i, t.Turn)
		}
		records = append(records, id.Ref()+":"+ledger.TurnPath("turns", t.Turn, ".json"))
		commits = append(commits, t.Code.String(), t.Before().Commit.String())
		if t.Transcript != nil {
			followed[t.Transcript.After] = true
		}
	}
	notes, stored := l.Notes(id), l.objects(records)
	for i, t := range list {
		line, err := t.Encode()
		gittest.Must(l.T, err)
		noted := string(line)
		if t.CodeKnown() != nil {
			noted = "" // it is not known to have ended there
		}
		if newest := notes[t.Code.String()][t.Turn]; newest != noted {
			l.T.Errorf("turn %d: the note says\n%s\nthe ledger\n%s", t.Turn, newest, line)
		}
		if stored[i] != string(line)+"\n" {
			l.T.Errorf("turn %d: the ledger says\n%s\nwant\n%s", t.Turn, stored[i], line)
		}
		if !followed[t.Turn] {
			l.Conversation(t)
		}
	}
	if lost := l.Git(slices.Concat([]string{"rev-list"}, commits, []string{"--not", id.Ref()})...); lost != "" {
		l.T.Errorf("not reachable from the ledger: %s", lost)
	}
	for line := range strings.Lines(l.Git(slices.Concat([]string{"rev-list", "--no-walk", "--parents"}, commits)...)) {
		if parents := strings.Fields(line); len(parents) > 2 && l.Git("log", "-1", "--format=%(trailers:key=Agent-Mission)", parents[0]) != "" {
			l.T.Errorf("the code commit %s has the parents %v", parents[0], parents[1:])
		}
	}
	chain := l.Chain(id)
	for i := range chain {
		chain[i] += ":mission.json"
	}
	l.objects(chain) // which are there
}

// objects are the contents of objects that must be there.
func (l *Lab) objects(names []string) []string {
	l.T.Helper()
	out, err := l.Feed(strings.Join(names, "\n")+"\n", "cat-file", "--batch=%(objectsize)")
	gittest.Must(l.T, err)
	var all []string
	out += "\n"
	for _, name := range names {
		head, rest, _ := strings.Cut(out, "\n")
		size, err := strconv.Atoi(head)
		if err != nil {
			l.T.Fatalf("%s: %s", name, head)
		}
		all = append(all, rest[:size])
		out = rest[size+1:]
	}
	return all
}

// Chain is the first-parent chain of a ledger, the newest commit first.
func (l *Lab) Chain(id record.ID) []string {
	l.T.Helper()
	return strings.Fields(l.Git("rev-list", "--first-parent", id.Ref()))
}

// Notes are the lines of a mission's notes: the newest one of each turn, by code commit.
func (l *Lab) Notes(id record.ID) map[string]map[int]string {
	l.T.Helper()
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
			t, err := turns.Parse([]byte(line), object.NewHash(gittest.Hash("1")).Format())
			if err != nil {
				l.T.Errorf("note on %s: %v", commits[i], err)
				continue
			}
			if !t.At.Before(times[t.Turn]) {
				all[commits[i]][t.Turn], times[t.Turn] = line, t.At
			}
		}
	}
	return all
}

// ForkConversation returns the conversation up to a turn as it was written.
func ForkConversation(repo *git.Repo, t *turns.Turn) ([]byte, error) {
	var b bytes.Buffer
	err := turns.Conversation(context.Background(), repo, t, func(segment io.Reader, _ bool) error {
		_, err := b.ReadFrom(segment)
		return err
	})
	return b.Bytes(), err
}

// Conversation checks that the segments up to a turn are, byte for byte, a prefix of the client's
// file.
func (l *Lab) Conversation(t *turns.Turn) {
	l.T.Helper()
	path := l.Seen.files[t.Session]
	if t.Transcript == nil || t.Transcript.Missing != "" || path == "" {
		return
	}
	stored, err := ForkConversation(l.GitRepo(), t)
	if err != nil {
		l.T.Errorf("turn %d: %v", t.Turn, err)
		return
	}
	file, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return
	}
	gittest.Must(l.T, err)
	if !bytes.HasPrefix(file, stored) {
		at := 0
		for at < min(len(file), len(stored)) && file[at] == stored[at] {
			at++
		}
		l.T.Errorf("turn %d: the conversation (%d bytes) leaves the client's file (%d bytes) at byte %d:\n%.200s", t.Turn, len(stored), len(file), at, stored[at:])
	}
	if len(stored) > 0 && stored[len(stored)-1] != '\n' {
		l.T.Errorf("turn %d: the segment ends within a line", t.Turn)
	}
}

// Holds checks that the conversation up to a turn has the text.
func (l *Lab) Holds(t *turns.Turn, text string) {
	l.T.Helper()
	stored, err := ForkConversation(l.GitRepo(), t)
	if err != nil {
		l.T.Errorf("turn %d: %v", t.Turn, err)
	} else if !strings.Contains(string(stored), text) {
		l.T.Errorf("turn %d: the conversation lacks %q", t.Turn, text)
	}
}

// Fsck fails the test unless git finds the repository sound.
func (l *Lab) Fsck() {
	l.T.Helper()
	if out, err := l.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		l.T.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

// Quiet fails the test if the recording had anything to warn of.
func (l *Lab) Quiet() {
	l.T.Helper()
	if len(l.Seen.Warnings) > 0 {
		l.T.Errorf("warnings: %q", l.Seen.Warnings)
	}
}

// TranscriptOf is a turn's segment.
func TranscriptOf(ctx context.Context, repo *git.Repo, t *turns.Turn) ([]byte, error) {
	var b bytes.Buffer
	err := turns.WriteTranscript(ctx, repo, t, &b)
	return b.Bytes(), err
}
