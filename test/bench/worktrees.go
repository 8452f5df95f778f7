package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// worktrees measures what a repository's linked worktrees cost each event, against the same in one
// that has none: those in which sub-agents of the session work in every turn, and 200 others.
func worktrees(l *lab) {
	var bare map[string]series
	heading()
	for _, c := range []struct{ linked, used int }{{0, 0}, {1, 1}, {4, 4}, {200, 0}} {
		took := l.worktrees(c.linked, c.used)
		if c.linked == 0 {
			bare = took
		}
		for _, event := range []string{"PostToolBatch, an edit", "PostToolBatch, a command", "Stop"} {
			compare(fmt.Sprintf("%s, %d worktrees, %d used", event, c.linked, c.used), took[event], bare[event], "")
		}
		if c.used > 0 {
			alone(fmt.Sprintf("SubagentStop, %d worktrees", c.linked), took["SubagentStop"], "")
		}
	}
}

// worktrees returns what events take in a repository with linked worktrees, of which sub-agents use some.
func (l *lab) worktrees(linked, used int) map[string]series {
	r := l.newRepository(fmt.Sprintf("worktrees%d", linked), smallFiles)
	r.enable()
	dirs := make([]string, linked)
	for i := range dirs {
		dirs[i] = filepath.Join(l.dir, fmt.Sprintf("linked%d", linked), fmt.Sprint("agent-", i))
		r.git("worktree", "add", "-q", "--detach", dirs[i])
	}
	turn, handoff := r.lab, *l
	handoff.program = l.now().program("git-agent-handoff")
	s := r.newSession()
	took := make(map[string]series)
	for i := range warmUp + l.times(smallTimes) {
		note := func(event string, x sample) {
			if i >= warmUp {
				took[event] = append(took[event], x)
			}
		}
		s.prompt()
		r.change()
		r.lab = &handoff
		ran := func(tool string, input fields) sample {
			r.rest()
			return s.hook(s.payload("PostToolBatch", fields{"prompt_id": s.writer.promptID, "tool_calls": []any{
				fields{"tool_name": tool, "tool_use_id": fmt.Sprint("toolu_", tool, i), "tool_input": input, "tool_response": "ok"},
			}}))
		}
		note("PostToolBatch, an edit", ran("Edit", fields{"file_path": filepath.Join(r.dir, path(7))}))
		note("PostToolBatch, a command", ran("Bash", fields{"command": "make test"}))
		for n, dir := range dirs[:used] {
			check(os.WriteFile(filepath.Join(dir, path(7)), []byte(source(7, i+1)), 0o666))
			note("SubagentStop", s.hook(s.payload("SubagentStop", fields{"prompt_id": s.writer.promptID, "cwd": dir, "agent_id": fmt.Sprint(n)})))
		}
		r.lab = turn
		s.write()
		note("Stop", s.stop())
	}
	s.check(-1)
	return took
}
