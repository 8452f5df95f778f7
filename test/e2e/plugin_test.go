//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	state "gitagent/internal/session"
	"gitagent/test/gittest"
)

// marketplace is the directory that has the plugin: the top of this repository.
func (r *rig) marketplace() string {
	r.t.Helper()
	top, err := filepath.Abs("../..")
	gittest.Must(r.t, err)
	return top
}

// cli runs a command of the client's own that talks to no model, and returns what it prints.
func (r *rig) cli(args ...string) string {
	r.t.Helper()
	cmd := exec.Command(r.client(), args...)
	cmd.Dir, cmd.Env = r.home, r.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("claude %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newPluginRig is newRig with the plugin, as the client installs it for a user; settings says whether the hooks are
// in his settings, too.
func newPluginRig(t *testing.T, settings bool) *rig {
	t.Helper()
	r := newBareRig(t)
	if settings {
		r.command(r.repo.Dir, "init")
	}
	r.cli("plugin", "marketplace", "add", r.marketplace())
	r.cli("plugin", "install", "git-agent@git-agent")
	if out := r.command(r.repo.Dir, "init"); !settings && !strings.Contains(out, "the hooks are those of the plugin git-agent@git-agent\n") {
		t.Errorf("init with the plugin says\n%s", out)
	}
	text, err := os.ReadFile(r.settings())
	gittest.Must(t, err)
	if got := bytes.Contains(text, []byte("git-agent-turn hook")); got != settings {
		t.Fatalf("hooks in the settings: %t, want %t\n%s", got, settings, text)
	}
	return r
}

// withoutPrograms leaves PATH without our programs.
func (r *rig) withoutPrograms() {
	r.t.Helper()
	real, err := exec.LookPath("git-agent-turn")
	gittest.Must(r.t, err)
	r.vars = append(r.vars, "PATH="+withoutDir(os.Getenv("PATH"), filepath.Dir(real)))
}

// The client has nothing to say against plugin and marketplace.
func TestPluginValid(t *testing.T) {
	t.Parallel()
	r := newBareRig(t)
	for _, dir := range []string{r.marketplace(), filepath.Join(r.marketplace(), "plugin")} {
		if out := r.cli("plugin", "validate", "--strict", dir); !strings.Contains(out, "Validation passed") {
			t.Errorf("%s:\n%s", dir, out)
		}
	}
}

// Each turn is recorded once, however the hooks came to the client, and the next session is told once.
func TestPlugin(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for _, settings := range []bool{false, true} {
		name := map[bool]string{false: "alone", true: "beside settings"}[settings]
		t.Run(name+", headless", func(t *testing.T) {
			t.Parallel()
			r := newPluginRig(t, settings)
			h := r.claude(r.repo.Dir, "T1 hello").ok().quiet()
			if got, want := h.ran("Stop"), map[bool]int{false: 2, true: 3}[settings]; got != want {
				t.Fatalf("%d Stop hooks ran, want %d: the plugin's, the witness's and those in settings", got, want)
			}
			for _, prompt := range []string{"T2 hello", "T3 hello", "T4 hello"} {
				r.claude(r.repo.Dir, prompt, "--resume", h.session()).ok().quiet()
			}
			r.claude(r.repo.Dir, "TERR hello", "--resume", h.session())
			r.await("five turns", func() bool { return len(r.list()) == 5 })
			r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.done("T4"), r.failed("TERR"))
		})
		t.Run(name+", in a terminal", func(t *testing.T) {
			t.Parallel()
			r := newPluginRig(t, settings)
			slow := r.gate("slow")
			r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")),
				on("TWRITE", bash("git agent-handoff write --summary 'see XYZZY'"), say("AWRITE done")))
			s := r.interactive(r.repo.Dir)
			s.prompt("T1 hello")
			s.enter("TTOOL hello")
			slow.reached()
			s.interrupt()
			s.prompt("T2 hello")
			s.prompt("TWRITE hello")
			s.exit()
			if s.shows("failed") || s.shows("cancelled") {
				t.Errorf("the client says\n%s", s.term.screen())
			}
			r.check(r.done("T1"), r.interrupted("TTOOL"), r.done("T2"), r.done("TWRITE"))
			r.claude(r.repo.Dir, "T3 hello").ok().quiet()
			if n := strings.Count(r.first("T3").text(), "see XYZZY"); n != 1 {
				t.Errorf("the next session was told %d times:\n%s", n, r.first("T3").text())
			}
		})
	}
}

// At the end of a session the client cancels a plugin's hook that takes long. Ours doesn't, and the end is recorded.
func TestPluginSlowEnd(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newPluginRig(t, false)
	gitDir := filepath.Join(r.repo.Dir, ".git")
	// No witness: the client would wait for its hook, and for ours meanwhile.
	cmd := exec.Command(r.client(), "-p", "T1 hello", "--dangerously-skip-permissions", "--model", model)
	cmd.Dir, cmd.Env = r.repo.Dir, r.env()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	gittest.Must(t, cmd.Start())
	r.await("the beginning of the turn", func() bool { return r.mock.asked(`(^|\n)T1\b`) })
	held, err := state.Open(gitDir).LockSessions(t.Context(), gitDir) // as another session that begins
	gittest.Must(t, err)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the client: %v\n%s\n%s", err, &stdout, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("the client says %s", &stderr)
	}
	if list := r.handoff(r.repo.Dir, "list", "--all", "--ends", "--json"); list != "" {
		t.Errorf("handed off while another process had the lock: %s", list)
	}
	held.Release()
	r.await("the handoff", func() bool {
		return strings.Count(r.handoff(r.repo.Dir, "list", "--all", "--ends", "--json"), "\n") == 1
	})
	if turns := r.list(); len(turns) != 1 || turns[0].Outcome != "done" {
		t.Errorf("the turns are %+v", turns)
	}
}

// Where our programs are not, the client says so when a session starts, and nothing else is heard of the plugin.
func TestPluginWithoutPrograms(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	const said = "git-agent is not installed"
	r := newPluginRig(t, false)
	r.withoutPrograms()
	h := r.claude(r.repo.Dir, "T1 hello").ok()
	heard := 0
	for _, x := range h.hooks {
		switch {
		case x.Event == "SessionStart" && strings.Contains(x.Stdout, said):
			heard++
		case x.ExitCode != 0 || x.Stdout != "" || x.Stderr != "":
			t.Errorf("the client heard %+v", x)
		}
	}
	if heard != 1 {
		t.Errorf("it was said %d times: %+v", heard, h.hooks)
	}
	s := r.interactive(r.repo.Dir)
	r.await("the message that nothing is recorded", func() bool { return s.shows(said) })
	s.prompt("T2 hello")
	s.enter("TERR hello")
	r.await("StopFailure", func() bool { return len(r.witness.named("StopFailure")) > 0 })
	s.ready("the error")
	if n := strings.Count(s.term.screen(), said); n != 1 || s.shows("hook failed") || s.shows("hook error") {
		t.Errorf("the client shows\n%s", s.term.screen())
	}
	s.exit()
	if s.shows("cancelled") || s.shows("hook failed") {
		t.Errorf("at the end the client shows\n%s", s.term.screen())
	}
}

// A program that is there and breaks is a fault that the user sees, and that the agent is not told of.
func TestPluginBroken(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newPluginRig(t, false)
	bin := filepath.Join(r.home, "bin")
	gittest.Must(t, os.Mkdir(bin, 0o777))
	for _, program := range []string{"git-agent-turn", "git-agent-handoff"} {
		gittest.Must(t, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\necho it is broken >&2; exit 2\n"), 0o777))
	}
	r.vars = append(r.vars, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	h := r.claude(r.repo.Dir, "T1 hello").ok()
	if !slices.ContainsFunc(h.hooks, func(x hookResult) bool {
		return x.Event == "Stop" && x.ExitCode == 1 && strings.Contains(x.Stderr, "it is broken")
	}) {
		t.Errorf("nothing is said of it: %+v", h.hooks)
	}
	if got := r.mock.requests(); len(got) != 2 {
		t.Errorf("%d requests, want two", len(got))
	}
	r.tellsNot(r.first("T1"), "it is broken")
}

// The client lists skills and commands, and lets the agent run what a command needs unasked, and nothing else.
func TestPluginCommands(t *testing.T) {
	t.Parallel()
	r := newPluginRig(t, false)
	h := r.claude(r.repo.Dir, "T1 hello").ok()
	var list struct {
		Commands []string `json:"slash_commands"`
		Skills   []string
	}
	for line := range bytes.Lines(h.stdout.Bytes()) {
		var head struct{ Subtype string }
		if json.Unmarshal(line, &head) == nil && head.Subtype == "init" {
			gittest.Must(t, json.Unmarshal(line, &list))
		}
	}
	for _, want := range []string{"turns", "fork", "handoff", "search"} {
		if !slices.Contains(list.Commands, "git-agent:"+want) {
			t.Errorf("no command %s in %q", want, list.Commands)
		}
	}
	for _, want := range []string{"hand-off", "search-past", "go-back"} {
		if !slices.Contains(list.Skills, "git-agent:"+want) {
			t.Errorf("no skill %s in %q", want, list.Skills)
		}
	}

	r.asks = true
	refused := filepath.Join(r.home, "refused")
	r.mock.play(rule{Match: "If a turn is named here", Steps: []reply{
		bash("git agent-turn list --trusted"), bash("touch '" + refused + "'"), say("ALIST done"),
	}})
	r.claude(r.repo.Dir, "/git-agent:turns").ok()
	// The list has the turn that runs.
	if all := r.mock.requests(); !regexp.MustCompile(`"content": *"1 +> .* /git-agent:turns`).Match(all[len(all)-1].Body) {
		t.Errorf("the agent was not given the list of turns:\n%s", all[len(all)-1].Body)
	}
	if _, err := os.Stat(refused); err == nil {
		t.Error("the client let the agent run anything")
	}
	turns := r.list()
	if !slices.ContainsFunc(turns, func(t turn) bool { return strings.HasPrefix(t.Prompt, "/git-agent:turns") }) || len(turns) != 2 {
		t.Errorf("the turns are %+v", turns)
	}
}
