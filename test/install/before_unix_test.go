//go:build unix

package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gitagent/test/gittest"
)

// before are programs of earlier that must work beside ours in one repository.
var before = []struct {
	name, commit string
	// unsigned is set if they don't sign: what they record is a stranger's for ours. It is set aside, as
	// CHANGELOG.md says, and so one mission becomes several.
	unsigned bool
}{
	{"before one hash type", "cb9e38ce11c8a1f6d66000f41a22cb169fce17f4", false},
	{"before the archive", "383b75228f30c7ccb1f72816f05a300893068663", false},
	{"0.1", "e214c6792a59b1c62472d02c9c47813fa5d8381b", true},
}

// A release's programs are in a directory.
type side struct {
	name string
	path string // PATH that finds them
}

// built builds the programs of a directory's source.
func built(t *testing.T, source string) side {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs", "-o", bin+string(filepath.Separator), "./cmd/...")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the programs in %s: %v\n%s", source, err, out)
	}
	return side{"", bin + string(os.PathListSeparator) + os.Getenv("PATH")}
}

// earlier builds the programs of a commit. A clone that does not have it skips the test, but not in CI.
func earlier(t *testing.T, commit string) side {
	t.Helper()
	packed := filepath.Join(t.TempDir(), "source.tar")
	if out, err := exec.Command("git", "-C", "../..", "archive", "--output="+packed, commit).CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("CI needs the whole history: %v\n%s", err, out)
		}
		t.Skipf("this clone does not have the release before: %v\n%s", err, out)
	}
	source := t.TempDir()
	if out, err := exec.Command("tar", "xf", packed, "-C", source).CombinedOutput(); err != nil {
		t.Fatalf("unpack: %v\n%s", err, out)
	}
	return built(t, source)
}

// A pair of releases works in one repository, with a remote.
type pair struct {
	*machine
	t        *testing.T
	unsigned bool // the old one does not sign
	old, new side
	prompts  []string // of all turns so far
	mu       sync.Mutex
	alive    *os.File // all processes inherit it, those in the background as well
}

// newPair is a pair on a machine of its own. What it has started has ended when the test has.
func newPair(t *testing.T, old, new side, unsigned bool) *pair {
	t.Helper()
	p := &pair{machine: newMachine(t), t: t, unsigned: unsigned, old: old, new: new}
	p.old.name, p.new.name = "old", "new"
	ended, alive, err := os.Pipe()
	gittest.Must(t, err)
	p.alive = alive
	t.Cleanup(func() {
		alive.Close()
		if _, err := io.Copy(io.Discard, ended); err != nil {
			t.Error(err)
		}
		ended.Close()
	})
	return p
}

// git runs git with the programs of a release, and returns what it prints.
func (p *pair) git(s side, dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = filepath.Join(p.home, dir)
	cmd.Env = append(slices.Clone(p.env), "PATH="+s.path)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.ExtraFiles = []*os.File{p.alive}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s, in %s: git %q: %w\n%s", s.name, dir, args, err, said.Bytes())
	}
	return string(out), nil
}

func (p *pair) do(s side, dir string, args ...string) string {
	p.t.Helper()
	out, err := p.git(s, dir, "", args...)
	gittest.Must(p.t, err)
	return out
}

// push sends all missions to the remote. Nothing is sent in the background: after a failure, that rests for a minute.
func (p *pair) push(s side, dir string) {
	p.t.Helper()
	p.do(s, dir, "-c", "agent."+filepath.Join(p.home, "host")+".push=all", "agent-turn", "push", "origin")
}

// record records a turn by hand. It may run beside others.
func (p *pair) record(s side, dir string) error {
	p.mu.Lock()
	prompt := fmt.Sprintf("turn %d, %s", len(p.prompts)+1, s.name)
	p.prompts = append(p.prompts, prompt)
	p.mu.Unlock()
	if err := os.WriteFile(filepath.Join(p.home, dir, strings.ReplaceAll(prompt, " ", "-")), []byte(prompt), 0o666); err != nil {
		return err
	}
	_, err := p.git(s, dir, "", "agent-turn", "record", "--prompt", prompt)
	return err
}

// turn is a turn of a client whose hooks run at its beginning and at its end.
func (p *pair) turn(begin, end side, dir, session string) {
	p.t.Helper()
	prompt := fmt.Sprintf("turn %d, begun by %s, ended by %s", len(p.prompts)+1, begin.name, end.name)
	p.prompts = append(p.prompts, prompt)
	for _, event := range []struct {
		side    side
		payload map[string]string
	}{
		{begin, map[string]string{"hook_event_name": "UserPromptSubmit", "prompt": prompt}},
		{end, map[string]string{"hook_event_name": "Stop", "last_assistant_message": "done"}},
	} {
		event.payload["session_id"], event.payload["cwd"] = session, filepath.Join(p.home, dir)
		payload, err := json.Marshal(event.payload)
		if err == nil {
			err = os.WriteFile(filepath.Join(p.home, dir, "of the session"), []byte(prompt+event.payload["hook_event_name"]), 0o666)
		}
		gittest.Must(p.t, err)
		out, err := p.git(event.side, dir, string(payload), "agent-turn", "hook")
		if p.unsigned && (strings.Contains(out, "contained turns that are not signed by a key you trust") || strings.Contains(out, "somebody unknown had added to mission ")) {
			out = ""
		}
		if err != nil || out != "" {
			p.t.Fatalf("hook: %v\n%s", err, out)
		}
	}
}

// check has programs list the turns of all missions: those that there are, and no others.
func (p *pair) check(dir string, sides ...side) {
	p.t.Helper()
	for _, s := range sides {
		seen := p.listed(s, dir)
		lost := slices.DeleteFunc(slices.Clone(p.prompts), func(prompt string) bool { return seen[prompt] })
		if len(lost) > 0 || len(seen) != len(p.prompts) {
			p.t.Errorf("%s, in %s: %d turns are listed of %d; not %q:\n%s", s.name, dir, len(seen), len(p.prompts), lost, p.do(s, dir, "agent-turn", "missions"))
		}
	}
}

// listed are the prompts of all turns that a program lists.
func (p *pair) listed(s side, dir string) map[string]bool {
	p.t.Helper()
	seen := map[string]bool{}
	for _, mission := range lines[struct{ ID string }](p, s, dir, "agent-turn", "missions", "--json") {
		for _, turn := range lines[struct{ Prompt string }](p, s, dir, "agent-turn", "list", "--json", "--mission", mission.ID) {
			seen[turn.Prompt] = true
		}
	}
	return seen
}

// lines is what a command prints: an object of JSON a line.
func lines[T any](p *pair, s side, dir string, args ...string) []T {
	p.t.Helper()
	var all []T
	for line := range strings.Lines(p.do(s, dir, args...)) {
		var object T
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			p.t.Fatalf("%s prints for %q: %q: %v", s.name, args, line, err)
		}
		all = append(all, object)
	}
	return all
}

// TestBefore has programs of earlier and ours work in one repository: by turns, in the middle of a turn, and at
// the same time; with forks, handoffs, and a clone. Nothing is lost, and nothing is refused.
func TestBefore(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for i, tt := range before {
		t.Run(tt.name, func(t *testing.T) {
			if i > 0 {
				gittest.Nightly(t)
			}
			t.Parallel()
			p := newPair(t, earlier(t, tt.commit), built(t, "../.."), tt.unsigned)
			both := []side{p.old, p.new}
			for _, args := range [][]string{
				{"config", "--global", "user.name", "Dev"},
				{"config", "--global", "user.email", "dev@example.invalid"},
				{"config", "--global", "init.defaultBranch", "main"},
				{"init", "-q", "repo"},
				{"init", "-q", "--bare", "host"},
				{"-C", "repo", "commit", "-q", "--allow-empty", "-m", "first"},
				{"-C", "repo", "remote", "add", "origin", filepath.Join(p.home, "host")},
				{"-C", "repo", "push", "-q", "origin", "main"},
				{"clone", "-q", "host", "clone"},
			} {
				p.do(p.new, "", args...)
			}
			p.do(p.old, "repo", "agent-turn", "init")
			p.records(p.old, p.old) // the repository is an old one
			p.do(p.new, "repo", "agent-turn", "init")
			p.do(p.new, "clone", "agent-turn", "init")

			// By turns.
			p.records(p.new, p.old, p.new, p.new, p.old, p.old, p.new)
			p.check("repo", both...)
			p.turn(p.old, p.old, "repo", "5e550000-0000-4000-8000-000000000001")
			p.turn(p.new, p.old, "repo", "5e550000-0000-4000-8000-000000000001")
			p.turn(p.old, p.new, "repo", "5e550000-0000-4000-8000-000000000001")
			p.turn(p.new, p.new, "repo", "5e550000-0000-4000-8000-000000000001")
			p.check("repo", both...)
			if !tt.unsigned {
				if out := p.do(p.new, "repo", "agent-turn", "missions"); strings.Count(out, "\n") != 2 {
					t.Errorf("a mission by hand and one of a session are now\n%s", out)
				}
			}

			if tt.unsigned {
				p.concurrently("repo")
				p.check("repo", both...)
				return // the rest is refused: a stranger's turns are neither forked nor told
			}

			// Forks of each other's turns, in worktrees of their own, and what goes on there.
			for i, s := range both {
				other := both[1-i]
				p.records(other)
				fork := "fork-" + s.name
				p.do(s, "repo", "agent-fork", "--no-conversation", "--worktree", filepath.Join(p.home, fork), p.latest(other, "repo"))
				for _, s := range []side{other, s} {
					gittest.Must(t, p.record(s, fork))
				}
			}
			p.check("repo", both...)

			// Handoffs.
			for _, s := range both {
				p.do(s, "repo", "agent-handoff", "write", "--summary", "handed off by "+s.name)
			}
			for _, s := range both {
				for _, by := range both {
					if out := p.do(s, "repo", "agent-handoff", "list", "--json", "--all"); !strings.Contains(out, "handed off by "+by.name) {
						t.Errorf("%s lists no handoff of %s:\n%s", s.name, by.name, out)
					}
				}
			}

			// At the same time.
			p.concurrently("repo", "fork-old")
			p.check("repo", both...)

			// To the remote and from there, with both at both ends.
			for i, s := range both {
				other := both[1-i]
				p.push(s, "repo")
				p.do(other, "clone", "agent-turn", "fetch", "origin")
				p.check("clone", both...)
				gittest.Must(t, p.record(other, "clone"))
				p.push(other, "clone")
				p.do(s, "repo", "agent-turn", "fetch", "origin")
				p.check("repo", both...)
			}

			// The archive is one-sided: an old program does not see what is in it, and does it no harm. What it
			// records to a mission that is there begins that anew, and both are kept.
			p.do(p.new, "repo", "agent-turn", "archive", "--older-than", "0h")
			archived := lines[struct{ ID string }](p, p.new, "repo", "agent-turn", "missions", "--archived", "--json")
			p.records(p.old, p.new)
			p.push(p.new, "repo")
			p.push(p.old, "repo")
			p.do(p.old, "clone", "agent-turn", "fetch", "origin")
			p.do(p.new, "clone", "agent-turn", "fetch", "origin")
			for _, mission := range archived {
				p.do(p.new, "repo", "agent-turn", "archive", "--out", mission.ID)
			}
			p.check("repo", both...)

			// A purge is one-sided, too. An old program goes on with what it left.
			purged, gone := p.latest(p.new, "repo"), p.prompts[len(p.prompts)-1]
			p.do(p.new, "repo", "agent-turn", "purge", "--turn", purged, "--yes")
			p.records(p.old, p.new, p.old)
			for _, s := range both {
				seen := p.listed(s, "repo")
				for _, prompt := range p.prompts[len(p.prompts)-3:] {
					if !seen[prompt] {
						t.Errorf("%s: after a purge, %q is not listed", s.name, prompt)
					}
				}
				if seen[gone] {
					t.Errorf("%s: %q is purged, and listed", s.name, gone)
				}
			}
			for _, dir := range []string{"repo", "clone"} {
				p.do(p.new, dir, "fsck", "--strict", "--no-dangling")
			}
		})
	}
}

// concurrently has both record turns at the same time, in each directory.
func (p *pair) concurrently(dirs ...string) {
	p.t.Helper()
	var wait sync.WaitGroup
	errs := make(chan error, 100)
	for _, dir := range dirs {
		for _, s := range []side{p.old, p.new} {
			wait.Go(func() {
				for range gittest.Size(8, 4) {
					errs <- p.record(s, dir)
				}
			})
		}
	}
	wait.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			p.t.Error(err)
		}
	}
}

// records records turns in the repository, one after the other.
func (p *pair) records(sides ...side) {
	p.t.Helper()
	for _, s := range sides {
		gittest.Must(p.t, p.record(s, "repo"))
	}
}

// latest names the newest turn of the mission that is recorded to in dir.
func (p *pair) latest(s side, dir string) string {
	p.t.Helper()
	newest := lines[struct {
		Mission string
		Turn    int
	}](p, s, dir, "agent-turn", "list", "--json")[0]
	return fmt.Sprintf("%s/%d", newest.Mission, newest.Turn)
}
