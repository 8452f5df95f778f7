package recorder_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/hooks"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// A soloist is an agent that is alone in its worktree.
type soloist struct {
	*testing.T
	*gittest.Repo
	w     *workspace.Workspace
	steps bool // its client tells of calls
	at    time.Time
}

const solo = "5ee7f6a0-0000-4000-8000-0000a1b2c3d4"

func (s *soloist) signal(event recorder.SignalKind, turn int) {
	s.Helper()
	s.at = s.at.Add(time.Second)
	_, err := recorder.Record(s.Context(), s.w, recorder.Signal{
		Event: event, At: s.at, Agent: "claude-code", Session: solo, PromptID: fmt.Sprint("p", turn), Prompt: "do it", Reply: fmt.Sprint("done ", turn),
	})
	gittest.Must(s, err)
}

// call lets the agent change something, as a tool's call.
func (s *soloist) call(tool, path string, do func(file string)) {
	s.Helper()
	file := filepath.Join(s.Dir, path)
	do(file)
	if !s.steps {
		return
	}
	c := hooks.Call{Tool: tool, Command: "make"}
	if tool == "Edit" {
		c = hooks.Call{Tool: tool, Effect: hooks.Edits, Paths: []string{file}}
	}
	gittest.Must(s, recorder.Step(s.Context(), s.w.Repo, func() *workspace.Workspace { return s.w }, recorder.Batch{
		Session: solo, Cwd: s.Dir, Calls: []hooks.Call{c}, Began: func() time.Time { return time.Now().Add(-time.Second) },
	}))
}

// play plays turns that nobody else has a part in, and that lose nothing they made.
func (s *soloist) play(seed uint64, turns int) {
	random := rand.New(rand.NewPCG(seed, 7))
	for n := range turns {
		s.signal(recorder.Prompted, n)
		for i := range random.IntN(4) {
			tool := []string{"Edit", "Bash"}[random.IntN(2)]
			name := fmt.Sprintf("d%d/f%d-%d", random.IntN(3), n%7, i)
			switch random.IntN(6) {
			case 0:
				s.call(tool, name, func(file string) { _ = os.Remove(file) })
			case 1:
				s.call("Bash", name, func(file string) {
					s.Git("add", "-A")
					s.Git("commit", "-q", "--allow-empty", "--date=2026-11-20T12:00:00Z", "-m", "by the agent")
				})
			default:
				text := fmt.Sprintf("line of turn %d, %d\n}\n", n, random.IntN(100))
				s.call(tool, name, func(file string) {
					gittest.Must(s, os.MkdirAll(filepath.Dir(file), 0o777))
					f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
					gittest.Must(s, err)
					_, err = f.WriteString(text)
					gittest.Must(s, err)
					gittest.Must(s, f.Close())
				})
			}
		}
		s.signal(recorder.Stopped, n)
	}
}

// TestSolo: a turn that is alone leaves the same records, states and notes, byte for byte, whether its client
// tells of calls or not.
func TestSolo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Size(20, 2)) {
		var left [2]string
		var trees [2]string
		for i := range left {
			r := gittest.New(t)
			r.Commit("first")
			repo, err := git.Find(r.Dir)
			gittest.Must(t, err)
			s := &soloist{t, r, workspace.New(repo, config.Default()), i == 1, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
			s.play(seed, gittest.Size(50, 15))
			id, err := record.OfSession(solo, 8)
			gittest.Must(t, err)
			left[i] = r.Git("for-each-ref", "--format=%(refname) %(objectname)", id.NotesRef()) + "\n" + r.Git("log", "--first-parent", "--format=%T %s %ct", id.Ref())
			trees[i] = r.Git("rev-list", "--parents", id.Ref(), "--grep=Agent-Turn", "--format=%H %P %T", "--no-commit-header")
		}
		if left[0] != left[1] || trees[0] != trees[1] {
			t.Fatalf("seed %d: without steps\n%s\n%s\nwith them\n%s\n%s", seed, left[0], trees[0], left[1], trees[1])
		}
	}
}
