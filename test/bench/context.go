package main

import (
	"os"
	"strings"
)

// contextMonitor measures what an agent waits for after each batch of tool calls: the hook looks at
// the transcript every fifth time. Most of the file is a hole; its end is what a session ends with.
func contextMonitor(l *lab) {
	r := l.newRepository("context", smallFiles)
	r.enable()
	monitor := *l
	monitor.program = l.now().program("git-agent-handoff")
	r.lab = &monitor
	s := r.newSession()
	check(os.WriteFile(s.transcript, nil, 0o600))
	check(os.Truncate(s.transcript, 400<<20))
	s.writer.begin(1)
	s.write()
	call := map[string]any{
		"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": map[string]any{"command": "make test"},
		"tool_response": strings.Repeat("ok  \tan/example/package\t0.123s\n", 500),
	}
	payload := s.payload("PostToolBatch", fields{"prompt_id": s.writer.promptID, "tool_calls": []any{call}})
	const frequency = 5 // the default
	var looks, throttled series
	for i := range l.times(smallTimes) * frequency {
		x := s.hook(payload)
		if i%frequency == 0 {
			looks = append(looks, x)
		} else {
			throttled = append(throttled, x)
		}
	}
	heading()
	alone("PostToolBatch, a look at the transcript", looks, "p90 5")
	alone("PostToolBatch, no look", throttled, "p90 5")
}
