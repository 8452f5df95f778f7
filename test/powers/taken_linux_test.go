package powers

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

var hinted = regexp.MustCompile(`(?s:hint: .*?:\s+)((?:env|git) .*)`)

// TestTaken: a person who is taken for an agent, or has no terminal, is told by what, and a command that works for them,
// wherever they stand.
func TestTaken(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	first := newWorld(t)
	gittest.Must(t, os.MkdirAll(filepath.Join(first.home, "repo", "sub dir"), 0o700))
	first.write("claude", "#!/bin/sh\n\"$@\"\n")
	for name, tt := range map[string]struct {
		env     []string
		off     bool // there is no terminal
		runs    string
		says    string
		stays   []string // of the environment, when the person follows the hint
		in      string
		args    string
		nothing bool // it is no mark
	}{
		"a variable":            {env: []string{"CLAUDECODE=1"}, stays: []string{"CLAUDECODE=1"}, says: "taken for one by CLAUDECODE in", in: "repo", args: "agent-turn trust add desk ../key.pub"},
		"two":                   {env: []string{"AI_AGENT=a b", "CURSOR_AGENT=1"}, stays: []string{"AI_AGENT=a b", "CURSOR_AGENT=1"}, says: "taken for one by AI_AGENT, CURSOR_AGENT in", in: "repo/sub dir", args: "-C .. agent-turn -C sub~dir trust add desk ../../key.pub"},
		"a process":             {runs: "./claude", says: "(claude), which has started it", in: "", args: "-C linked agent-turn trust add desk ../key.pub"},
		"no terminal":           {env: []string{"CLAUDECODE=1"}, off: true, in: "repo/sub dir", args: "agent-turn trust add desk ../../key.pub"},
		"no terminal, a script": {off: true, in: "linked", args: "agent-turn trust add desk ../key.pub"},
		"a repository by name":  {env: []string{"CLAUDECODE=1"}, in: "", args: "--git-dir=repo/.git --work-tree=repo agent-turn trust add desk key.pub", off: true},
		"no mark":               {env: []string{"AI_AGENT=0", "CLAUDECODE=false", "CURSOR_AGENT="}, nothing: true, in: "repo", args: "agent-turn trust add desk ../key.pub"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := first.copied(t)
			w.must("repo", "git", "worktree", "add", "-q", "--detach", "../linked")
			gittest.Must(t, os.Chmod(filepath.Join(w.home, "claude"), 0o700))
			command := func(env []string, in string, args ...string) *exec.Cmd {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Env = in, append(append(gittest.Env(w.home), "TERM=xterm"), env...)
				return cmd
			}
			keys := func() string {
				data, _ := os.ReadFile(filepath.Join(w.home, ".config/git-agent/allowed_signers"))
				return string(data)
			}
			var args []string
			if tt.runs != "" {
				args = append(args, tt.runs)
			}
			for _, arg := range strings.Fields("git " + tt.args) {
				args = append(args, strings.ReplaceAll(arg, "~", " "))
			}
			var said string
			if tt.off {
				said, _ = w.run(tt.in, tt.env, args...)
			} else {
				said = onTerminal(t, command(tt.env, filepath.Join(w.home, tt.in), args...), "yes\n")
			}
			if tt.nothing {
				if !strings.Contains(keys(), "desk") {
					t.Errorf("a person is refused: %s", said)
				}
				return
			}
			plain := strings.Join(strings.Fields(said), " ")
			if !refused(plain) || !strings.Contains(plain, tt.says) || keys() != "" && strings.Contains(keys(), "desk") {
				t.Fatalf("want a refusal that says %q: %s", tt.says, said)
			}
			hint := hinted.FindStringSubmatch(strings.ReplaceAll(said, "\r", ""))
			if hint == nil {
				t.Fatalf("there is no hint: %s", said)
			}
			said = onTerminal(t, command(tt.stays, "/", "sh", "-c", hint[1]), "yes\n")
			if !strings.Contains(keys(), "desk") {
				t.Errorf("%s does not work: %s", hint[1], said)
			}
		})
	}
}
