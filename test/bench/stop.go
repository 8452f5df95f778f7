package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/ledger"
)

// warmUp is how many rounds go before what is measured: the first turn makes the mission.
const warmUp = 2

// How often to measure at 100 and at 50,000 files.
const (
	smallTimes = 100
	largeTimes = 15
)

func small(l *lab) error {
	t, err := l.newTwins("small", smallFiles)
	if err != nil {
		return err
	}
	return t.race(l.times(smallTimes), "100 files", "0.80 (0.50)")
}

func large(l *lab) error {
	t, err := l.large()
	if err != nil {
		return err
	}
	return t.race(l.times(largeTimes), "50,000 files", "0.45 (0.30)")
}

// race runs a session of n turns against the baseline and prints the rows.
func (t *twins) race(n int, name, target string) error {
	s, err := t.hook.newSession()
	if err != nil {
		return err
	}
	return t.raceOf(s, n, name, target)
}

// raceOf is race for a session that was begun.
func (t *twins) raceOf(s *session, n int, name, target string) error {
	t.base.round = t.hook.round
	var prompts, stops, bases series
	for i := range warmUp + n {
		prompt, stop, base, err := t.round(s, i%2 == 0)
		if err != nil {
			return err
		}
		if i >= warmUp {
			prompts, stops, bases = append(prompts, prompt), append(stops, stop), append(bases, base)
		}
	}
	heading()
	compare("Stop, "+name, stops, bases, target)
	compare("UserPromptSubmit, "+name, prompts, bases, "as Stop")
	s.reportBackground()
	return s.check(2)
}

// round is a turn in the one repository and the same change in the other.
func (t *twins) round(s *session, hookFirst bool) (prompt, stop, base sample, err error) {
	if prompt, err = s.prompt(); err != nil {
		return
	}
	if err = errors.Join(t.hook.change(), t.base.change(), s.write()); err != nil {
		return
	}
	if hookFirst {
		if stop, err = s.stop(); err == nil {
			base, err = t.base.commitAll()
		}
		return
	}
	if base, err = t.base.commitAll(); err == nil {
		stop, err = s.stop()
	}
	return
}

// reportBackground tells what the hooks have left to processes of their own.
func (s *session) reportBackground() {
	if s.background > 0 {
		fmt.Printf("in the background: %.1f ms of CPU a turn\n", ms(s.background)/float64(len(s.prompts)))
	}
}

// shell is what the settings hold: the client runs a hook through a shell.
func shell(l *lab) error {
	t, err := l.newTwins("shell", smallFiles)
	if err != nil {
		return err
	}
	s, err := t.hook.newSession()
	if err != nil {
		return err
	}
	s.shell = true
	return t.raceOf(s, l.times(smallTimes/2), "through sh -c", "")
}

// spread is a session that works its way through the repository while nobody commits.
func spread(l *lab) error {
	t, err := l.newTwins("spread", smallFiles)
	if err != nil {
		return err
	}
	t.hook.spread, t.base.spread = true, true
	return t.race(l.times(smallTimes/2), "all files one by one", "")
}

// attributes is a repository in which git may have to convert what it stores.
func attributes(l *lab) error {
	t, err := l.newTwins("attributes", smallFiles)
	if err != nil {
		return err
	}
	for _, r := range []*repository{t.hook, t.base} {
		if err := os.WriteFile(filepath.Join(r.dir, ".gitattributes"), []byte("* text=auto\n*.png binary\n"), 0o666); err != nil {
			return err
		}
		if _, err := r.commitAll(); err != nil {
			return err
		}
	}
	return t.race(l.times(smallTimes/2), "with .gitattributes", "")
}

func attached(l *lab) error {
	t, err := l.newTwins("attached", smallFiles)
	if err != nil {
		return err
	}
	return t.raceAttached(l.times(smallTimes/2), "attached, 100 files")
}

func largeAttached(l *lab) error {
	t, err := l.large()
	if err != nil {
		return err
	}
	return t.raceAttached(l.times(largeTimes), "attached, 50,000 files")
}

// raceAttached is race with a mission that has a branch, which is checked out.
func (t *twins) raceAttached(n int, name string) error {
	mission, err := t.hook.feed(t.hook.dir, nil, t.hook.program, "start")
	if err != nil {
		return err
	}
	s, err := t.hook.newSession()
	if err != nil {
		return err
	}
	s.mission = ledger.ID(mission)
	if err := t.raceOf(s, n, name, ""); err != nil {
		return err
	}
	status, err := t.hook.git("status", "--porcelain", "--branch")
	if err != nil {
		return err
	}
	if status != "## agent/mission/"+mission {
		return fmt.Errorf("the turns of mission %s did not move its branch and index: %s", mission, status)
	}
	_, err = t.hook.git("switch", "-q", "main")
	return err
}

func one(l *lab) error {
	t, err := l.newTwins("one", smallFiles)
	if err != nil {
		return err
	}
	return t.hook.raceAlone(l.times(smallTimes/2), "100 files")
}

func largeOne(l *lab) error {
	t, err := l.large()
	if err != nil {
		return err
	}
	return t.hook.raceAlone(l.times(largeTimes), "50,000 files")
}

// raceAlone lets hook and baseline run in the same repository, each after a change of its own:
// the hook finds HEAD and the user's index moved every time.
func (r *repository) raceAlone(n int, name string) error {
	s, err := r.newSession()
	if err != nil {
		return err
	}
	var prompts, stops, bases series
	for i := range warmUp + n {
		prompt, err := s.prompt()
		if err != nil {
			return err
		}
		if err := errors.Join(r.change(), s.write()); err != nil {
			return err
		}
		stop, err := s.stop()
		if err != nil {
			return err
		}
		if err := r.change(); err != nil {
			return err
		}
		base, err := r.commitAll()
		if err != nil {
			return err
		}
		if i >= warmUp {
			prompts, stops, bases = append(prompts, prompt), append(stops, stop), append(bases, base)
		}
	}
	heading()
	compare("Stop, in one repository, "+name, stops, bases, "")
	compare("UserPromptSubmit, in one repository", prompts, bases, "")
	s.reportBackground()
	return s.check(2)
}

// idle measures the hooks of people who have installed them and record nothing here.
func idle(l *lab) error {
	r, err := l.newRepository("idle", smallFiles)
	if err != nil {
		return err
	}
	nowhere := &repository{lab: l, dir: filepath.Join(l.dir, "nowhere")}
	if err := os.Mkdir(nowhere.dir, 0o777); err != nil {
		return err
	}
	heading()
	for _, c := range []struct {
		name string
		r    *repository
	}{{"Stop, not enabled", r}, {"Stop, not in a repository", nowhere}} {
		s, err := c.r.newSession()
		if err != nil {
			return err
		}
		s.writer.begin(1)
		if err := s.write(); err != nil {
			return err
		}
		var stops series
		for range l.times(smallTimes) {
			stop, err := s.stop()
			if err != nil {
				return err
			}
			stops = append(stops, stop)
		}
		alone(c.name, stops, "")
	}
	refs, err := r.git("for-each-ref", "--format=%(refname)")
	if err == nil && strings.TrimSpace(refs) != "refs/heads/main" {
		err = fmt.Errorf("something was recorded where recording is not enabled: %s", refs)
	}
	return err
}
