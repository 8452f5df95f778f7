//go:build unix

package same

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A speaker draws what is said to the programs in a place.
type speaker struct {
	*rand.Rand
	place *place
	twins *twins
}

func (s *speaker) pick(from ...string) string {
	if len(from) == 0 {
		return ""
	}
	return from[s.IntN(len(from))]
}

func (s *speaker) chance(percent int) bool { return s.IntN(100) < percent }

// odd are words that nobody expects.
var odd = []string{
	"", " ", "-", "--", "..", "../x", "HEAD", "@", "/", "x y", "ü", "\x1b[31m", "%s", "$(id)", "ffffffff", "0", "-1", "1e9", "999999999999", "deadbeef/1", "a/b/c", "refs/heads/main",
	":!x", "*", strings.Repeat("a", 300), "\xff", "A1B2C3D4", "all", "none", "--help",
}

func (s *speaker) mission() string {
	switch n := s.IntN(100); {
	case n < 8 && len(s.twins.pairs) > 0: // one that came up in this walk
		return mark(s.IntN(len(s.twins.pairs)))
	case n < 12:
		return s.pick(odd...)
	case n < 22:
		id := s.pick(append(s.place.missions, "ffffffff")...)
		return id[:min(len(id), 3+s.IntN(5))]
	}
	return s.pick(append(s.place.missions, "a1b2c3d4")...)
}

// mark stands for a pair of twins in a word until it is known whose turn it is.
func mark(pair int) string { return fmt.Sprintf("\x01%d\x02", pair) }

func (s *speaker) number() string {
	return s.pick("1", "1", "2", "2", "3", "4", "5", "7", "12", "0", "01", "130", "999", "-1")
}

func (s *speaker) turn() string {
	switch s.IntN(12) {
	case 0:
		return s.mission()
	case 1:
		return s.pick(odd...)
	case 2:
		return s.commit()
	case 3:
		return s.number() + s.pick("^", "^", "~", ".1", ".2", "^1")
	case 4, 5, 6:
		return s.number()
	case 7:
		return s.mission() + "/" + s.number() + s.pick("^", "", ".1", "/2")
	}
	return s.mission() + "/" + s.number()
}

func (s *speaker) commit() string {
	switch s.IntN(8) {
	case 0:
		return "HEAD~" + s.pick("1", "2", "3", "40", "")
	case 1:
		return s.pick(odd...)
	case 2:
		return s.pick("HEAD^{tree}", "HEAD:a.txt", ":/first", "main@{0}", "refs/notes/agent/a1b2c3d4", "stash")
	case 3, 4:
		return "HEAD"
	}
	return s.pick(append(s.place.revs, "main")...)
}

func (s *speaker) span() string {
	switch s.IntN(4) {
	case 0:
		return s.number() + ".." + s.number()
	case 1:
		return s.turn() + ".." + s.turn()
	case 2:
		return s.mission() + "/" + s.number() + ".." + s.number()
	}
	return s.pick("..", "..2", "1..", "2..1")
}

func (s *speaker) commits() string {
	return s.pick("HEAD~3..HEAD", "HEAD~1..", "..HEAD", "HEAD~8..", "main..HEAD", s.commit()+".."+s.commit(), s.commit(), s.commit()+"..."+s.commit())
}

func (s *speaker) file() string {
	if s.chance(15) {
		return s.pick("nope", ".", "src", "./a.txt", "../a.txt", ":(glob)**/*.txt", "*.txt", ":!a.txt", s.pick(odd...))
	}
	return s.pick(append(s.place.files, "a.txt")...)
}

func (s *speaker) text() string {
	return s.pick("line", "form", "flibbertigibbet", "done", "a fork", "ü", "func", "[", ".*", "(?i)FORM", "^done", "hunter2-secret", "prompt", "x{1001}", "zyzzyva", "Another way", "\\", "5$", s.pick(odd...))
}

func (s *speaker) line() string {
	return s.pick(s.number(), s.number()+"-"+s.number(), "3,5", "/form/", "/line/", "40", "1-40", "999999", "$", "+3")
}

// value draws a value for what stands for one in a command's help.
func (s *speaker) value(v verb, o option) string {
	if s.chance(3) {
		return s.pick(odd...)
	}
	switch o.name {
	case "-L":
		return s.pick("3,5", "1,+4", ",10", "/line/,+2", "5,3", "999,", ":func", "3")
	case "--good", "--bad":
		return s.turn()
	case "--split":
		return s.pick("1", "2", "1-2", "1,3", "1-3,4", "2-1", "x")
	case "--agent":
		return s.pick("claude", "codex", "gemini", "opencode", "pi", "copilot", "qwen", "droid", "kilo", "claude-code", "nobody")
	case "--commits":
		return s.pick("pick", "merge", "x")
	case "--format":
		return s.pick("agent-trace", "git-ai", "x")
	case "--outcome":
		return s.pick("done", "failed", "interrupted", "running", "x")
	case "--exit-type":
		return s.pick("clean", "crash", "killed", "x")
	case "--in":
		return s.pick("prompt", "reply", "tools", "paths", "agents", "handoffs", "x")
	case "--without":
		return s.pick("transcript", "code", "results", "x")
	case "--older-than":
		return s.pick("90d", "1d", "0h", "12w", "1h", "100000d", "3", "x")
	case "--push":
		if o.value != "" {
			return s.pick("origin", "nowhere", ".")
		}
	case "--session":
		return s.pick("5b603d06-0000-4000-8000-0000a1b2c3d4", "5b603d06-0000-4000-8000-000012121212", "x")
	case "--transcript":
		return s.pick("$HOME/conversation.jsonl", "$HOME/.claude/nope.jsonl", "a.txt")
	case "--worktree":
		return s.pick("$HOME/w1", "$HOME/w2", "../w3", "src", "$HOME/linked")
	case "--out":
		return s.pick("$HOME/page.html", "page.html", "src", "/nowhere/x")
	case "--onto":
		return s.pick("main", "side", "nowhere", "linked")
	case "--from":
		return s.commit()
	case "--setup", "--check":
		return s.pick("true", "false", "echo set up >setup.txt", "cat a.txt", "exit 7", "kill -9 $$")
	case "--include":
		return s.pick("*.ignored", "build/", "!x", "/")
	case "--path":
		return s.file()
	case "--turn":
		return s.turn()
	case "--handoff":
		return s.pick("1", "2", "3", s.mission()+"/1")
	case "--tmux":
		return s.pick("%0", "nowhere:1.2", "x")
	case "--except":
		return s.pick("gitdir:~/clients/", "gitdir:$HOME/repo/", "hasconfig:remote.*.url:https://example.invalid/**", "gitdir/i:x")
	case "--remote":
		return s.pick("origin", "nowhere")
	case "-C":
		if v.program != "" && len(v.words) == 0 {
			return s.pick("$HOME/"+s.pick(s.place.dirs...), "src", "$HOME", "/", "nowhere", ".git")
		}
	case "--times", "--jobs":
		return s.pick("1", "2", "3", "0", "-1", "x")
	case "--attempts":
		return s.pick("1", "2", "0", "x")
	case "--tail", "--tokens", "-U", "--unified":
		return s.pick("0", "1", "3", "100", "400", "100000", "-1", "x")
	case "--choose":
		return s.pick("show", "diff", "x")
	}
	switch o.value {
	case "<id>":
		return s.mission()
	case "<k>", "<n>":
		return s.pick("0", "1", "2", "3", "10", "1000", "-1", "x", "1.5", "")
	case "<date>":
		return s.pick("2026-11-19", "2026-11-21", "2024-06-01", "1970-01-01", "yesterday", "1 week ago", "never", "2026-13-45", "@1700000000", "now", "x")
	case "<pattern>", "<text>", "<message>":
		return s.text()
	}
	return s.pick(s.text(), s.mission(), s.file(), s.number())
}

// arguments draws what follows a command's flags.
func (s *speaker) arguments(v verb) []string {
	if s.chance(2) {
		return []string{s.pick(odd...), s.pick(odd...)}
	}
	optional := func(percent int, draw func() string) []string {
		if s.chance(percent) {
			return []string{draw()}
		}
		return nil
	}
	paths := func(percent int) (list []string) {
		if s.chance(percent) {
			for list = []string{"--", s.file()}; s.chance(25); {
				list = append(list, s.file())
			}
		}
		return list
	}
	state := func() string {
		return s.pick(s.turn(), s.turn(), s.commit(), s.span(), "@", "now")
	}
	switch name := strings.Join(v.words, " "); v.program + " " + name {
	case "git-agent-turn list":
		return paths(20)
	case "git-agent-turn show":
		return optional(85, func() string { return s.pick(s.turn(), s.turn(), s.turn(), s.span(), s.commit(), s.mission()) })
	case "git-agent-turn search":
		list := []string{s.text()}
		for s.chance(25) {
			list = append(list, s.text())
		}
		return list
	case "git-agent-turn diff":
		return append(append(optional(85, state), optional(35, state)...), paths(20)...)
	case "git-agent-turn log":
		return append(optional(50, s.commits), paths(30)...)
	case "git-agent-turn blame":
		return append(append(optional(30, func() string { return s.pick(s.commit(), s.turn()) }), optional(30, func() string { return "--" })...), s.file())
	case "git-agent-turn why":
		if s.chance(50) {
			return []string{s.file() + ":" + s.line()}
		}
		return []string{s.file(), s.pick(s.line(), s.text())}
	case "git-agent-turn recall":
		return []string{s.pick(s.file(), s.file()+":"+s.line())}
	case "git-agent-turn summary", "git-agent-turn export":
		return optional(70, s.commits)
	case "git-agent-turn page", "git-agent-turn archive":
		return append(optional(75, s.mission), optional(25, s.mission)...)
	case "git-agent-turn reviewed":
		return optional(70, s.turn)
	case "git-agent-turn restore":
		return append(optional(95, state), paths(25)...)
	case "git-agent-turn revert":
		return optional(95, func() string { return s.pick(s.turn(), s.turn(), s.span()) })
	case "git-agent-turn bisect":
		return optional(100, func() string { return "--" })[:s.IntN(2)]
	case "git-agent-turn finish":
		return optional(80, s.mission)
	case "git-agent-turn push", "git-agent-turn fetch":
		return optional(50, func() string { return s.pick("origin", "origin", "nowhere", "$HOME/up.git", ".") })
	case "git-agent-turn trust add":
		return []string{s.pick("colleague", "x y", ""), s.pick("$HOME/colleague.pub", "ssh-ed25519 AAAA", "")}
	case "git-agent-turn trust remove":
		return []string{s.pick("colleague", "nobody")}
	case "git-agent-turn trust accept", "git-agent-turn remove":
		return optional(80, s.mission)
	case "git-agent-handoff show", "git-agent-handoff restore", "git-agent-handoff prime", "git-agent-handoff accept":
		return optional(75, func() string { return s.pick("1", "2", "3", "0", s.mission(), s.mission()+"/1", s.mission()+"/2") })
	case "git-agent-handoff grep":
		return []string{s.text()}
	case "git-agent-handoff write":
		return optional(60, func() string { return s.pick("-", "a.txt", "nope.md") })
	case "git-agent-handoff context":
		return optional(40, func() string { return s.pick("5b603d06-0000-4000-8000-0000a1b2c3d4", "x") })
	case "git-agent-handoff retry":
		return append([]string{"--"}, s.pick("notes", "false", "true", "nowhere", "cat"), "{prompt}")
	case "git-agent-handoff log start", "git-agent-handoff log show":
		return optional(70, func() string { return s.pick("a.txt", "bin", "nope", "$HOME/terminal.log") })
	case "git-agent-fork ":
		return optional(90, func() string { return s.pick(s.turn(), s.turn(), s.turn(), s.commit()) })
	case "git-agent-fork compare":
		return append(optional(90, s.turn), optional(40, s.turn)...)
	case "git-agent-fork adopt":
		return optional(95, func() string { return s.pick(s.mission(), s.mission(), s.turn()) })
	}
	if s.chance(10) {
		return []string{s.pick(odd...)}
	}
	return nil
}
