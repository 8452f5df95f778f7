package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// company measures the end of a turn during which a second session edited a file, too, against one with
// the same steps of its own alone, and what the two leave in .git.
func company(l *lab) {
	var ends [2]series
	for beside := range ends {
		r := l.newRepository(fmt.Sprint("company", beside), smallFiles)
		r.enable()
		s := r.newSession()
		other := s
		if beside == 1 {
			other = r.newSession() // of which nobody has to be told
		}
		turn, handoff := r.lab, *l
		handoff.program = l.now().program("git-agent-handoff")
		n := 0
		edit := func(by *session, file string) {
			n++
			r.lab = &handoff
			path := filepath.Join(r.dir, file)
			by.hook(by.payload("PostToolBatch", fields{"prompt_id": by.writer.promptID, "tool_calls": []any{map[string]any{
				"tool_name": "Edit", "tool_use_id": fmt.Sprint("toolu_", n), "tool_input": map[string]any{"file_path": path}, "tool_response": "ok",
			}}}))
			r.lab = turn
		}
		for i := range warmUp + l.times(smallTimes) {
			s.prompt()
			r.change()
			edit(s, path(7))
			check(os.WriteFile(filepath.Join(r.dir, path(9)), []byte(source(9, i+1)), 0o666))
			edit(other, path(9))
			s.write()
			if end := s.stop(); i >= warmUp {
				ends[beside] = append(ends[beside], end)
			}
		}
	}
	heading()
	compare("Stop, another session edited too, against one alone", ends[1], ends[0], "1.50")
}
