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

// play plays a contest, prints its row, and returns what each took. The first round is not counted.
func (l *lab) play(c contest) *contestRounds {
	r := new(contestRounds)
	for i := range l.times(15) + 1 {
		for _, b := range r.order(l) {
			var s sample
			switch {
			case b != "":
				s = c.ours(b)
			case c.git != nil:
				s = c.git()
			default:
				continue
			}
			if i > 0 {
				r.add(b, s)
			}
		}
	}
	r.print(l, c.name, c.target)
	return r
}

// contestRounds are what each build took, and git, which is the build "".
type contestRounds struct {
	rounds int
	took   map[build]series
}

// order returns who plays in the next round, in which order.
func (r *contestRounds) order(l *lab) []build {
	all := []build{l.now(), ""}
	if l.before != "" {
		all = append(all, l.before)
	}
	r.rounds++
	first := r.rounds % len(all)
	return slices.Concat(all[first:], all[:first])
}

func (r *contestRounds) add(b build, s sample) {
	if r.took == nil {
		r.took = make(map[build]series)
	}
	r.took[b] = append(r.took[b], s)
}

// of returns what this build, the older one if there is one, and git took.
func (r *contestRounds) of(l *lab) (now, before, git series) {
	if l.before != "" {
		before = r.took[l.before]
	}
	return r.took[l.now()], before, r.took[""]
}

func (r *contestRounds) print(l *lab, name, target string) {
	now, before, git := r.of(l)
	fmt.Printf(contestFormat, name, len(now), now.costs(), before.costs(), git.costs(), now.to(before), now.to(git), target)
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
