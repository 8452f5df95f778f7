//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A part is a kind of turn: what it leaves in the conversation, a fork has.
type part struct {
	name  string
	play  func(s *session, r *rig)
	texts []string // of it in a request
	check bool     // it is in make check, too
}

// parts are the kinds of turn, in the order in which a session has them.
var parts = []part{
	{
		name: "hook context and MCP instructions", check: true,
		play:  func(s *session, r *rig) { s.prompt("T1 hello") },
		texts: []string{"the weather is fine", "mind the umlauts", "Notes are in metric units."},
	},
	{
		name: "sub-agent",
		play: func(s *session, r *rig) {
			before := len(r.witness.named("Stop"))
			s.enter("TSUB hello")
			s.stopped(before+2, "the sub-agent's report")
		},
		texts: []string{"subagent result: files listed"},
	},
	{
		name:  "skill",
		play:  func(s *session, r *rig) { s.prompt("TSKILL hello"); s.prompt("/guide T3") },
		texts: []string{"Write short words.", "/guide"},
	},
	{
		name:  "MCP tool",
		play:  func(s *session, r *rig) { s.prompt("TMCP hello") },
		texts: []string{"the note x: two metres"},
	},
	{
		name:  "image",
		play:  func(s *session, r *rig) { s.prompt("TIMG hello") },
		texts: []string{`"media_type":"image/png"`},
	},
	{
		name:  "side file",
		play:  func(s *session, r *rig) { s.prompt("TBIG hello") },
		texts: []string{"/tool-results/"},
	},
	{
		name: "agent mention", check: true,
		play:  func(s *session, r *rig) { s.prompt("T3 ask @agent-Explore please") },
		texts: []string{"desire to invoke the agent"},
	},
	{
		name: "steering", check: true,
		play: func(s *session, r *rig) {
			slow := r.gate("slow")
			before := len(r.witness.named("Stop"))
			s.enter("TTOOL hello")
			slow.reached()
			s.queue("T2 hello")
			slow.open()
			s.stopped(before+1, "the turn with a second prompt in it")
		},
		texts: []string{"T2 hello"},
	},
	{
		name: "local command", check: true,
		play: func(s *session, r *rig) {
			s.enter("/rename a good name")
			r.await("the answer to /rename", func() bool { return s.shows("renamed to") })
			s.ready("/rename")
			s.prompt("T3 after a command")
		},
		texts: []string{"a good name"},
	},
	{
		name: "shell command",
		play: func(s *session, r *rig) {
			s.term.text("!echo from the shell")
			r.await("the command in the box", func() bool { return s.shows("echo from the shell") && s.shows("for shell mode") })
			s.term.keys("Enter")
			r.await("the command's output in the file", func() bool { return bytes.Contains(s.file().data, []byte("<bash-stdout>")) })
			s.ready("!")
			s.prompt("T3 after the shell")
		},
		texts: []string{"from the shell"},
	},
	{
		name: "background task",
		play: func(s *session, r *rig) {
			back := r.gate("back")
			before := len(r.witness.named("Stop"))
			s.enter("TBACK hello")
			back.reached()
			r.await("the end of the turn that began it", func() bool { return len(r.witness.named("Stop")) > before })
			back.open() // what ends before the turn is told in it
			s.stopped(before+2, "the background task's end")
		},
		texts: []string{"task-notification"},
	},
	{
		name:  "compaction",
		play:  func(s *session, r *rig) { s.compact(); s.prompt("T3 after the summary") },
		texts: []string{"MOCK SUMMARY", "Write short words."},
	},
	{
		name:  "plan mode",
		play:  func(s *session, r *rig) { s.prompt("TPLAN hello") },
		texts: []string{"EnterPlanMode"},
	},
	{
		name: "plan mode left",
		play: func(s *session, r *rig) {
			before := len(r.witness.named("Stop"))
			s.enter("TOUT hello")
			r.await("the question whether to leave plan mode", func() bool { return s.shows("Exit plan mode?") })
			r.await("the answer", func() bool {
				s.term.keys("Enter") // what is pressed at once gets lost
				return !s.shows("Exit plan mode?")
			})
			s.stopped(before+1, "the end of plan mode")
		},
		texts: []string{"ExitPlanMode"},
	},
	{
		name: "branch",
		play: func(s *session, r *rig) {
			before := s.registry().SessionID
			s.enter("/branch")
			r.await("a session of its own", func() bool { return s.registry().SessionID != before })
			s.ready("/branch")
			s.prompt("T3 in the branch")
		},
		texts: []string{"T3 in the branch"},
	},
}

// After each kind of turn, the client's own fork of the session and ours are given the same prompt, in the same
// directory: the model is sent the same, block by block. So it is when turns are forked once more after the session.
func TestForkParts(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := newBareRig(t)
	r.vars = append(r.vars, "MCP_CONNECTION_NONBLOCKING=0", "MCP_TIMEOUT=3600000") // the first request waits for the server
	r.furnish()
	r.command(r.repo.Dir, "init")
	r.patient()
	s := r.interactive(r.repo.Dir)
	var forks []forkedTurn
	for i, p := range parts {
		if !p.check && !gittest.Whole() {
			continue
		}
		p.play(s, r)
		session := s.registry().SessionID
		forks = append(forks, r.forksAlike(p, session, fmt.Sprintf("TF%d", i+1)))
	}
	s.exit()
	for i := 0; i < len(forks); i += 4 {
		f := forks[i]
		again := r.fork(r.repo.Dir, f.turn)
		word := fmt.Sprintf("TF%d", 100+i)
		r.silent().claude(again.Worktree, word+" hello", again.Command[1:]...).ok()
		r.alike(f.turn+", later", f.blocks, r.first(word).blocks(), f.Worktree, again.Worktree, f.Session, again.Session, word, f.word)
	}
	reviewer := r.claude(r.repo.Dir, "T3 hello", "--agent", "reviewer").ok().session()
	r.forksAlike(part{name: "an agent of the user's own", texts: []string{"You review."}}, reviewer, "TF0")
}

// The client takes an answer back and lets another model answer: a fork goes on without that answer, and with the user's
// model. The record is the client's own, written here, as its service's refusal can't be played.
func TestForkTakenBack(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on("TF1", say("forked")))
	session := r.talk("T1 hello")
	leaf := r.leaf(session)
	file, err := os.OpenFile(r.transcriptPath(session), os.O_APPEND|os.O_WRONLY, 0)
	gittest.Must(t, err)
	_, err = fmt.Fprintf(file, `{"parentUuid":%q,"isSidechain":false,"type":"system","subtype":"model_refusal_fallback","content":"Switched.","level":"warning","trigger":"refusal","direction":"retry","originalModel":%q,"fallbackModel":"claude-sonnet-4-5","retractedMessageUuids":[%[1]q],"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-29T10:00:00.000Z","sessionId":%q,"version":"2.1.332"}`+"\n", leaf, model, session)
	gittest.Must(t, err)
	gittest.Must(t, file.Close())
	r.claude(r.repo.Dir, "T3 hello", "--resume", session).ok()
	f := r.forksAlike(part{name: "an answer taken back", texts: []string{"A3 done"}}, session, "TF1")
	if whole := strings.Join(f.blocks, "\n"); strings.Contains(whole, "A1 done") {
		t.Errorf("the fork has the answer that was taken back: %s", whole)
	}
}

// A forkedTurn is our fork of a turn, and the request that it made with a prompt.
type forkedTurn struct {
	fork
	turn, word string
	blocks     []string
}

// forksAlike forks the session's last turn both ways.
func (r *rig) forksAlike(p part, session, word string) forkedTurn {
	r.t.Helper()
	turn := fmt.Sprintf("%s/%d", passive(session), len(r.turns(passive(session))))
	f := r.fork(r.repo.Dir, turn)
	native := r.silent().claude(f.Worktree, word+" hello", "--resume", session, "--fork-session").ok().session()
	r.silent().claude(f.Worktree, word+" hello", f.Command[1:]...).ok()
	asked := r.asked(word)
	if len(asked) != 2 {
		r.t.Fatalf("%s: %d requests, want two\n%s", p.name, len(asked), r.report())
	}
	ours := asked[1].blocks()
	whole := strings.Join(ours, "\n")
	for _, text := range p.texts {
		if !strings.Contains(whole, text) {
			r.t.Errorf("%s: nothing says %q", p.name, text)
		}
	}
	r.alike(p.name, asked[0].blocks(), slices.Clone(ours), native, f.Session)
	return forkedTurn{f, turn, word, ours}
}

// silent is the rig with hooks of ours that tell a session nothing: that is no part of its conversation.
func (r *rig) silent() *rig {
	quiet := *r
	quiet.vars = append(slices.Clone(r.vars), "GIT_AGENT_DISABLE=1")
	return &quiet
}

// furnish gives the user and the repository what the kinds of turn need: a skill, an MCP server, a picture, a hook that
// adds to prompts.
func (r *rig) furnish() {
	r.t.Helper()
	self, err := filepath.Abs("testdata/mcp.mjs")
	gittest.Must(r.t, err)
	path := filepath.Join(r.home, ".claude.json")
	data, err := os.ReadFile(path)
	gittest.Must(r.t, err)
	var user map[string]any
	gittest.Must(r.t, json.Unmarshal(data, &user))
	user["mcpServers"] = map[string]any{"notes": map[string]any{"type": "stdio", "command": "node", "args": []string{self}}}
	data, err = json.Marshal(user)
	gittest.Must(r.t, err)
	replaceFile(r.t, path, data)
	home := r.repo.In(r.home)
	home.Write(".claude/skills/guide/SKILL.md", "---\nname: guide\ndescription: How to write here\n---\nWrite short words. $ARGUMENTS\n")
	home.Write(".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n")
	replaceFile(r.t, r.settings(), []byte(`{"skipDangerousModePermissionPrompt": true, "spinnerTipsEnabled": false, "hooks": {
		"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo the weather is fine"}]}],
		"PostToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "printf '%s' '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"mind the umlauts\"}}'"}]}]}}`))
	r.picture()
	slow, back := filepath.Join(r.home, "slow.gate"), filepath.Join(r.home, "back.gate")
	r.mock.play(
		on(`TF[0-9]+`, say("forked")),
		on("TSKILL", reply{"tool": "Skill", "input": map[string]any{"skill": "guide", "args": "T3"}}, say("ASKILL done")),
		on("TMCP", reply{"tool": "mcp__notes__look", "input": map[string]any{"name": "x"}}, say("AMCP done")),
		on("TIMG", reply{"tool": "Read", "input": map[string]any{"file_path": "${CWD}/picture.png"}}, say("AIMG done")),
		on("TBIG", bash("seq 1 30000"), say("ABIG done")),
		on("TTOOL", bash("cat '"+slow+"'"), say("not reached")),
		on("TPLAN", reply{"tool": "EnterPlanMode", "input": map[string]any{}}, say("APLAN done")),
		on("TOUT", reply{"tool": "ExitPlanMode", "input": map[string]any{"plan": "1. Think"}}, say("AOUT done")),
		on("TBACK", reply{"tool": "Bash", "input": map[string]any{"command": "cat '" + back + "' && echo in the background", "description": "run", "run_in_background": true}}, say("ABACK done")),
	)
}
