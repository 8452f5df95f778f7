package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// purgedWord is what was purged, and no turn has.
const purgedWord = "correct-horse-battery-staple"

// purged measures the Stop hook where something was purged, and where nothing was. Their difference is what it costs that
// nothing of it may come back.
func purged(l *lab) {
	contestHeading()
	for _, has := range []bool{false, true} {
		name, target := "Stop, 20 KB of conversation, nothing was purged", ""
		if has {
			name, target = "Stop, 20 KB of conversation, a word was purged", "at most 1 ms more"
		}
		sessions := make(map[build]*session)
		for _, b := range []build{l.now(), l.before} {
			if b == "" {
				continue
			}
			r := l.newRepository(fmt.Sprintf("purged-%t-%d", has, len(sessions)), smallFiles)
			r.enable()
			s := r.newSession()
			s.turn()
			if has {
				check(os.WriteFile(filepath.Join(r.dir, "secret"), []byte(purgedWord), 0o600))
				s.turn()
				check(os.Remove(filepath.Join(r.dir, "secret")))
				r.feed(r.dir, []byte(purgedWord), r.program, "purge", "--fixed", "--yes")
			}
			sessions[b] = s
		}
		l.play(contest{name: name, target: target, ours: func(b build) sample {
			program := l.program
			defer func() { l.program = program }()
			l.program = b.program("git-agent-turn")
			_, stop := sessions[b].turn()
			return stop
		}})
	}
}

// pushing measures the push of one mission beside many archived ones.
func pushBesideArchive(l *lab) {
	r := l.shared("beside")
	r.populate(l.missions, 0)
	r.archive(l.missions)
	r.git("repack", "-adq", "--window=0")
	r.publish()
	consent := "agent.file://" + r.host() + ".push"
	n := 0
	contestHeading()
	l.play(contest{name: fmt.Sprintf("push of one mission, %d archived", l.missions), target: "0.15", ours: func(b build) sample {
		n++
		id := fmt.Sprintf("%08x", 0xf1000000+n)
		r.git("config", consent, "none") // or recording would push it
		r.feed(r.dir, nil, r.program, "record", "--mission", id, "--prompt", "to be pushed")
		r.git("config", consent, "all")
		s := r.printing(b.program("git-agent-turn"), "push")
		r.git("config", consent, "none")
		r.drop(id)
		return s
	}})
}
