//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"gitagent/test/gittest"
)

// handing is the end of a sub-agent that has a worktree of its own.
func handing(l *lab) command {
	dir := l.helper()
	return l.leaves(dir, map[string]any{"hook_event_name": "SubagentStop", "cwd": dir, "agent_id": filepath.Base(dir)})
}

// removing is a command that is about to remove a worktree of the agent's.
func removing(l *lab) command {
	dir := l.helper()
	command := map[string]any{"command": "git worktree remove --force " + dir}
	l.undisturbed("the step before", l.ran("Bash", map[string]any{"command": "make -C " + dir}, func() {}))
	return l.leaves(dir, map[string]any{
		"hook_event_name": "PreToolUse", "cwd": l.Dir, "tool_name": "Bash", "tool_use_id": "t" + filepath.Base(dir),
		"tool_input": command,
	})
}

// taking is the end of a turn that takes what a removed worktree held.
func taking(l *lab) command {
	c := handing(l)
	l.undisturbed("SubagentStop", c)
	dir := l.going
	l.removed(dir)
	c = l.stopped()
	c.then = func(l *lab, _ result) { l.took(dir) }
	return c
}

// helper makes a worktree in a turn, and works there.
func (l *lab) helper() string {
	l.t.Helper()
	if l.enter(); !l.c.Busy() {
		l.undisturbed("UserPromptSubmit", l.prompted())
	}
	dir := l.place()
	l.going, l.used = dir, dir
	l.try("make a worktree", "worktree", "add", "-q", "--detach", dir)
	l.main.In(dir).Write("helped", filepath.Base(dir)+"\n")
	return dir
}

// leaves is the hook after which a worktree is removed.
func (l *lab) leaves(dir string, payload map[string]any) command {
	payload["session_id"], payload["transcript_path"] = l.c.Session, l.c.Path
	stdin, err := json.Marshal(payload)
	gittest.Must(l.t, err)
	c := command{args: []string{"git-agent-handoff", "hook"}, stdin: stdin, env: []string{fmt.Sprintf("CLAUDE_PID=%d", l.process.Process.Pid)}}
	c.then = func(l *lab, _ result) {
		l.undisturbed("once more", c)
		l.removed(dir)
		l.turn()
		l.took(dir)
	}
	return c
}

// removed removes a worktree, and what git need not keep.
func (l *lab) removed(dir string) {
	l.t.Helper()
	l.family.Await()
	l.try("remove a worktree", "worktree", "remove", "--force", dir)
	l.try("collect garbage", "gc", "-q", "--prune=now")
	l.going, l.used = "", ""
}

// took checks that one turn has what a worktree held.
func (l *lab) took(dir string) {
	l.t.Helper()
	found := 0
	out := l.must(command{args: []string{"git-agent-turn", "list", "--json", "--mission", l.mission()}}).stdout
	for line := range strings.Lines(out) {
		var t struct{ Worktrees []struct{ Name, Code string } }
		gittest.Must(l.t, json.Unmarshal([]byte(line), &t))
		for _, w := range t.Worktrees {
			if w.Name != filepath.Base(dir) {
				continue
			}
			found++
			if file, err := l.main.Try("cat-file", "blob", w.Code+":helped"); err != nil || file != w.Name {
				l.find("a worktree's work is lost", "%s: %v, %q", w.Name, err, file)
			}
		}
	}
	if found != 1 {
		l.find("a worktree is not in one turn", "%s is in %d", dir, found)
	}
}
