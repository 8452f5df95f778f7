//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
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

// What comes of a command line that an agent gives to the tool Bash.
type outcome string

const (
	runs   outcome = "runs"   // the client runs it unasked
	barred outcome = "barred" // the client runs it unasked, and we refuse it to an agent
	asks   outcome = "asks"   // the client asks its user; here there is none, and nothing runs
)

// A try is a command line with what comes of it. In it TURN, MISSION and HANDOFF are names of another session's, DOCUMENT is
// the file that this session is told to write its handoff into, ELSE one that another one is, OTHER is another repository.
type try struct {
	want outcome
	line string
}

// each is a command with some words behind it, one after the other.
func each(want outcome, command string, with ...string) []try {
	var all []try
	for _, words := range with {
		if command != "" && words != "" {
			words = " " + words
		}
		all = append(all, try{want, command + words})
	}
	return all
}

// permissions are the rules of the plugin's allowed-tools, as the client reads them, with what comes of each flag of the
// command. A rule that ends in :* is about what begins so, with other words behind it; * is anything, blanks too; else it is
// the whole command. The first try is one that needs nothing but the rule.
var permissions = map[string][]try{
	"git agent-turn list --trusted": slices.Concat(
		each(runs, "git agent-turn list --trusted", ""),
		each(asks, "git agent-turn list --trusted",
			"--mission MISSION", "--all", "--all --archived", "--unreviewed", "--trusted", "--trusted=false", "--tokens", "--states", "--steps", "--json",
			"--max-count 1", "-n 1", "--since 2020-01-01", "--after 2020-01-01", "--until now", "--before now", "--grep x",
			"--regexp-ignore-case", "-i", "--outcome done", "-C OTHER", "--no-pager", "--version", "-h"),
		each(asks, "git agent-turn list", "", "--json --trusted"),
	),
	"git agent-turn show --trusted:*": slices.Concat(
		each(runs, "git agent-turn show --trusted",
			"", "TURN", "--mission MISSION 1", "--patch TURN", "-p TURN", "--conversation TURN", "--conversation --full TURN", "--steps TURN",
			"--transcript TURN", "--transcript --agent x TURN", "--json TURN", "--trusted TURN", "--trusted=false TURN", "TURN --patch",
			"--interactive", "-i", "--no-pager TURN", "--version", "-h"),
		each(barred, "git agent-turn show --trusted", "-C OTHER", "-COTHER", "TURN -C OTHER"),
		each(asks, "git agent-turn show", "TURN", "TURN --trusted"),
	),
	"git agent-turn search --trusted:*": slices.Concat(
		each(runs, "git agent-turn search --trusted",
			"hello", "'hello world'", "--in prompt hello", "--regexp 'h.*o'", "-E 'h.*o'", "--since 2020-01-01 hello",
			"--after 2020-01-01 hello", "--mission MISSION hello", "--archived hello", "--trusted hello", "--trusted=false hello",
			"--max-count 1 hello", "-n 1 hello", "--interactive hello", "-i hello", "--json hello", "--no-pager hello", "--version", "-h"),
		each(barred, "git agent-turn search --trusted", "-C OTHER hello", "--everywhere hello"),
		each(asks, "git agent-turn search", "hello"),
	),
	"git agent-turn recall:*": slices.Concat(
		each(runs, "git agent-turn recall", "README.md", "README.md:1", "--tokens 100 README.md", "--json README.md", "--no-pager README.md:1", "--version", "-h"),
		each(barred, "git agent-turn recall", "-C OTHER README.md:1"),
	),
	"git agent-turn why:*": slices.Concat(
		each(runs, "git agent-turn why", "README.md:1", "README.md 1", "--json README.md:1", "--no-pager README.md:1", "--version", "-h"),
		each(barred, "git agent-turn why", "-C OTHER README.md:1"),
	),
	"git agent-handoff show:*": slices.Concat(
		each(runs, "git agent-handoff show",
			"", "HANDOFF", "--mission MISSION", "--document HANDOFF", "--patch HANDOFF", "--terminal HANDOFF", "--conversation HANDOFF",
			"--conversation --full HANDOFF", "--json HANDOFF", "--no-pager HANDOFF", "--version", "-h"),
		each(barred, "git agent-handoff show", "-C OTHER", "--document -C OTHER"),
	),
	"git agent-handoff write -": slices.Concat(
		each(runs, "git agent-handoff write -",
			"", "<<'EOF'\n# Goal\n\n- `it's` $(rm kept) ${HOME}; rm kept | \"x\" & <y>\n\n```sh\nrm kept\n```\nEOF"),
		each(asks, "git agent-handoff write -",
			"--mission MISSION", "--exit-type crash", "--agent claude", "--summary x", "--question x", "--log README.md", "--tmux %0",
			"--wake", "-C OTHER", "--no-pager", "--version", "-h", "<<'EOF'\na backslash \\ before a blank\nEOF"),
		each(asks, "git agent-handoff write", "", "README.md", "/etc/passwd", "--summary x", "--summary x -", "--tmux %0 -"),
	),
	// As the agent is told to when its context is nearly full.
	"git agent-handoff write /*/git-agent/handoffs/*.md": slices.Concat(
		each(runs, "git agent-handoff write", "DOCUMENT"),
		each(asks, "git agent-handoff write",
			"'DOCUMENT'", "--mission MISSION DOCUMENT", "--exit-type crash DOCUMENT", "--agent x DOCUMENT", "--summary x DOCUMENT",
			"--question x DOCUMENT", "--log /etc/passwd DOCUMENT", "--tmux %0 DOCUMENT", "--wake DOCUMENT", "-C OTHER DOCUMENT",
			"DOCUMENT --wake", "DOCUMENT --no-pager", "DOCUMENT --version"),
		each(barred, "git agent-handoff write",
			"ELSE", "/etc/git-agent/handoffs/../../passwd.md", "DOCUMENT --mission MISSION --agent x.md", "DOCUMENT -C OTHER --agent x.md"),
	),
}

// shapes are what a shell can make of a command that is allowed, which stands for {C}; {G} is what is behind git in it, and
// {ALL} a command that is allowed with anything behind it.
var shapes = slices.Concat(
	// The client knows what a shell makes of these: the command, and others that only read.
	each(runs, "",
		"{C}", "  {C}", "{C} # a comment", "# a comment\n{C}", "{C}; true", "true && {C}", "{C} || true", "{C}\n{C}", "! {C}",
		"if true; then {C}; fi", "for i in 1; do {C}; done", "X=$({C})", "{C} | cat", "{C} | head -3", "{C} && git status",
		"'git' {G}", "NO_COLOR=1 {C}", "timeout 5 {C}", "nice {C}", "time {C}",
		"{C} 2>&1", "{C} >/dev/null 2>&1", "{C} < README.md", "cat README.md | {C}",
	),
	// Another command before it, behind it or in it, or one that the client does not see through.
	each(asks, "",
		"{C}; rm kept", "{C} && rm kept", "{C} || rm kept", "{C} & rm kept", "{C} &", "{C}\nrm kept", "rm kept; {C}",
		"{C} | sh", "{C} | tee kept", "{C} | xargs rm", "{C} $(rm kept)", "{C} `rm kept`", "{C} \"$(rm kept)\"", "{C} <(rm kept)",
		"{C} <<'EOF'\nx\nEOF\nrm kept", "{C} <<'EOF'; rm kept\nx\nEOF", "{C} <<EOF\n$(rm kept)\nEOF", "{C} <<EOF\nx\nEOF",
		"echo $({C})", "({C})", "{ {C}; }", "f() { {C}; }; f", "sh -c '{C}'", "eval '{C}'", "exec {C}", "sudo {C}", "setsid {C}",
		"trap 'rm kept' EXIT; {C}", "alias git=rm; {C}",
		"{C} $X", "{C} ${X:-y}", "{C} $'x'", "{C} {a,b}", "{C} a\\ b", "{C} \u00a0x", "{C}\\",
	),
	// Another file.
	each(asks, "",
		"{C} > kept", "{C} >> kept", "{C} 2> kept", "{C} &> kept", "{C} > ../kept", "{C} < /etc/passwd", "{C} < ~/.claude.json",
		"cat /etc/passwd | {C}", "env | {C}", "tmux capture-pane -p | {C}",
	),
	// Another repository, terminal, home or program, or nobody's agent.
	each(asks, "",
		"cd OTHER && {C}", "cd OTHER; {C}", "cd src && {C}", "pushd OTHER && {C}", "git -C OTHER {G}", "git --git-dir=OTHER/.git {G}",
		"git --exec-path=OTHER {G}", "git -c a.b=c {G}", "git --no-pager {G}", "/usr/bin/git {G}", "export GIT_DIR=x; {C}",
		"GIT_DIR=OTHER/.git {C}", "GIT_DIR=x {C}", "GIT_WORK_TREE=x {C}", "GIT_TRACE=x {C}", "GIT_PAGER=cat {C}", "PAGER=cat {C}",
		"TMUX_PANE=%0 {C}", "TMUX_PANE=x {C}", "CLAUDECODE= {C}", "unset CLAUDECODE; {C}", "env {C}", "env -i {C}",
		"env -u CLAUDECODE {C}", "CLAUDE_CODE_SESSION_ID=x {C}", "GIT_AGENT_MISSION=x {C}", "HOME=x {C}", "XDG_DATA_HOME=x {C}",
		"PATH=OTHER:$PATH {C}", "PATH=x {C}", "LD_PRELOAD=x {C}",
	),
	each(runs, "", "{ALL} 'x; rm kept'", "{ALL} \"x; rm kept\"", "{ALL} *", "{ALL} x"),
)

// allowed returns the rules of a skill or a command of the plugin.
func (r *rig) allowed(file string) []string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.marketplace(), "plugin", file))
	gittest.Must(r.t, err)
	line := regexp.MustCompile(`(?m)^allowed-tools: (.*)$`).FindSubmatch(text)
	if line == nil {
		r.t.Fatalf("%s allows nothing", file)
	}
	var rules []string
	for tool := range strings.SplitSeq(string(line[1]), ", ") {
		rules = append(rules, strings.TrimSuffix(strings.TrimPrefix(tool, "Bash("), ")"))
	}
	return rules
}

// Each command that a skill or a command of the plugin allows, with each of its flags, and in each shape that a shell takes.
func TestPermissions(t *testing.T) {
	t.Parallel()
	r := newPluginRig(t, false)
	r.mock.play(on("TWRITE", bash("git agent-handoff write --summary 'see XYZZY'"), say("AWRITE done")))
	first := passive(r.claude(r.repo.Dir, "TWRITE hello").ok().session())
	other := filepath.Join(r.home, "other")
	r.repo.Git("clone", "-q", ".", other)
	r.repo.Write("kept", "kept\n")
	handoffs := filepath.Join(r.home, ".local", "share", "git-agent", "handoffs")
	gittest.Must(t, os.MkdirAll(handoffs, 0o700))
	document := func(name string) string {
		path := filepath.Join(handoffs, name+".md")
		gittest.Must(t, os.WriteFile(path, []byte("Go on.\n"), 0o600))
		return path
	}
	names := []string{"TURN", first + "/1", "MISSION", first, "HANDOFF", first + "/1", "OTHER", other, "ELSE", document("else")}

	r.asks = true
	tried := make(map[string]bool)
	for i, g := range []struct{ file, prompt, text string }{
		{"commands/turns.md", "/git-agent:turns", "If a turn is named here"},
		{"commands/search.md", "/git-agent:search hello", "with these words, each quoted"},
		{"commands/fork.md", "/git-agent:fork", "wants to go back to a turn"},
		{"commands/handoff.md", "/git-agent:handoff", "Hand off as the skill"},
		{"skills/hand-off/SKILL.md", "/git-agent:hand-off", "# Hand off"},
		{"skills/search-past/SKILL.md", "/git-agent:search-past", "# Search the past"},
		{"skills/go-back/SKILL.md", "/git-agent:go-back", "# Go back"},
	} {
		rules := r.allowed(g.file)
		var tries []try
		for rule, all := range permissions {
			switch {
			case !slices.Contains(rules, rule):
				tries = append(tries, try{asks, all[0].line})
			case tried[rule] && !gittest.Whole():
				tries = append(tries, all[0])
			default:
				tries = append(tries, all...)
				tried[rule] = true
			}
		}
		for _, rule := range rules {
			if permissions[rule] == nil {
				t.Errorf("%s allows %q, of which nobody has said what comes of it", g.file, rule)
			}
		}
		if g.file == "skills/hand-off/SKILL.md" {
			tries = append(tries, shaped("git agent-handoff write -", false)...)
			tries = append(tries, shaped("git agent-handoff show", true)...)
		}
		session := fmt.Sprintf("0d0c5e55-0000-4000-8000-0000a5e55%03d", i)
		replace := strings.NewReplacer(append(names, "DOCUMENT", document(session))...)
		var lines []string
		for _, x := range tries {
			lines = append(lines, replace.Replace(x.line))
		}
		for i, got := range r.tools(g.prompt, g.text, lines, "--session-id", session) {
			if want := tries[i].want; got.outcome() != want {
				t.Errorf("%s: %q: %s, want %s: %s", g.file, lines[i], got.outcome(), want, got.said)
			}
		}
	}
	if r.repo.Read("kept") != "kept\n" {
		t.Error("the client let the agent change a file")
	}
	for rule, tries := range permissions {
		if !tried[rule] {
			t.Errorf("no skill and no command allows %q", rule)
		}
		words := strings.Fields(rule)
		command := strings.TrimSuffix(words[2], ":*")
		for _, flag := range slices.Concat(flagsOf(t, "git-"+words[1], command), flagsOf(t, "git-"+words[1])) {
			if !slices.ContainsFunc(tries, func(x try) bool { return slices.Contains(strings.Fields(x.line), flag) }) {
				t.Errorf("%q: nobody has said what comes of %s", rule, flag)
			}
		}
	}
}

// shaped are the shapes of a command; open says whether it is allowed with anything behind it.
func shaped(command string, open bool) []try {
	replace := strings.NewReplacer("{C}", command, "{ALL}", command, "{G}", strings.TrimPrefix(command, "git "))
	var all []try
	for _, x := range shapes {
		if strings.HasPrefix(x.line, "{ALL}") && !open {
			x.want = asks
		}
		all = append(all, try{x.want, replace.Replace(x.line)})
	}
	return all
}

// flagsOf are the flags that a command proposes to the shell.
func flagsOf(t *testing.T, command string, words ...string) []string {
	t.Helper()
	out, err := exec.Command(command, append(words, "-", "--generate-bash-completion")...).Output()
	gittest.Must(t, err)
	var flags []string
	for line := range strings.Lines(string(out)) {
		flag, _, _ := strings.Cut(line, "\t")
		flags = append(flags, flag)
	}
	if len(flags) == 0 {
		t.Errorf("%s %q has no flags", command, words)
	}
	return flags
}

// The agent picks a skill itself: the client asks for a skill that allows something. What it allows ends with the turn.
func TestPermissionsEnd(t *testing.T) {
	t.Parallel()
	r := newPluginRig(t, false)
	r.asks = true
	list := bash("git agent-turn list --trusted")
	r.mock.play(
		on("TSKILL", reply{"tool": "Skill", "input": map[string]any{"skill": "git-agent:search-past"}}, list, say("ASKILL done")),
		rule{Match: "If a turn is named here", Steps: []reply{list, say("ATURNS done")}},
		on("TLIST", list, say("ALIST done")))
	d := r.driven()
	for i, prompt := range []string{"TSKILL hello", "/git-agent:turns", "TLIST hello"} {
		d.ask(prompt)
		r.stops(i + 1)
	}
	d.leave()
	var denied []string
	for _, x := range d.denied {
		denied = append(denied, x.Tool)
	}
	if want := []string{"Skill", "Bash", "Bash"}; !slices.Equal(denied, want) {
		t.Errorf("the client asked for %q, want %q: the skill and the list without it, and after the command's turn the list", denied, want)
	}
}

// A called is a tool call of the agent's.
type called struct {
	id     string
	denied bool   // the client did not run it
	failed bool   // with an error
	said   string // what the agent was told
}

// outcome is what has come of a command line.
func (c called) outcome() outcome {
	switch {
	case c.denied:
		return asks
	case c.failed && strings.Contains(c.said, "an agent may not"):
		return barred
	}
	return runs
}

// tools has the agent call Bash with some command lines in the turn of a prompt, of which the model sees a text, and returns
// what came of each.
func (r *rig) tools(prompt, text string, lines []string, args ...string) []called {
	r.t.Helper()
	all := make([]called, len(lines))
	var steps []reply
	for i, line := range lines {
		all[i].id = fmt.Sprintf("toolu_%06d", i)
		steps = append(steps, reply{"content": []any{map[string]any{
			"type": "tool_use", "id": all[i].id, "name": "Bash", "input": map[string]any{"command": line, "description": "run"},
		}}})
	}
	r.mock.play(rule{Match: text, Steps: append(steps, say("done"))})
	h := r.claude(r.repo.Dir, prompt, args...).ok()
	// A plugin's hook at the end goes on without the client.
	store := state.Open(filepath.Join(r.repo.Dir, ".git"))
	r.await("the end of the session", func() bool { return store.Load(h.session()).HandedOff })
	told := h.told()
	for i := range all {
		c := &all[i]
		if j := slices.IndexFunc(told, func(x called) bool { return x.id == c.id }); j >= 0 {
			*c = told[j]
		} else {
			r.t.Errorf("nothing came of %q", lines[i])
		}
		c.denied = slices.ContainsFunc(h.denied, func(d denial) bool { return d.ID == c.id })
	}
	return all
}

// told is what the agent was told of its tool calls.
func (h *headless) told() []called {
	h.r.t.Helper()
	var all []called
	for line := range strings.Lines(h.stdout.String()) {
		var m struct {
			Type    string
			Message struct{ Content json.RawMessage }
		}
		var results []struct {
			ID      string `json:"tool_use_id"`
			Content any
			IsError bool `json:"is_error"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Type != "user" || json.Unmarshal(m.Message.Content, &results) != nil {
			continue
		}
		for _, x := range results {
			all = append(all, called{id: x.ID, failed: x.IsError, said: fmt.Sprint(x.Content)})
		}
	}
	return all
}

// What we refuse to an agent whose user allows the client everything: it changes nothing, and says what a person can do.
func TestBarred(t *testing.T) {
	t.Parallel()
	r := newPluginRig(t, false)
	host := gittest.New(t, "--bare")
	r.repo.Git("remote", "add", "origin", host.Dir)
	other := filepath.Join(r.home, "other")
	r.repo.Git("clone", "-q", ".", other)
	r.command(other, "init")
	for _, dir := range []string{r.repo.Dir, other} {
		r.claude(dir, "T1 hello").ok()
	}
	mission := r.list()[0].Mission
	const secret = "XYZZY PLUGH"
	outside := filepath.Join(r.home, "outside")
	gittest.Must(t, os.Mkdir(outside, 0o700))
	for name, text := range map[string]string{
		"secret.txt": secret,
		"talk.jsonl": `{"type":"user","message":{"role":"user","content":"` + secret + `"}}`,
		"key.pub":    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZpcnN0IGtleSBvZiBub2JvZHkgaW4gdGhpcyB3b3Js",
	} {
		gittest.Must(t, os.WriteFile(filepath.Join(outside, name), []byte(text+"\n"), 0o600))
	}
	gittest.Must(t, os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(r.repo.Dir, "link.txt")))
	gittest.Must(t, os.Symlink(outside, filepath.Join(r.repo.Dir, "dir")))
	// The agent's own pane is the first one.
	term := newTerminal(t, r.env(), r.home, "cat")
	term.tmux("new-window", "-d", "--", "sh", "-c", "echo "+secret+"; cat")
	r.await("the other pane", func() bool { return strings.Contains(term.tmux("capture-pane", "-p", "-t", "%1"), secret) })
	r.vars = append(r.vars, "TMUX="+term.tmux("display-message", "-p", "#{socket_path},#{pid},0"), "TMUX_PANE=%0")

	const session = "0ba22ed0-0000-4000-8000-00000ba22ed0"
	lines := strings.Split(strings.NewReplacer("REPO", r.repo.Dir, "OUTSIDE", outside, "OTHER", other, "MISSION", mission).Replace(`
git agent-handoff write OUTSIDE/secret.txt
git agent-handoff write link.txt
git agent-handoff write dir/secret.txt
git agent-handoff write --summary x --log OUTSIDE/secret.txt
git agent-handoff write --tmux %1 --summary x
git agent-handoff write --tmux %1 --wake --summary x
git agent-handoff wake --tmux %1
git agent-handoff log start --tmux %1
git agent-handoff log show OUTSIDE/secret.txt
git agent-handoff write --mission MISSION --summary x
git agent-handoff write --mission MISSION --exit-type crash
git agent-turn record --session 5e550000-0000-4000-8000-0000aaaaaaaa --prompt x
git agent-turn record --transcript OUTSIDE/talk.jsonl --prompt x
git agent-handoff accept MISSION/1
git -C OTHER agent-handoff write --summary x
git agent-handoff -C OTHER write --summary x
git -C OTHER agent-turn list
git agent-turn list --trusted -C OTHER
GIT_DIR=OTHER/.git git agent-turn list
git --git-dir=OTHER/.git --work-tree=. agent-turn list
cd OUTSIDE && git --git-dir=REPO/.git --work-tree=. agent-handoff write --summary x
cd OTHER && git agent-turn show --conversation
git -C OTHER agent-handoff show
printf '%s\n' '\w{4,}' | git agent-turn purge --match --yes
printf '%s\n' '\w{4,}' | env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID -u AI_AGENT git agent-turn purge --match --yes
git agent-turn purge --mission MISSION --yes
git agent-turn purge --push --yes
git agent-turn trust add somebody OUTSIDE/key.pub
git agent-turn trust remove somebody
git agent-turn trust accept MISSION
git agent-turn init --push origin
git agent-turn init --remove
git agent-turn remove MISSION
git agent-turn remove --all --yes
git agent-turn archive MISSION`)[1:], "\n")
	state := func() string {
		var b strings.Builder
		for _, dir := range []string{r.repo.Dir, other, host.Dir} {
			for _, args := range [][]string{{"for-each-ref"}, {"config", "--local", "--list"}} {
				out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
				gittest.Must(t, err)
				for line := range strings.Lines(string(out)) {
					recorded := strings.Contains(line, passive(session)) || strings.Contains(line, "refs/agent/kept/") // the turn itself
					if !recorded {
						fmt.Fprintf(&b, "%s: %s", dir, line)
					}
				}
			}
		}
		for _, pattern := range []string{".config/git-agent/*", ".claude/*.json", ".local/share/git-agent/handoffs/*", "repo/.git/agent/enabled"} {
			names, err := filepath.Glob(filepath.Join(r.home, pattern))
			gittest.Must(t, err)
			for _, name := range names {
				text, _ := os.ReadFile(name)
				fmt.Fprintf(&b, "%s: %q\n", name, text)
			}
		}
		return b.String() + term.tmux("capture-pane", "-p", "-t", "%1")
	}
	before := state()
	person := regexp.MustCompile(`(?m)^git-agent-[a-z]+: hint: a person may, on a terminal of their own: git -C \S+ (--git-dir=\S+ (--work-tree=\S+ )?)?agent-`)
	for i, got := range r.tools("TBARRED hello", `(^|\n)TBARRED\b`, lines, "--session-id", session) {
		if got.outcome() != barred || !person.MatchString(got.said) {
			t.Errorf("%q: %s", lines[i], got.said)
		}
	}
	if after := state(); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	if list := r.handoff(r.repo.Dir, "list", "--all", "--json"); strings.Contains(list, "progress_summary\":\"x\"") {
		t.Errorf("the agent has handed off: %s", list)
	}
	for _, object := range strings.Fields(r.repo.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		if strings.Contains(r.repo.Git("cat-file", "-p", object), secret) {
			t.Errorf("%s has the text of a file or a terminal that is not the session's", object)
		}
	}
}
