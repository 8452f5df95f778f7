//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A native is a client with what it takes to have such turns whose parts a fork may lose.
type native struct {
	player
	look    reply                                            // a call of the MCP server's tool
	picture func(argv []string) []string                     // a run whose prompt has a picture
	fork    func(r *rig, session, prompt string) []string    // the client's own; nil if it has none
	stays   bool                                             // such a fork works in the directory of its source
	again   *regexp.Regexp                                   // blocks that it makes anew in a fork of ours
	connect func(r *rig, command string, arguments []string) // to an MCP server; it is set to steer, and to keep the last prompt in a compaction
}

var natives = []native{
	{
		player:  codex{},
		look:    reply{"content": []any{map[string]any{"type": "tool_use", "namespace": "mcp__notes", "name": "look", "input": map[string]any{"name": "x"}}}},
		picture: func(argv []string) []string { return slices.Insert(argv, len(argv)-1, "-i", "picture.png", "--") },
		fork: func(r *rig, session, prompt string) []string {
			argv := r.kind.(player).command(r, "", prompt)
			return slices.Insert(argv, len(argv)-1, "fork", session)
		},
		// It takes our fork for a session whose settings may have changed, since what it may do (turn_context) is not in
		// the file: it says so again.
		again: regexp.MustCompile(`^input \{"content":\[\{"text":"\\u003c(skills_instructions|collaboration_mode)`),
		connect: func(r *rig, command string, arguments []string) {
			path := codex{}.configFile(r)
			config, err := os.ReadFile(path)
			gittest.Must(r.t, err)
			list, _ := json.Marshal(arguments)
			replaceFile(r.t, path, fmt.Appendf(config, "\n[mcp_servers.notes]\ncommand = %q\nargs = %s\n", command, list))
		},
	},
	openCodes(openCode{}),
	openCodes(openCode{"kilo"}),
	{
		player:  gemini{},
		look:    reply{"tool": "mcp_notes_look", "input": map[string]any{"name": "x"}},
		picture: mentioned,
		connect: func(r *rig, command string, arguments []string) {
			// Without this, what is typed while it works is a prompt of its own when it has ended.
			r.set(gemini{}.settings(r), "experimental", map[string]any{"modelSteering": true})
			r.set(gemini{}.settings(r), "mcpServers", map[string]any{"notes": map[string]any{"command": command, "args": arguments, "trust": true}})
		},
	},
	{
		player:  qwen{},
		look:    reply{"tool": "mcp__notes__look", "input": map[string]any{"name": "x"}},
		picture: mentioned,
		fork: func(r *rig, session, prompt string) []string {
			return qwen{}.fork(qwen{}.command(r, "", prompt), session)
		},
		stays: true,                                           // it finds a session in its directory alone
		again: regexp.MustCompile(`git: Current branch|├───`), // where it works: the branch, the files
		connect: func(r *rig, command string, arguments []string) {
			r.set(qwen{}.settings(r), "mcpServers", map[string]any{"notes": map[string]any{"command": command, "args": arguments, "trust": true}})
		},
	},
	{
		player:  pi{},
		look:    bash("echo it knows no MCP"),
		picture: func(argv []string) []string { return append(argv, "@picture.png") },
		fork: func(r *rig, session, prompt string) []string {
			return pi{}.fork(pi{}.command(r, "", prompt), session)
		},
		connect: func(*rig, string, []string) {},
	},
	{ // its own fork needs a terminal
		player:  copilot{},
		look:    bash("echo no server is set up"),
		picture: mentioned,
		// The new prompt has the time; the system prompt says which checkpoints of compactions lie beside the file.
		again:   regexp.MustCompile(`TF[12] hello|/session-state/`),
		connect: func(*rig, string, []string) {},
	},
}

// mentioned names the picture in a run's prompt.
func mentioned(argv []string) []string {
	for i, a := range argv {
		if strings.HasPrefix(a, "TIMG") {
			argv[i] = a + " @picture.png"
		}
	}
	return argv
}

// openCodes is OpenCode, or what it is called elsewhere.
func openCodes(c openCode) native {
	return native{
		player:  c,
		look:    reply{"tool": "notes_look", "input": map[string]any{"name": "x"}},
		picture: func(argv []string) []string { return append(argv, "-f", "picture.png") },
		fork: func(r *rig, session, prompt string) []string {
			return append(c.command(r, session, prompt), "--fork")
		},
		stays: true, // started elsewhere, it answers, and never ends
		connect: func(r *rig, command string, arguments []string) {
			r.set(c.settings(r), "compaction", map[string]any{"tail_turns": 1})
			r.set(c.settings(r), "mcp", map[string]any{"notes": map[string]any{"type": "local", "command": append([]string{command}, arguments...), "enabled": true}})
		},
	}
}

// set sets a field of a file of settings.
func (r *rig) set(path, name string, value any) {
	r.t.Helper()
	data, err := os.ReadFile(path)
	gittest.Must(r.t, err)
	var settings map[string]any
	gittest.Must(r.t, json.Unmarshal(data, &settings))
	settings[name] = value
	data, err = json.MarshalIndent(settings, "", "  ")
	gittest.Must(r.t, err)
	replaceFile(r.t, path, data)
}

// The same as TestForkParts for the other clients, as far as they have such turns. A client without a fork of its own
// goes on in the session itself.
func TestForkAlike(t *testing.T) {
	t.Parallel()
	for _, n := range natives {
		t.Run(n.program(), func(t *testing.T) {
			t.Parallel()
			gittest.Nightly(t)
			r := newRigOf(t, n.player, gittest.New(t))
			r.picture()
			self, err := filepath.Abs("testdata/mcp.mjs")
			gittest.Must(t, err)
			n.connect(r, "node", []string{self})
			r.command(r.repo.Dir, "init", "--agent", n.program())
			r.patient()
			slow := r.gate("slow")
			r.mock.play(on(`TF[0-9]+`, say("forked")), on("TTOOL", bash(slow.wait()), say("not reached")), on("TMCP", n.look, say("AMCP done")), on("TIMG", say("AIMG done")))
			x := r.startArgv(r.repo.Dir, n.picture(n.command(r, "", "TIMG hello"))...)
			x.wait()
			session := x.ok().session()
			// A sub-agent's report may come after the end of the turn: it is in the next one's.
			for _, prompt := range []string{"TSUB hello", "T3 hello", "TMCP hello"} {
				r.play(r.repo.Dir, session, prompt).ok()
			}
			n.alike(r, "image, sub-agent, MCP", session, "TF1")
			s := r.seat(r.repo.Dir, session)
			before := len(r.witness.named("Stop"))
			s.enter("TTOOL hello")
			slow.reached()
			s.enter("T2 hello")
			slow.open()
			r.await("the end of the turn", func() bool { return len(r.witness.named("Stop")) > before })
			s.ready("the turn with a second prompt in it")
			s.compact()
			s.prompt("T5 hello")
			s.leave()
			n.alike(r, "steering and compaction", session, "TF2")
			kept := "T2 hello"
			if n.player == (qwen{}) || n.player == (pi{}) { // whose compaction keeps no prompt
				kept = "MOCK SUMMARY"
			}
			if left := string(r.given("TF2")[0].Body); !strings.Contains(left, kept) {
				t.Errorf("the compaction left %s, want %q there", left, kept)
			}
		})
	}
}

// alike forks the session's last turn both ways.
func (n native) alike(r *rig, what, session, word string) {
	r.t.Helper()
	mission := n.mission(r, session)
	f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", mission, len(r.turns(mission))))
	r.onboardAlso(f.Worktree)
	r = r.silent()
	own := session
	if n.fork != nil {
		dir := f.Worktree
		if n.stays {
			dir = r.repo.Dir
		}
		x := r.startArgv(dir, n.fork(r, session, word+" hello")...)
		x.wait()
		own = x.ok().session()
	}
	r.play(f.Worktree, f.Session, word+" hello").ok()
	if n.fork == nil {
		r.play(r.repo.Dir, session, word+" hello").ok()
	}
	given := r.given(word)
	if len(given) != 2 {
		r.t.Fatalf("%s: %d requests, want two\n%s", what, len(given), r.report())
	}
	if n.fork == nil {
		slices.Reverse(given)
	}
	said := func(q request) []string {
		return slices.DeleteFunc(q.blocks(), func(b string) bool { return n.again != nil && n.again.MatchString(b) })
	}
	// Kilo says its own name wherever its source's was said.
	r.alike(what, said(given[0]), said(given[1]), own, session, f.Session, f.Worktree, r.repo.Dir)
}
