//go:build unix

package kill

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// editing is a tool that has edited a file, after a command that has left the state to go on from.
func editing(l *lab) command {
	l.undisturbed("the step before", running(l))
	l.n++
	return l.ran("Edit", map[string]any{"file_path": filepath.Join(l.Dir, "file")}, func() { l.Write("file", l.prompt+", edited\n") })
}

// running is a command that has written some files. Looks at the worktree may follow each other at once.
func running(l *lab) command {
	if l.enter(); !l.c.Busy() {
		l.undisturbed("UserPromptSubmit", l.prompted())
	}
	l.rested()
	return l.ran("Bash", map[string]any{"command": "make"}, func() {
		for _, name := range []string{"file", "new/step", "files/0/0"} {
			l.Write(name, l.prompt+", made\n")
		}
	})
}

// beside is the end of a turn in which another session has worked, and in which a command has destroyed work:
// the event keeps three states more.
func beside(l *lab) command {
	l.undisturbed("the step before", running(l))
	mine := l.c.Session
	l.c.Session = strings.Repeat("0", 8) + mine[8:]
	l.undisturbed("another session's step", l.ran("Edit", map[string]any{"file_path": filepath.Join(l.Dir, "new/other")}, func() { l.Write("new/other", l.prompt+", by another\n") }))
	l.c.Session = mine
	l.rested()
	l.undisturbed("a step that is lost", l.ran("Write", map[string]any{"file_path": filepath.Join(l.Dir, "new/lost")}, func() { l.Write("new/lost", "one\ntwo\nthree\n") }))
	l.rested()
	l.undisturbed("what destroys it", l.ran("Bash", map[string]any{"command": "git clean -fq new/lost"}, func() { l.try("clean", "clean", "-fq", "new/lost") }))
	c := l.stopped()
	c.then = func(l *lab, _ result) { l.steps() }
	return c
}

func (l *lab) ran(tool string, input map[string]any, do func()) command {
	c := l.event(func(c *replay.Client) { c.Call(tool, input, do) })
	c.then = func(l *lab, _ result) { l.steps() }
	return c
}

// rested lets the journal tell of no look at the worktree that took time.
func (l *lab) rested() {
	path := filepath.Join(l.common, "agent", "steps")
	if data, err := os.ReadFile(path); err == nil {
		gittest.Must(l.t, os.WriteFile(path, []byte(strings.ReplaceAll(string(data), `"cost":`, `"was":`)), 0o600))
	}
}

// steps checks that every state which the journal names is whole. The line of a killed process may be torn.
func (l *lab) steps() {
	data, err := os.ReadFile(filepath.Join(l.common, "agent", "steps"))
	if os.IsNotExist(err) {
		return
	}
	gittest.Must(l.t, err)
	for line := range strings.Lines(string(data)) {
		var entry struct{ Tree string }
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Tree == "" {
			continue
		}
		if _, err := l.main.Try("rev-list", "--objects", "--quiet", entry.Tree); err != nil {
			l.find("a step is not whole", "%s: %v", line, err)
		}
	}
}
