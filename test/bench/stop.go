package main

import (
	"fmt"
	"os"
	"path/filepath"

	"gitagent/internal/record"
)

// warmUp is how many rounds go before what is measured: the first turn makes the mission.
const warmUp = 2

// How often to measure at 100 and at 50,000 files.
const (
	smallTimes = 100
	largeTimes = 15
)

func small(l *lab) {
	l.newTwins("small", smallFiles).race(l.times(smallTimes), "100 files", "0.70, cpu 1.20")
}

func large(l *lab) { l.large().race(l.times(largeTimes), "50,000 files", "0.30") }

// race runs a session of n turns against the baseline and prints the rows.
func (t *twins) race(n int, name, target string) { t.raceOf(t.hook.newSession(), n, name, target) }

// raceOf is race for a session that was begun.
func (t *twins) raceOf(s *session, n int, name, target string) {
	t.base.round = t.hook.round
	var m rounds
	for i := range warmUp + n {
		m.add(t.round(s, i%2 == 0))
	}
	heading()
	compare("Stop, "+name, m.stops[warmUp:], m.bases[warmUp:], target)
	compare("UserPromptSubmit, "+name, m.prompts[warmUp:], m.bases[warmUp:], "as Stop")
	s.reportBackground()
	s.check(2)
}

// round is a turn in the one repository and the same change in the other.
func (t *twins) round(s *session, hookFirst bool) (prompt, stop, base sample) {
	prompt = s.prompt()
	t.hook.change()
	t.base.change()
	s.write()
	if hookFirst {
		stop = s.stop()
		return prompt, stop, t.base.commitAll()
	}
	base = t.base.commitAll()
	return prompt, s.stop(), base
}

// reportBackground tells what the hooks have left to processes of their own.
func (s *session) reportBackground() {
	if s.background > 0 {
		fmt.Printf("in the background: %.1f ms of CPU a turn\n", ms(s.background)/float64(len(s.prompts)))
	}
}

// shell is what the settings hold: the client runs a hook through a shell.
func shell(l *lab) {
	t := l.newTwins("shell", smallFiles)
	s := t.hook.newSession()
	s.shell = true
	t.raceOf(s, l.times(smallTimes/2), "through sh -c", "")
}

// spread is a session that works its way through the repository while nobody commits.
func spread(l *lab) {
	t := l.newTwins("spread", smallFiles)
	t.hook.spread, t.base.spread = true, true
	t.race(l.times(smallTimes/2), "all files one by one", "")
}

// attributes is a repository in which git may have to convert what it stores.
func attributes(l *lab) {
	t := l.newTwins("attributes", smallFiles)
	for _, r := range []*repository{t.hook, t.base} {
		check(os.WriteFile(filepath.Join(r.dir, ".gitattributes"), []byte("* text=auto\n*.png binary\n"), 0o666))
		r.commitAll()
	}
	t.race(l.times(smallTimes/2), "with .gitattributes", "")
}

func attached(l *lab) {
	l.newTwins("attached", smallFiles).raceAttached(l.times(smallTimes/2), "attached, 100 files")
}

func largeAttached(l *lab) { l.large().raceAttached(l.times(largeTimes), "attached, 50,000 files") }

// raceAttached is race with a mission that has a branch, which is checked out.
func (t *twins) raceAttached(n int, name string) {
	mission := t.hook.feed(t.hook.dir, nil, t.hook.program, "start")
	s := t.hook.newSession()
	s.mission = record.ID(mission)
	t.raceOf(s, n, name, "")
	if status := t.hook.git("status", "--porcelain", "--branch"); status != "## agent/mission/"+mission {
		check(fmt.Errorf("the turns of mission %s did not move its branch and index: %s", mission, status))
	}
	t.hook.git("switch", "-q", "main")
}

func one(l *lab) { l.newTwins("one", smallFiles).hook.raceAlone(l.times(smallTimes/2), "100 files") }

func largeOne(l *lab) { l.large().hook.raceAlone(l.times(largeTimes), "50,000 files") }

// raceAlone lets hook and baseline run in the same repository, each after a change of its own: the
// hook finds HEAD and the user's index moved every time.
func (r *repository) raceAlone(n int, name string) {
	s := r.newSession()
	var m rounds
	for range warmUp + n {
		prompt, stop := s.turn()
		r.change()
		m.add(prompt, stop, r.commitAll())
	}
	heading()
	compare("Stop, in one repository, "+name, m.stops[warmUp:], m.bases[warmUp:], "")
	compare("UserPromptSubmit, in one repository", m.prompts[warmUp:], m.bases[warmUp:], "")
	s.reportBackground()
	s.check(2)
}

// idle measures the hooks of people who have installed them and record nothing here.
func idle(l *lab) {
	r := l.newRepository("idle", smallFiles)
	nowhere := &repository{lab: l, dir: filepath.Join(l.dir, "nowhere")}
	check(os.Mkdir(nowhere.dir, 0o777))
	heading()
	for _, c := range []struct {
		name string
		r    *repository
	}{{"Stop, not enabled", r}, {"Stop, not in a repository", nowhere}} {
		s := c.r.newSession()
		s.writer.begin(1)
		s.write()
		var stops series
		for range l.times(smallTimes) {
			stops = append(stops, s.stop())
		}
		alone(c.name, stops, "")
	}
	if refs := r.git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		check(fmt.Errorf("something was recorded where recording is not enabled: %s", refs))
	}
}
