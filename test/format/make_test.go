package format

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/config"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// A maker plays the people and agents whose work the bundle holds. Clock, ids and identities are
// fixed, so whoever makes it again with the same version gets the same objects.
type maker struct {
	*gittest.Repo
	t       testing.TB
	clock   *time.Time
	records *int // written to clients' files: their ids
}

func newMaker(t testing.TB) *maker {
	clock := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return &maker{gittest.New(t), t, &clock, new(int)}
}

// at is the same maker in another worktree or repository.
func (m *maker) at(dir string) *maker { return &maker{m.In(dir), m.t, m.clock, m.records} }

// now is a minute, and a bit, after the last one.
func (m *maker) now() time.Time {
	*m.clock = m.clock.Add(time.Minute + 125*time.Millisecond)
	return *m.clock
}

func (m *maker) repo() *git.Repo {
	m.t.Helper()
	repo, err := git.Find(m.Dir)
	gittest.Must(m.t, err)
	return repo
}

// workspace has the default settings but for a limit that a small file is above.
func (m *maker) workspace() *workspace.Workspace {
	m.t.Helper()
	settings := config.Default()
	settings.Capture.MaxFileSize = 1000
	return workspace.New(m.repo(), settings)
}

func (m *maker) record(s recorder.Signal) *recorder.Result {
	m.t.Helper()
	s.At, s.FlushWait = m.now(), time.Second
	result, err := recorder.Record(m.t.Context(), m.workspace(), s)
	gittest.Must(m.t, err)
	return result
}

func (m *maker) gather(r handoffstore.Request) {
	m.t.Helper()
	store := &handoffstore.Store{Workspace: m.workspace()}
	r.At = m.now()
	if _, err := store.Gather(m.t.Context(), r); err != nil {
		m.t.Fatal(err)
	}
}

// A talk is a conversation of an agent's client in one worktree.
type talk struct {
	*maker
	session, file string
	prompt        int // the number of the last one
	parent        any // the last record's id
}

func (m *maker) talk(session string) *talk {
	return &talk{maker: m, session: session, file: filepath.Join(gittest.TempDir(m.t), session+".jsonl")}
}

func (c *talk) signal(event recorder.SignalKind) recorder.Signal {
	return recorder.Signal{
		Event: event, Agent: "claude-code", Session: c.session, PromptID: fmt.Sprintf("prompt-%d", c.prompt),
		Transcript: c.file, Client: session.Client{PID: 4000},
	}
}

// write adds a record to the client's file.
func (c *talk) write(kind string, fields map[string]any) {
	c.t.Helper()
	*c.records++
	id := fmt.Sprintf("record-%d", *c.records)
	record := map[string]any{
		"type": kind, "uuid": id, "parentUuid": c.parent, "sessionId": c.session, "isSidechain": false,
		"timestamp": c.clock.Format(time.RFC3339), "cwd": "/home/dev/project",
	}
	for name, value := range fields {
		record[name] = value
	}
	c.parent = id
	line, err := json.Marshal(record)
	gittest.Must(c.t, err)
	f, err := os.OpenFile(c.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	gittest.Must(c.t, err)
	gittest.Must(c.t, f.Close())
}

// ask begins a turn: the hook hears of the prompt before the file has it.
func (c *talk) ask(prompt string) {
	c.t.Helper()
	c.prompt++
	s := c.signal(recorder.Prompted)
	s.Prompt = prompt
	c.record(s)
	c.write("user", map[string]any{
		"promptId": s.PromptID, "turnOrigin": "human", "message": map[string]any{"role": "user", "content": prompt},
	})
}

func (c *talk) answer(text string) {
	c.write("assistant", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("message-%d", *c.records), "role": "assistant", "model": "claude-opus-4-8", "content": []any{
			map[string]any{"type": "tool_use", "id": fmt.Sprintf("call-%d", *c.records), "name": "Edit", "input": map[string]any{}},
			map[string]any{"type": "text", "text": text},
		},
		"usage": map[string]any{"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3, "output_tokens": 7},
	}})
}

// stop ends a turn with an answer. again says that it went on after it had ended before.
func (c *talk) stop(reply string, again bool) {
	c.t.Helper()
	c.answer(reply)
	s := c.signal(recorder.Stopped)
	s.Reply, s.Again = reply, again
	c.record(s)
}

// fail ends a turn with an error of the model's service.
func (c *talk) fail(text string) {
	c.t.Helper()
	c.write("assistant", map[string]any{"isApiErrorMessage": true, "message": map[string]any{
		"role": "assistant", "model": "<synthetic>", "content": []any{map[string]any{"type": "text", "text": text}},
	}})
	s := c.signal(recorder.Erred)
	s.Reply = text
	c.record(s)
}

// esc is the user's interruption of a turn, which no hook tells of.
func (c *talk) esc() {
	c.write("user", map[string]any{
		"promptId": fmt.Sprintf("prompt-%d", c.prompt),
		"message":  map[string]any{"role": "user", "content": "[Request interrupted by user]"},
	})
}

// make plays it all and returns the repository.
func (m *maker) make() *gittest.Repo {
	m.t.Helper()
	m.Write("login.txt", "one\ntwo\nthree\n")
	m.Write("run.sh", "#!/bin/sh\n")
	m.Write("crlf.txt", "line\r\n")
	gittest.Must(m.t, os.Chmod(filepath.Join(m.Dir, "run.sh"), 0o755))
	m.Commit("first")
	first := m.passive()
	m.cleared()
	m.collides()
	attached := m.attached()
	m.fork()
	m.twoClones(first, attached)
	return m.Repo
}

// passive is a session in the user's own checkout, with a turn that ended twice, one that was
// interrupted, one that failed, and two handoffs.
func (m *maker) passive() *talk {
	m.t.Helper()
	c := m.talk("5ee7f6a0-0000-4000-8000-0000a1b2c3d4")
	c.ask("\n  Fix the\tlogin \u202eform: it takes whatever is longer than the sixty runes of a subject\nand say why")
	m.Write("login.txt", "one\n2\nthree\nfour\n")
	m.Write("new/file.txt", "<new> & \"quoted\"\n")
	m.Write(".env", "A=1\n")
	m.Write("big.bin", strings.Repeat("0123456789", 101))
	m.Git("init", "-q", "-b", "main", "nested")
	m.at(filepath.Join(m.Dir, "nested")).Commit("inside")
	gittest.Must(m.t, os.Symlink("../login.txt", filepath.Join(m.Dir, "new", "link")))
	c.stop("The form is fixed.", false)

	c.ask("Now the tests.")
	m.Write("test.txt", "test\n")
	c.stop("There is a test.", false)
	m.Write("test.txt", "test\ntest\n")
	c.stop("There are two tests.", true)

	m.Write("login.txt", "one\n2\nthree\nfour, by hand\n") // the user's own
	c.ask("A long prompt: " + strings.Repeat("ä日", 300))
	m.Write("half.txt", "half\n")
	c.answer("It connects to postgres://app:correct-horse-9@db.example.invalid/app.")
	c.esc()

	c.ask("Go on.")
	c.fail("API Error: 529 Overloaded")

	m.Git("commit", "-qam", "second, by the user")
	c.ask("Go on, and hand off.")
	m.Write("whole.txt", "whole\n")
	document, err := handoffstore.ReadDocument(nil, strings.NewReader("# Where it stands\n\nThe form is fixed.\n"), "HANDOFF.md")
	gittest.Must(m.t, err)
	m.gather(handoffstore.Request{
		Mission: "a1b2c3d4", Session: c.session, Agent: "claude-code", Exit: record.Clean, Running: "Go on, and hand off.",
		Document: document, Summary: "The form is fixed, the tests are not.", Questions: []string{"Which colour?", "Why?"},
		Transcript: c.file, Terminal: []byte("# What the terminal showed, with what had scrolled off.\n$ make\n"), Log: "/home/dev/terminal.log",
	})
	c.stop("A long reply: "+strings.Repeat("日ä", 600), false)
	m.gather(handoffstore.Request{Mission: "a1b2c3d4", Session: c.session, Exit: record.Clean, Ended: true, Transcript: c.file})
	return c
}

// cleared is a session that the same process of the client holds after a /clear. The first part of
// its conversation could not be read.
func (m *maker) cleared() {
	m.t.Helper()
	c := m.talk("5ee7f6a0-0000-4000-8000-0000b2c3d4e5")
	good := c.file
	c.file = filepath.Dir(good)
	s := c.signal(recorder.Stopped)
	s.PromptID, s.Prompt, s.Reply = "prompt-0", "Say hello.", "Hello."
	m.record(s)
	c.file = good
	c.ask("Say it again.")
	c.stop("Hello again.", false)
}

// collides is a session whose id ends as that of another one does.
func (m *maker) collides() {
	m.t.Helper()
	m.record(recorder.Signal{
		Event: recorder.Stopped, Agent: "opencode", Session: "0DD7-1111A1B2C3D4", Prompt: "By hand.", Outcome: record.Done,
	})
}

// attached is a mission with a branch in a worktree of its own, started an hour east of Greenwich.
func (m *maker) attached() *talk {
	m.t.Helper()
	from, err := m.repo().Resolve(m.t.Context(), "HEAD")
	gittest.Must(m.t, err)
	dir := filepath.Join(gittest.TempDir(m.t), "attached")
	_, _, err = missionstore.Begin(m.t.Context(), m.workspace(), missionstore.Beginning{
		ID: "c3d4e5f6", Title: "On a branch", From: from, Worktree: dir, At: m.now().In(time.FixedZone("", 3600)),
	})
	gittest.Must(m.t, err)
	c := m.at(dir).talk("5ee7f6a0-0000-4000-8000-0000c3d4e5f6")
	c.ask("Work on the branch.")
	c.Write("branch.txt", "1\n")
	c.stop("Done on the branch.", false)
	return c
}

// fork goes back to turn 2 of the first mission and goes on from there.
func (m *maker) fork() {
	m.t.Helper()
	source, err := turns.Read(m.t.Context(), m.repo(), "a1b2c3d4", 2)
	gittest.Must(m.t, err)
	dir := filepath.Join(gittest.TempDir(m.t), "fork")
	if _, err := missionstore.Fork(m.t.Context(), m.workspace(), missionstore.ForkPlan{Source: source, ID: "d4e5f607", At: m.now(), Worktree: dir}); err != nil {
		m.t.Fatal(err)
	}
	f := m.at(dir)
	f.Write("test.txt", "another test\n")
	f.record(recorder.Signal{Event: recorder.Stopped, Prompt: "Another way.", Reply: "Another test.", Outcome: record.Done})
}

// twoClones goes on with a mission here and in a clone, and has the clone write a note of its own.
func (m *maker) twoClones(first, attached *talk) {
	m.t.Helper()
	dir := filepath.Join(gittest.TempDir(m.t), "clone")
	m.Git("clone", "-q", m.Dir, dir)
	other := m.at(dir)
	other.fetch("origin", "a1b2c3d4", "c3d4e5f6")
	noted := strings.Fields(other.Git("notes", "--ref=agent/a1b2c3d4", "list"))[1]
	other.Git("notes", "--ref=agent/a1b2c3d4", "append", "-m", `{"v":1,"kind":"comment","text":"of a later version"}`, noted)
	other.Write("login.txt", "in the clone\n")
	other.record(recorder.Signal{Event: recorder.Stopped, Mission: "c3d4e5f6", Session: "in-the-clone-0001", Prompt: "Go on in the clone.", Outcome: record.Done})

	attached.ask("Go on here.")
	attached.Write("branch.txt", "1\n2\n")
	attached.stop("Went on.", false)
	first.ask("One more.")
	first.stop("One more.", false)
	m.Git("remote", "add", "clone", dir)
	for _, change := range m.fetch("clone") {
		if change.Kind == fetcher.Diverged {
			m.record(recorder.Signal{Event: recorder.Stopped, Mission: change.Mission, Prompt: "Go on with the other side.", Outcome: record.Done})
		}
	}
}

func (m *maker) fetch(from string, ids ...record.ID) []fetcher.Change {
	m.t.Helper()
	r, err := remote.Open(m.t.Context(), m.workspace(), from)
	gittest.Must(m.t, err)
	changes, err := fetcher.Fetch(m.t.Context(), r, ids...)
	gittest.Must(m.t, err)
	return changes
}
