package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// A build is a directory with the three programs of one version.
type build string

func (b build) program(name string) string { return filepath.Join(string(b), name) }

// now is the build of this source.
func (l *lab) now() build { return build(filepath.Join(l.dir, "bin")) }

// A contest is one piece of work, done by this build, by the older one of -before if there is one, and by git if it has
// something near to it. Nothing of one may be left for the next to find.
type contest struct {
	name   string
	target string // in the words of who asked for it
	ours   func(b build) sample
	git    func() sample // may be nil
}

const contestFormat = "%-58s %4v  %25s  %25s  %25s  %17s  %17s  %s\n"

func contestHeading() {
	three := "     ms  cpu ms      MB"
	fmt.Printf(contestFormat, "", "n", "now"+three, "before"+three, "git"+three, "/before ms cpu MB", "/git ms cpu MB", "target")
}

// play plays each round in another order, after one that is not counted, and prints a row.
func (l *lab) play(c contest) {
	turns := []func() sample{func() sample { return c.ours(l.now()) }, nil, c.git}
	if l.before != "" {
		turns[1] = func() sample { return c.ours(l.before) }
	}
	var all [3]series
	n := l.times(15)
	for i := range n + 1 {
		for k := range turns {
			k = (k + i) % len(turns)
			if turns[k] == nil {
				continue
			}
			if s := turns[k](); i > 0 {
				all[k] = append(all[k], s)
			}
		}
	}
	now, before, git := all[0], all[1], all[2]
	fmt.Printf(contestFormat, c.name, n, now.costs(), before.costs(), git.costs(), now.to(before), now.to(git), c.target)
}

func (s series) peak() int64 {
	if len(s) == 0 {
		return 0
	}
	return slices.SortedFunc(slices.Values(s), func(a, b sample) int { return cmp.Compare(a.peak, b.peak) })[len(s)/2].peak
}

func (s series) costs() string {
	if len(s) == 0 {
		return ""
	}
	return fmt.Sprintf("%9.2f %7.2f %7.1f", ms(s.wall(0.5)), ms(s.cpu()), float64(s.peak())/(1<<20))
}

// to is wall time, CPU and memory as parts of those of another series.
func (s series) to(other series) string {
	if len(other) == 0 {
		return ""
	}
	return fmt.Sprintf("%5s %5s %5s", ratio(s.wall(0.5), other.wall(0.5)), ratio(s.cpu(), other.cpu()),
		ratio(time.Duration(s.peak()), time.Duration(other.peak())))
}

// printing is a sample of a program that prints something, which is thrown away, with its memory.
func (r *repository) printing(program string, args ...string) sample {
	_, s := r.watched(true, r.dir, nil, nil, program, args...)
	return s
}
