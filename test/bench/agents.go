package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gitagent/turns"
)

// A played agent is one whose client's file the benchmark can write.
type played struct {
	name string // what --agent takes
	id   string // the name of a prompt's id in payloads
	turn func(w *writer, size int) []byte
}

var (
	playedClaude = played{"claude", "prompt_id", (*writer).turn}
	playedAgents = []played{
		{"codex", "turn_id", (*writer).codexTurn},
		{"opencode", "prompt_id", (*writer).openCodeTurn},
	}
)

// agents measures the Stop hook of every agent over the same turns, one after the other in each round, so
// that other work on the machine slows all of them.
func agents(l *lab) {
	claude := l.newTwins("agent-"+playedClaude.name, smallFiles).hook.newSession()
	var sessions []*session
	for _, p := range playedAgents {
		sessions = append(sessions, l.newTwins("agent-"+p.name, smallFiles).hook.newSessionOf(p))
	}
	var base series
	stops := make([]series, len(sessions))
	for range warmUp + l.times(smallTimes/2) {
		_, stop := claude.turn()
		base = append(base, stop)
		for i, s := range sessions {
			_, stop := s.turn()
			stops[i] = append(stops[i], stop)
		}
	}
	heading()
	for i, p := range playedAgents {
		compare("stop ("+p.name+") against stop (claude)", stops[i][warmUp:], base[warmUp:], "1.10")
	}
	claude.check(2)
	for _, s := range sessions {
		// Not every client's ids say which mission a session has; there is one.
		all := s.repo.feed(s.repo.dir, nil, s.repo.program, "list", "--json", "--all")
		line, _, _ := strings.Cut(all, "\n")
		s.mission = must(turns.Parse([]byte(line), s.repo.format())).Mission
		s.check(2)
	}
}

// newSessionOf is newSession for an agent of any kind.
func (r *repository) newSessionOf(p played) *session {
	s := r.newSession()
	s.agent = p
	s.env = nil
	dir := filepath.Join(r.lab.dir, "home", "."+p.name, filepath.Base(r.dir))
	check(os.MkdirAll(dir, 0o700))
	s.transcript = filepath.Join(dir, fmt.Sprintf("rollout-2026-11-22T01-22-37-%s.jsonl", s.id))
	return s
}
