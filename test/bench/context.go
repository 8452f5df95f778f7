package main

import (
	"os"
	"strings"
)

// contextMonitor measures what an agent waits for after each batch of tool calls: the hook looks at
// the transcript every fifth time. Most of the file is a hole; its end is what a session ends with.
func contextMonitor(l *lab) error {
	r, err := l.newRepository("context", smallFiles)
	if err != nil {
		return err
	}
	if _, err := r.feed(r.dir, nil, r.program, "init"); err != nil {
		return err
	}
	monitor := *l
	if monitor.program, err = l.build("git-agent-handoff"); err != nil {
		return err
	}
	r.lab = &monitor
	s, err := r.newSession()
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.transcript, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(s.transcript, 400<<20); err != nil {
		return err
	}
	s.writer.begin(1)
	if err := s.write(); err != nil {
		return err
	}
	call := map[string]any{
		"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": map[string]any{"command": "make test"},
		"tool_response": strings.Repeat("ok  \tan/example/package\t0.123s\n", 500),
	}
	payload := s.payload("PostToolBatch", map[string]any{"tool_calls": []any{call}})
	const frequency = 5 // the default
	var looks, throttled series
	for i := range l.times(smallTimes) * frequency {
		x, err := s.hook(payload)
		if err != nil {
			return err
		}
		if i%frequency == 0 {
			looks = append(looks, x)
		} else {
			throttled = append(throttled, x)
		}
	}
	heading()
	alone("PostToolBatch, a look at the transcript", looks, "5 ms")
	alone("PostToolBatch, no look", throttled, "3 ms")
	return nil
}
