package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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

// purgedMissions is how many missions a purge looks at.
const purgedMissions = 300

// purging measures what follows a purge: its map applied in another clone, and the rest of one that was killed.
func purging(l *lab) {
	r := l.shared("purging")
	r.populate(purgedMissions, purgedMissions)
	s := r.newSession()
	for i := range 10 {
		word := filepath.Join(r.dir, "secret")
		if i == 5 {
			check(os.WriteFile(word, []byte(purgedWord), 0o600))
		}
		s.turn()
		_ = os.Remove(word)
	}
	r.git("repack", "-adq", "--window=0")
	r.publish()
	other := l.newRepository("purging-other", sharedFiles)
	other.enable()
	other.git("remote", "add", "origin", "file://"+r.host())
	other.feed(other.dir, nil, other.program, "fetch")
	killed := l.copied(r.dir, "purging-killed")
	r.killedPurge(killed)
	r.feed(r.dir, []byte(purgedWord), r.program, "purge", "--fixed", "--yes")
	r.git("config", "agent.file://"+r.host()+".push", "all")
	r.feed(r.dir, nil, r.program, "purge", "--push", "--yes")
	contestHeading()
	for _, c := range []struct {
		name, dir string
		args      []string
	}{
		{"a map of purges applied", other.dir, []string{"fetch"}},
		{"a killed purge completed", killed, []string{"purge"}},
	} {
		l.play(contest{name: fmt.Sprintf("%s, %d missions", c.name, purgedMissions), target: "0.1 CPU", ours: func(b build) sample {
			dir := l.copied(c.dir, "purging-copy")
			defer func() { check(os.RemoveAll(dir)) }()
			_, s := l.watched(true, dir, nil, nil, b.program("git-agent-turn"), c.args...)
			return s
		}})
	}
}

// copied is a copy of a repository.
func (l *lab) copied(dir, name string) string {
	to := filepath.Join(l.dir, name)
	l.feed(l.dir, nil, "cp", "-a", dir, to)
	return to
}

// killedPurge begins a purge in a directory, and kills it once there is a list of what it has to do.
func (r *repository) killedPurge(dir string) {
	cmd := exec.CommandContext(r.lab.ctx, r.program, "purge", "--fixed", "--yes")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, r.lab.env, strings.NewReader(purgedWord)
	check(cmd.Start())
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git", "agent", "purge", "journal")); err == nil {
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	check(cmd.Process.Kill())
	_ = cmd.Wait()
}
