package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// signing measures what signatures cost: to write them, and to check those of a mission of 1000 turns
// of which nothing is known here, as after a fetch from another machine of the same user.
func signing(l *lab) {
	signed, plain := l.newRepository("signed", smallFiles), l.newRepository("plain", smallFiles)
	signed.enable()
	plain.enable()
	s, p := signed.newSession(), plain.newSession()
	p.env = append(p.env, "XDG_CONFIG_HOME="+filepath.Join(l.dir, "no-key"))
	var stops, plainStops, prompts, plainPrompts series
	for i := range warmUp + l.times(smallTimes) {
		var a, b, x, y sample
		if i%2 == 0 {
			a, x = s.turn()
			b, y = p.turn()
		} else {
			b, y = p.turn()
			a, x = s.turn()
		}
		if i >= warmUp {
			prompts, plainPrompts = append(prompts, a), append(plainPrompts, b)
			stops, plainStops = append(stops, x), append(plainStops, y)
		}
	}
	heading()
	compare("Stop, signed against not", stops, plainStops, "+0.5 ms")
	compare("UserPromptSubmit, signed against not", prompts, plainPrompts, "+0.5 ms")

	for len(s.prompts) < manyTurns {
		s.turn()
	}
	handoff := l.now().program("git-agent-handoff")
	fork := l.now().program("git-agent-fork")
	signed.feed(signed.dir, []byte("# State\n"), handoff, "write", "--mission", string(s.mission), "-")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"prime, 1000 turns, checked anew against known", []string{handoff, "prime", "--mission", string(s.mission)}},
		{"fork, 1000 turns, checked anew against known", []string{fork, "--no-conversation", "--print", "--worktree", signed.dir + "-fork", string(s.mission) + "/500"}},
	} {
		var anew, known series
		record := filepath.Join(signed.dir, ".git", "agent", "trust", string(s.mission))
		content := must(os.ReadFile(record))
		for range l.times(10) {
			for _, to := range []*series{&known, &anew} {
				if to == &known {
					check(os.WriteFile(record, content, 0o600))
				} else if err := os.Remove(record); !errors.Is(err, fs.ErrNotExist) {
					check(err)
				}
				_, x := l.timed(signed.dir, nil, nil, c.args[0], c.args[1:]...)
				*to = append(*to, x)
				if c.args[0] == fork {
					s.drop(signed.dir + "-fork")
				}
			}
		}
		compare(c.name, anew, known, "+150 ms")
	}
}
