package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// otherSessions is how many sessions have worked in the repository before: as many as are looked at.
const otherSessions = 32

// handoff measures the hooks that begin and end a session.
func handoff(l *lab) {
	program := l.now().program("git-agent-handoff")
	r := l.newRepository("handoff", smallFiles)
	r.enable()
	heading()
	r.starts(program, "SessionStart, nothing to continue", "startup", "", "10")
	var ends series
	for range otherSessions {
		s := r.newSession()
		s.turn()
		ends = append(ends, s.hook(s.payload("SessionEnd", fields{"prompt_id": s.writer.promptID, "reason": "other"})))
	}
	alone("SessionEnd, which hands off", ends, "")
	r.starts(program, fmt.Sprintf("SessionStart after /clear, %d sessions before", otherSessions), "clear", "", "10")
	r.starts(program, fmt.Sprintf("SessionStart, one line, %d sessions before", otherSessions), "startup", "the last session here", "30")
	document := "# State\n\n" + strings.Repeat("What is done and what is next, in some words.\n", 300)
	r.feed(r.dir, []byte(document), program, "write", "-")
	r.starts(program, "SessionStart, with a handoff of 9,000 units", "startup", "Handoff (from previous session)", "30")
}

// starts measures the hook of a session's start, which tells it something that holds want, or
// nothing. Every session is the first that is told: what was noted about it is forgotten.
func (r *repository) starts(program, name, source, want, target string) {
	var all series
	for range r.times(30) {
		s := r.newSession()
		out, x := r.timed(r.dir, s.env, s.payload("SessionStart", map[string]any{"source": source}), program, "hook")
		if want == "" && len(out) > 0 || !bytes.Contains(out, []byte(want)) {
			check(fmt.Errorf("%s: the session was told %q", name, out))
		}
		check(os.RemoveAll(filepath.Join(r.dir, ".git", "agent", "sessions", s.id+".json")))
		all = append(all, x)
	}
	alone(name, all, target)
}
