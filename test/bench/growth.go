package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// A size is what a git directory holds.
type size struct {
	bytes int64 // the files' sizes together
	disk  int64 // bytes of the disk that they take
	files int
}

func (r *repository) size() (size, error) {
	var s size
	err := filepath.WalkDir(filepath.Join(r.dir, ".git"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s.disk += onDisk(info)
		if !d.IsDir() {
			s.bytes += info.Size()
			s.files++
		}
		return nil
	})
	return s, err
}

const growthFormat = "%-60s %12s %12s %8s\n"

func growthHeading() {
	fmt.Printf(growthFormat, "growth of .git a turn, KiB", "apparent", "on disk", "files")
}

// grown prints what a repository has grown by in some turns.
func grown(name string, from, to size, turns int) {
	per := func(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1024/float64(turns)) }
	fmt.Printf(growthFormat, name, per(to.bytes-from.bytes), per(to.disk-from.disk), fmt.Sprintf("%+d", to.files-from.files))
}

const manyTurns = 1000

// thousand plays 1000 turns through the hooks, and as many rounds through the baseline, and
// measures then.
func thousand(l *lab) error {
	t, err := l.newTwins("thousand", smallFiles)
	if err != nil {
		return err
	}
	s, err := t.hook.newSession()
	if err != nil {
		return err
	}
	hookFrom, err := t.hook.size()
	if err != nil {
		return err
	}
	baseFrom, err := t.base.size()
	if err != nil {
		return err
	}
	growthHeading()
	for i := range manyTurns {
		if _, _, _, err := t.round(s, true); err != nil {
			return err
		}
		if n := i + 1; n == 100 || n == manyTurns {
			hook, err := t.hook.size()
			if err != nil {
				return err
			}
			base, err := t.base.size()
			if err != nil {
				return err
			}
			grown(fmt.Sprintf("hook, %d turns with 2 files changed and 20 KiB of transcript", n), hookFrom, hook, n)
			grown(fmt.Sprintf("baseline, %d rounds with 2 files changed", n), baseFrom, base, n)
		}
	}
	if err := t.raceOf(s, l.times(smallTimes/2), "1000 turns recorded", "0.90 (0.60)"); err != nil {
		return err
	}
	growthHeading()
	for _, g := range []struct {
		name string
		r    *repository
		from size
	}{{"hook", t.hook, hookFrom}, {"baseline", t.base, baseFrom}} {
		if _, err := g.r.git("gc", "-q"); err != nil {
			return err
		}
		now, err := g.r.size()
		if err != nil {
			return err
		}
		grown(g.name+", the same after git gc", g.from, now, len(s.prompts))
	}
	return s.check(2)
}

// unchanged plays turns in which the agent only talks. The baseline finds nothing to commit.
func unchanged(l *lab) error {
	t, err := l.newTwins("unchanged", smallFiles)
	if err != nil {
		return err
	}
	s, err := t.hook.newSession()
	if err != nil {
		return err
	}
	from, err := t.hook.size()
	if err != nil {
		return err
	}
	var prompts, stops, bases series
	for range manyTurns {
		prompt, err := s.prompt()
		if err != nil {
			return err
		}
		if err := s.write(); err != nil {
			return err
		}
		stop, err := s.stop()
		if err != nil {
			return err
		}
		base, err := t.base.commitAll()
		if err != nil {
			return err
		}
		prompts, stops, bases = append(prompts, prompt), append(stops, stop), append(bases, base)
	}
	heading()
	for _, from := range []int{0, manyTurns - 100} {
		name := fmt.Sprintf("nothing changed, turns %d to %d", from+1, from+100)
		compare("Stop, "+name, stops[from:from+100], bases[from:from+100], "")
		compare("UserPromptSubmit, "+name, prompts[from:from+100], bases[from:from+100], "")
	}
	s.reportBackground()
	growthHeading()
	for _, state := range []string{"as the hooks leave it", "after git gc"} {
		if state == "after git gc" {
			if _, err := t.hook.git("gc", "-q"); err != nil {
				return err
			}
		}
		now, err := t.hook.size()
		if err != nil {
			return err
		}
		segments, err := s.segments()
		if err != nil {
			return err
		}
		grown(fmt.Sprintf("1000 turns without a change, %s", state), from, now, manyTurns)
		now.bytes -= segments
		now.disk -= segments
		grown("  beside the segments; target 10", from, now, manyTurns)
	}
	return s.check(0)
}

// segments returns how many bytes of packs and object files the mission's transcript segments take.
func (s *session) segments() (int64, error) {
	blobs, err := s.repo.git("ls-tree", "-r", "--format=%(objectname)", s.mission.Ref(), "transcript/")
	if err != nil {
		return 0, err
	}
	sizes, err := s.repo.feed(s.repo.dir, []byte(blobs+"\n"), "git", "cat-file", "--batch-check=%(objectsize:disk)")
	if err != nil {
		return 0, err
	}
	var total int64
	lines := strings.Split(sizes, "\n")
	for _, line := range lines {
		n, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return 0, err
		}
		total += n
	}
	if len(lines) != len(s.prompts) {
		err = fmt.Errorf("mission %s has %d segments of %d turns", s.mission, len(lines), len(s.prompts))
	}
	return total, err
}

// transcript compares sessions that were long before recording began.
func transcript(l *lab) error {
	long, err := l.longSession("long", 50<<20)
	if err != nil {
		return err
	}
	short, err := l.longSession("short", 50<<10)
	if err != nil {
		return err
	}
	sessions := []*session{long, short}
	var prompts, stops [2]series
	var from [2]size
	n := l.times(smallTimes / 2)
	for i := range 1 + warmUp + n {
		for k := range sessions {
			k = (k + i) % 2
			s := sessions[k]
			if i == 1+warmUp {
				if from[k], err = s.repo.size(); err != nil {
					return err
				}
			}
			prompt, err := s.prompt()
			if err != nil {
				return err
			}
			if err := errors.Join(s.repo.change(), s.write()); err != nil {
				return err
			}
			stop, err := s.stop()
			if err != nil {
				return err
			}
			prompts[k], stops[k] = append(prompts[k], prompt), append(stops[k], stop)
		}
	}
	const measured = 1 + warmUp
	heading()
	compare("Stop, 50 MB against 50 KB", stops[0][measured:], stops[1][measured:], "1.20")
	compare("UserPromptSubmit, 50 MB against 50 KB", prompts[0][measured:], prompts[1][measured:], "1.20")
	alone("the first Stop, which takes all 50 MB", stops[0][:1], "")
	growthHeading()
	for k, name := range []string{"50 MB and 20 KiB a turn", "50 KB and 20 KiB a turn"} {
		now, err := sessions[k].repo.size()
		if err != nil {
			return err
		}
		grown(name, from[k], now, n)
		if err := sessions[k].check(2); err != nil {
			return err
		}
	}
	return nil
}

// longSession begins a session whose transcript has that many bytes already.
func (l *lab) longSession(name string, bytes int) (*session, error) {
	t, err := l.newTwins(name, smallFiles)
	if err != nil {
		return nil, err
	}
	s, err := t.hook.newSession()
	if err != nil {
		return nil, err
	}
	for i := range bytes / turnSize {
		s.writer.begin(i + 1)
		if err := s.write(); err != nil {
			return nil, err
		}
	}
	return s, nil
}
