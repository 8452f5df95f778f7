//go:build unix

package same

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// forced is how many steps of a walk use a flag whose turn it is.
const forced = 6

// writing are commands that write what need not be the same.
var writing = []string{
	"start", "finish", "record", "push", "fetch", "trust add", "trust remove", "trust accept", "init", "import", "archive", "remove", "prune", "purge", "restore", "revert",
	"undo", "bisect", "reviewed", "housekeep", "demo", "doctor", "write", "gather", "accept", "wake", "retry", "log start", "", "adopt", "hook",
}

func (v verb) writes() bool {
	name := strings.Join(v.words, " ")
	return slices.Contains(writing, name) && !(name == "" && v.program != "git-agent-fork") || v.program == "git-agent-handoff" && name == "restore"
}

// draw draws the next step.
func (w *walk) draw(i int, reading bool) step {
	s := w.say
	pool := w.known.each
	if reading {
		pool = slices.DeleteFunc(slices.Clone(pool), func(u use) bool { return u.verb.writes() })
	}
	switch {
	case i < forced:
		return w.command(pool[(w.number/2*forced+i)%len(pool)], reading)
	case reading || s.chance(55):
		return w.command(pool[s.IntN(len(pool))], reading)
	case s.chance(50):
		return w.hook()
	}
	return w.user()
}

// command draws a command that uses a flag. Some that only read run on a terminal, where tables are fitted to its width.
func (w *walk) command(u use, reading bool) step {
	s := w.say
	if u.verb.words != nil && u.verb.words[0] == "hook" {
		h := w.hook()
		h.use = u.String()
		if !h.user {
			h.argv[0] = u.verb.program
			h.what = shell(slices.Clone(h.argv)...) + " <<<" + shell(h.stdin)
		}
		return h
	}
	var flags []string
	add := func(o option) {
		switch {
		case o.value == "":
			flags = append(flags, o.name)
		case strings.HasPrefix(o.name, "--") && s.chance(30):
			flags = append(flags, o.name+"="+s.value(u.verb, o))
		default:
			flags = append(flags, o.name, s.value(u.verb, o))
		}
	}
	if u.option.name != "" {
		add(u.option)
	}
	required := map[string][]option{
		"bisect": {{"--good", "<state>"}, {"--bad", "<state>"}}, "export": {{"--format", "<format>"}}, "purge": {{s.pick("--fixed", "--match"), ""}, {"--yes", ""}},
		"gather": {{"--exit-type", "<type>"}}, "prune": {{"--older-than", "<age>"}},
	}[strings.Join(u.verb.words, " ")]
	for _, o := range required {
		if s.chance(85) {
			add(o)
		}
	}
	for _, o := range u.verb.options {
		if s.chance(4) && o.name != "-h" && o.name != "--help" && o.name != "--version" {
			add(o)
		}
	}
	if s.chance(15) && slices.ContainsFunc(u.verb.options, func(o option) bool { return o.name == "--json" }) {
		flags = append(flags, "--json")
	}
	if s.chance(1) {
		flags = append(flags, s.pick("--nope", "-x", "--generate-bash-completion", "--js"))
	}
	t := step{dir: s.pick(w.place.dirs...), use: u.String(), write: u.verb.writes() || u.verb.words != nil && u.verb.words[0] == "page"} // a page says when it was made
	t.argv = slices.Concat([]string{u.verb.program}, u.verb.words, flags, s.arguments(u.verb))
	if s.chance(3) {
		t.argv = append(t.argv, "--generate-bash-completion")
	}
	switch name := strings.Join(u.verb.words, " "); {
	case name == "purge":
		t.stdin = s.pick("hunter2-secret", "flibbertigibbet\n", "line [0-9]+", "form", "", "x", "zyzzyva")
	case u.verb.program == "git-agent-fork" && len(u.verb.words) == 0:
		t.stdin = s.pick("", "a1b2c3d4/1\n", "1\n2\n")
	case name == "write" || name == "retry":
		t.stdin = s.pick("", "a document\n\nof a.txt and hunter2-secret\n", "\xff\x00")
	}
	for _, v := range []struct {
		percent int
		value   string
	}{{5, "COLUMNS=40"}, {5, "COLUMNS=200"}, {3, "GIT_PAGER_IN_USE=1"}, {2, "GIT_AGENT_DISABLE=1"}, {2, "GIT_DIR=$HOME/repo/.git"}, {2, "CLAUDECODE=1"}, {2, "NO_COLOR=1"}, {2, "GIT_AGENT_MISSION=a1b2c3d4"}} {
		if s.chance(v.percent) {
			t.env = append(t.env, v.value)
		}
	}
	if s.chance(8) && runtime.GOOS == "linux" && !u.verb.writes() && t.stdin == "" && !slices.ContainsFunc(t.argv, func(word string) bool {
		return word == "-i" || word == "--interactive" // the finder waits for keys
	}) {
		t.argv = []string{"script", "-qec", fmt.Sprintf("stty cols %s rows 40; exec ", s.pick("80", "120", "47")) + shell(slices.Clone(t.argv)...), "/dev/null"}
		t.env = append(t.env, "GIT_PAGER=cat", "TERM=xterm-256color")
	}
	t.what = shell(append(slices.Clone(t.env), t.argv...)...)
	if t.stdin != "" {
		t.what += " <<<" + shell(t.stdin)
	}
	return t
}

// user draws what a user does.
func (w *walk) user() step {
	s := w.say
	n := s.IntN(1000)
	id := s.pick(append(s.place.missions, "a1b2c3d4")...)
	script := s.pick(
		fmt.Sprintf("echo %d >>a.txt; git commit -qam 'by hand %d'", n, n), fmt.Sprintf("echo %d >new%d.txt; git add .; git commit -qm 'new %d'", n, n, n), fmt.Sprintf("sed -i 's/line/LINE/' a.txt; touch u%d.txt", n),
		"git commit -q --amend --no-edit --allow-empty", "git gc -q", "git repack -adq", "git pack-refs --all", "git checkout -q side || git checkout -q main", "git checkout -q --detach", "git checkout -q -f main",
		"git reset -q --hard HEAD~1", "git stash -q -u", "git rebase -q side", "git merge -q --no-edit linked", "git tag -f t"+fmt.Sprint(n), "git branch -f b HEAD~1",
		"git update-ref -d refs/agent/missions/"+id, "git update-ref refs/agent/missions/"+id+" refs/agent/missions/"+id+"~1", "git update-ref -d refs/notes/agent/"+id, "git notes --ref=agent/"+id+" add -f -m nonsense",
		"rm -rf $(git rev-parse --git-common-dir)/agent/trust", "rm -f $(git rev-parse --git-common-dir)/agent/log", "git worktree prune; rm -rf $HOME/f1", "git fetch -q origin '+refs/agent/*:refs/agent/*' '+refs/notes/*:refs/notes/*'",
		"git config agent.record "+s.pick("true", "false", "x"), "rm -f $(git rev-parse --git-common-dir)/agent/enabled", "git push -q origin HEAD:elsewhere", "git config core.quotePath false", "git prune --expire=now",
		"printf '[capture]\\nsubject_prompt = false\\n[checks]\\ntest = [\"notes *\"]\\n' >$HOME/.config/git-agent/config.toml", "printf '[redact]\\nnames = [\"form\"]\\n[recall]\\nedits = true\\n' >$HOME/.config/git-agent/config.toml",
		"printf 'nonsense' >$HOME/.config/git-agent/config.toml", "printf '[capture]\\nexclude = [\"*.txt\"]\\n' >.git-agent.toml", "chmod +x a.txt; ln -sf a.txt link2", "rm -rf src; mkdir src; echo x >src/new.go", "git rm -q a.txt", "cp -a a.txt 'copy of a.txt'",
	)
	return step{what: script, argv: []string{"sh", "-c", script}, dir: s.pick(w.place.dirs...), user: true}
}

// hook draws a payload for a hook, or a whole turn of a session.
func (w *walk) hook() step {
	s := w.say
	dir := s.pick(w.place.dirs...)
	id := s.pick(append([]string{"a1b2c3d4", "12121212", "34343434", "0000beef"}, s.place.missions...)...)
	if len(id) != 8 {
		id = "12121212"
	}
	n := s.IntN(1000)
	does := s.pick("true", fmt.Sprintf("echo %d >>a.txt", n), fmt.Sprintf("echo %d >turn%d.txt", n, n), "rm -f a.txt", "git commit -q --allow-empty -m 'by the agent'", "echo hunter2-secret >s.txt", "mkdir -p build; echo x >build/o; echo y >y.ignored", "sed -i 's/a/b/' src/main.go", "sed -i '2,4d' a.txt", "sed -i 's/[0-9]$/x/' *.txt", "git mv a.txt moved.txt", fmt.Sprintf("seq %d >a.txt", 1+n%50))
	switch {
	case s.chance(45):
		script := fmt.Sprintf("said=%d000 prompt=%d\n%sturn %s 'Do %d' %q", 1+n, 1+n, prelude, id, n, does)
		if s.chance(8) { // packs are joined, and rolled up
			script += fmt.Sprintf("; for i in $(seq 12); do turn %s \"Go on, $i\" 'echo %d $i >>a.txt'; done", id, n)
		}
		if s.chance(30) {
			script += "; ends " + id
		}
		return step{what: fmt.Sprintf("a turn of session %s: %s", id, does), argv: []string{"sh", "-c", script}, dir: dir, user: true, write: true}
	case s.chance(35):
		p := captured()
		payload := p[s.IntN(len(p))]
		text := strings.NewReplacer("/home/dev/.claude", "$HOME/.claude", "/home/dev/", "$HOME/").Replace(payload.text)
		t := step{argv: []string{s.pick("git-agent-turn", "git-agent-handoff"), "hook"}, stdin: text, dir: dir, write: true, env: payload.env}
		t.what = shell(append(slices.Clone(t.env), t.argv...)...) + " <" + payload.name
		return t
	}
	session := "5b603d06-0000-4000-8000-0000" + id
	fields := map[string]any{"session_id": session, "cwd": "$HOME/" + dir, "permission_mode": "default", "transcript_path": "$HOME/.claude/projects/-x/" + session + ".jsonl"}
	name := s.pick("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop", "StopFailure", "PreCompact", "SubagentStop", "SessionEnd", "Foo")
	fields["hook_event_name"] = name
	call := map[string]any{"tool_name": s.pick("Bash", "Edit", "Write", "Read"), "tool_use_id": "t1", "tool_input": map[string]any{"command": does, "file_path": "$HOME/" + dir + "/a.txt"}}
	switch name {
	case "SessionStart":
		fields["source"] = s.pick("startup", "resume", "clear", "compact", "fork")
	case "UserPromptSubmit":
		fields["prompt"], fields["prompt_id"] = s.text(), fmt.Sprint("q", n)
	case "PreToolUse":
		fields["tool_name"], fields["tool_use_id"], fields["tool_input"] = call["tool_name"], "t1", call["tool_input"]
	case "PostToolBatch":
		call["tool_response"] = "ok"
		fields["tool_calls"], fields["prompt_id"] = []any{call}, "q1"
	case "Stop", "StopFailure":
		fields["stop_hook_active"], fields["last_assistant_message"], fields["error"], fields["prompt_id"] = s.chance(10), s.text(), "overloaded", "q1"
	case "SubagentStop":
		fields["agent_id"], fields["agent_type"] = "a1", "general-purpose"
	case "PreCompact":
		fields["trigger"] = "manual"
	case "SessionEnd":
		fields["reason"] = s.pick("other", "clear", "prompt_input_exit")
	}
	text, err := json.Marshal(fields)
	check(err)
	stdin := string(text)
	if s.chance(6) {
		stdin = s.pick("", "{", "[]", "null", `{"hook_event_name":7}`, stdin+stdin, strings.Repeat("x", 100_000))
	}
	t := step{argv: []string{s.pick("git-agent-turn", "git-agent-handoff"), "hook"}, stdin: stdin, dir: dir, write: true, env: []string{"CLAUDE_PID=4194000"}}
	if name == "PostToolBatch" || name == "Stop" {
		t.first = does
	}
	t.what = shell(append(slices.Clone(t.env), t.argv...)...) + " <<<" + shell(stdin)
	return t
}

// A payload is one that a real client sent.
type payload struct {
	name, text string
	env        []string
}

var captured = sync.OnceValue(func() (list []payload) {
	files, err := filepath.Glob("../../internal/agent/*/testdata/payloads/*.json")
	check(err)
	more, err := filepath.Glob("../../testdata/payloads/*.json")
	check(err)
	env := map[string][]string{
		"codex": nil, "gemini": {"GEMINI_PROJECT_DIR=$HOME/repo"}, "copilot": {"COPILOT_CLI=1", "COPILOT_PROJECT_DIR=$HOME/repo"},
		"qwen": {"QWEN_CODE=1", "QWEN_PROJECT_DIR=$HOME/repo"}, "droid": {"FACTORY_PROJECT_DIR=$HOME/repo"}, ".": {"CLAUDE_PID=4194000"},
	}
	for _, file := range slices.Concat(files, more) {
		text, err := os.ReadFile(file)
		check(err)
		agent := filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file))))
		if env[agent] == nil && agent != "codex" {
			agent = "."
		}
		list = append(list, payload{strings.TrimPrefix(file, "../../"), string(text), env[agent]})
	}
	return list
})
