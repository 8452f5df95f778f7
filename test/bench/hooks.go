package main

import (
	"os"
	"path/filepath"
	"strings"
)

// with is the lab with another program in the place of git-agent-turn.
func (l *lab) with(program string) *lab {
	other := *l
	other.program = program
	return &other
}

// hooked measures the hooks of a turn, of this build and of the older one, each in a repository of its own, beside the
// line of shell that a person would put there in a third; and the hook after a batch of tool calls, and the start of a
// hook that has nothing to do, beside an empty Go program.
func hooked(l *lab) {
	contestHeading()
	t := l.newTwins("hooked", smallFiles)
	sessions := map[build]*session{l.now(): t.hook.newSession()}
	if l.before != "" {
		older := l.with(l.before.program("git-agent-turn")).newTwins("hooked-before", smallFiles)
		sessions[l.before] = older.hook.newSession()
	}
	var prompts, stops contestRounds
	for range warmUp + l.times(smallTimes) {
		for _, b := range prompts.order(l) {
			if s := sessions[b]; s != nil {
				prompt, stop := s.turn()
				prompts.add(b, prompt)
				stops.add(b, stop)
				continue
			}
			t.base.change()
			base := t.base.commitAll()
			prompts.add(b, base)
			stops.add(b, base)
		}
	}
	stops.print(l, "Stop, 100 files, two changed", "/git 0.65, cpu/before 0.75")
	prompts.print(l, "UserPromptSubmit", "/git 0.45, cpu/before 0.75")
	for _, s := range sessions {
		s.check(2)
	}
	l.starts()
}

// starts measures what has nothing to do with git beside an empty Go program.
func (l *lab) starts() {
	source := filepath.Join(l.dir, "empty.go")
	check(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o666))
	empty := l.build("empty", source)
	r := l.newRepository("starts", smallFiles)
	r.enable()
	s := r.newSession()
	s.turn()
	call := map[string]any{
		"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": map[string]any{"command": "make test"},
		"tool_response": strings.Repeat("ok  \tan/example/package\t0.123s\n", 500),
	}
	batch := s.payload("PostToolBatch", fields{"prompt_id": s.writer.promptID, "tool_calls": []any{call}})
	nothing := func() sample { return l.measure(r.dir, nil, nil, empty) }
	for _, c := range []contest{
		{"PostToolBatch, beside an empty Go program", "1.6", func(b build) sample {
			return l.measure(r.dir, nil, batch, b.program("git-agent-handoff"), "hook", "--agent", "claude-code")
		}, nothing},
		{"the start of a hook, beside an empty Go program", "1.25", func(b build) sample {
			return l.measure(r.dir, []string{"GIT_AGENT_DISABLE=1"}, nil, b.program("git-agent-turn"), "hook")
		}, nothing},
	} {
		l.play(c)
	}
}
