package owners

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
)

// A profile is who works in a simulated worktree.
type profile struct {
	name     string
	sessions int
	person   bool
	sameHunk bool // all edit the same ten lines of two files
}

var profiles = []profile{
	{"1 + person", 1, true, false},
	{"2 sessions", 2, false, false},
	{"2, same hunk", 2, false, true},
	{"2 + person", 2, true, false},
	{"4 + person", 4, true, false},
}

// A written is a line, and the truth of it.
type written struct {
	text string
	by   string // a session, or "" for the person
	at   int64
}

type onDisk struct {
	lines []written
	ctime int64
}

// A simulation is a worktree in which sessions and a person work for a while.
// Times are ms, and begin at 1,000,000 so that none is 0.
type simulation struct {
	profile
	rand   *rand.Rand
	events []event
	disk   map[string]onDisk
	head   map[string][]written
	seen   map[string]object.Entry // the last state
	blobs  map[object.Hash][]byte
	states []State
	claims []Claim
	turns  []simulatedTurn
	n      int // texts made
}

type event struct {
	at int64
	do func(at int64)
}

// A simulatedTurn is a turn, and what was really there at its end.
type simulatedTurn struct {
	Turn
	end map[string][]written
}

const length = 420_000

func simulate(p profile, seed uint64) *simulation {
	s := &simulation{
		profile: p, rand: rand.New(rand.NewPCG(seed, uint64(p.sessions))),
		disk: make(map[string]onDisk), head: make(map[string][]written),
		seen: make(map[string]object.Entry), blobs: make(map[object.Hash][]byte),
	}
	for i := range 10 {
		path := fmt.Sprintf("%c/file%d.go", 'a'+i%3, i)
		s.put(path, s.text("start", 1, 40+s.rand.IntN(60)), 1)
		s.head[path] = s.disk[path].lines
	}
	s.look(1)
	for i := range p.sessions {
		s.at(1_000_000+s.rand.Int64N(60_000), s.session(string(rune('a'+i))))
	}
	if p.person {
		s.at(1_000_000+s.rand.Int64N(25_000), s.save)
	}
	for len(s.events) > 0 {
		next := s.events[0]
		s.events = s.events[1:]
		next.do(next.at)
	}
	return s
}

func (s *simulation) at(at int64, do func(int64)) {
	i, _ := slices.BinarySearchFunc(s.events, at, func(e event, at int64) int {
		if e.at <= at {
			return -1
		}
		return 1
	})
	s.events = slices.Insert(s.events, i, event{at, do})
}

// text makes lines, of which some are like many others.
func (s *simulation) text(by string, at int64, n int) []written {
	lines := make([]written, n)
	for i := range lines {
		s.n++
		text := fmt.Sprintf("\tx%d := call(%d)", s.n, s.rand.IntN(1000))
		if s.rand.Float64() < 0.15 {
			text = []string{"}", "", "\t}", "\treturn nil", "\t})"}[s.rand.IntN(5)]
		}
		lines[i] = written{text, by, at}
	}
	return lines
}

func (s *simulation) put(path string, lines []written, at int64) {
	s.disk[path] = onDisk{lines, at}
}

// some returns a path that people work in, which they don't in what is generated.
func (s *simulation) some() string {
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(s.disk)), func(path string) bool { return strings.HasPrefix(path, "gen/") })
	if s.sameHunk && s.rand.IntN(10) > 0 {
		paths = paths[:min(2, len(paths))]
	}
	return paths[s.rand.IntN(len(paths))]
}

// edit changes a few lines of a file.
func (s *simulation) edit(by, path string, most int, at int64) {
	lines := s.disk[path].lines
	i := s.rand.IntN(len(lines) + 1)
	if s.sameHunk {
		i = min(len(lines), 10+s.rand.IntN(10))
	}
	j, n := min(len(lines), i+s.rand.IntN(most)), s.rand.IntN(most+1)
	if i == j {
		n++
	}
	fresh := slices.Concat(lines[:i], s.text(by, at, n), lines[j:])
	s.put(path, fresh, at)
}

// save is the person's, who then thinks about the next one.
func (s *simulation) save(at int64) {
	s.edit("", s.some(), 2, at)
	if at < 1_000_000+length {
		s.at(at+10_000+s.rand.Int64N(30_000), s.save)
	}
}

// session is one turn of a session: a prompt, calls, a stop.
func (s *simulation) session(who string) func(int64) {
	return func(at int64) {
		s.look(at)
		first := len(s.states)
		start := maps.Clone(s.seen)
		end := at + length - 60_000 - s.rand.Int64N(60_000)
		var next func(int64)
		next = func(now int64) {
			if now >= end {
				s.look(now)
				t := simulatedTurn{end: make(map[string][]written)}
				t.Turn = Turn{
					Who: who, From: at, To: now, States: slices.Clone(s.states[first:]), Claims: slices.Clone(s.claims),
					Start: func(path string) (object.Entry, error) { return start[path], nil }, Read: s.read,
				}
				for path, f := range s.disk {
					t.end[path] = f.lines
				}
				s.turns = append(s.turns, t)
				return
			}
			think := func(done int64) int64 { return done + 2000 + s.rand.Int64N(10_000) }
			if s.rand.IntN(2) == 0 {
				s.editing(who, now, func(done int64) { s.at(think(done), next) })
			} else {
				s.bash(who, now, func(done int64) { s.at(think(done), next) })
			}
		}
		s.at(at+3000, next)
	}
}

// editing is a batch of one or two calls of editing tools, and a cheap step.
func (s *simulation) editing(who string, at int64, then func(int64)) {
	n := 1 + s.rand.Int64N(2)
	done := at + n*(100+s.rand.Int64N(300))
	paths := make(map[string]bool)
	for i := range n {
		s.at(at+10+(done-at-20)*i/n, func(now int64) {
			path := s.some()
			s.edit(who, path, 5, now)
			paths[path] = true
		})
	}
	s.at(done, func(now int64) {
		for path := range paths {
			s.claims = append(s.claims, Claim{Who: who, From: at, To: now, Paths: []string{path}})
		}
		s.at(now+20, func(now int64) { s.look(now, slices.Collect(maps.Keys(paths))...); then(now) })
	})
}

// bash is a command that may have written anything, and a step.
func (s *simulation) bash(who string, at int64, then func(int64)) {
	c := Claim{Who: who, From: at}
	span := func(least, most float64) int64 { // even by its logarithm
		return int64(1000 * least * math.Pow(most/least, s.rand.Float64()))
	}
	last := at
	in := func(took int64, do func(now int64)) { // in the command, which takes that long
		last = at + took
		when := at + 10 + s.rand.Int64N(max(1, took-20))
		switch s.rand.IntN(5) {
		case 0, 1:
			when = last - 10 // what it has made
		case 2:
			when = at + 10
		}
		s.at(when, do)
	}
	path := s.some()
	switch kind := s.rand.IntN(100); {
	case kind < 35: // a test
		last = at + span(0.5, 120)
	case kind < 50: // sed
		c.Named = []string{path}
		in(span(0.2, 2), func(now int64) { s.rewrite(who, path, 0.05, now) })
	case kind < 58: // a formatter
		in(span(0.5, 8), func(now int64) {
			for _, path := range slices.Sorted(maps.Keys(s.disk)) {
				if s.rand.IntN(3) == 0 {
					s.rewrite(who, path, 0.04, now)
				}
			}
		})
	case kind < 70: // a generator
		in(span(0.2, 120), func(now int64) {
			path := fmt.Sprintf("gen/%d.go", s.rand.IntN(4))
			if f, ok := s.disk[path]; ok && len(f.lines) > 0 {
				s.rewrite(who, path, 0.2, now)
			} else {
				s.put(path, s.text(who, now, 5+s.rand.IntN(10)), now)
			}
		})
	case kind < 74: // mv
		to := fmt.Sprintf("moved/%d.go", s.n)
		c.Named = []string{path, to}
		in(span(0.2, 1), func(now int64) {
			if f, ok := s.disk[path]; ok && len(s.disk) > 8 {
				delete(s.disk, path)
				s.put(to, f.lines, now)
			}
		})
	case kind < 77: // rm
		c.Named = []string{path}
		in(span(0.2, 1), func(int64) {
			if len(s.disk) > 8 {
				delete(s.disk, path)
			}
		})
	case kind < 82: // git checkout -- f
		c.Named, c.Git = []string{path}, true
		in(span(0.2, 1), func(now int64) {
			if lines, ok := s.head[path]; ok && !same(lines, s.disk[path].lines) {
				s.put(path, lines, now)
			}
		})
	case kind < 91: // git commit -a
		in(span(0.2, 1), func(int64) {
			for path := range s.head {
				delete(s.head, path)
			}
			for path, f := range s.disk {
				s.head[path] = f.lines
			}
		})
	default: // git stash && test && git stash pop
		c.Git = true
		last = at + span(1, 60)
		s.stash(at+20, last-20)
	}
	s.at(last, func(now int64) {
		c.To = now
		s.claims = append(s.claims, c)
		s.at(now+30, func(now int64) { s.look(now); then(now) })
	})
}

// rewrite makes some lines of a file anew.
func (s *simulation) rewrite(who, path string, share float64, at int64) {
	f, ok := s.disk[path]
	if !ok || len(f.lines) == 0 {
		return
	}
	lines := slices.Clone(f.lines)
	for i := range lines {
		if s.rand.Float64() < share {
			lines[i] = s.text(who, at, 1)[0]
		}
	}
	if !same(lines, f.lines) {
		s.put(path, lines, at)
	}
}

// stash takes away what is not committed, and brings it back unless a file
// has changed meanwhile.
func (s *simulation) stash(from, to int64) {
	s.at(from, func(now int64) {
		kept := make(map[string]onDisk)
		gone := make(map[string]bool) // files that HEAD has and the worktree has not
		for path, lines := range s.head {
			f, ok := s.disk[path]
			if ok && same(lines, f.lines) {
				continue
			}
			if kept[path] = f; !ok {
				gone[path] = true
			}
			s.put(path, lines, now)
		}
		s.at(max(to, now), func(later int64) {
			for path := range kept {
				if s.disk[path].ctime != now {
					return // it fails, and all is gone
				}
			}
			for path, f := range kept {
				if gone[path] {
					delete(s.disk, path)
				} else {
					s.put(path, f.lines, later)
				}
			}
		})
	})
}

func same(a, b []written) bool {
	return slices.EqualFunc(a, b, func(a, b written) bool { return a.text == b.text })
}

// look adds a state: of all, or the last one with what is at these paths.
func (s *simulation) look(at int64, paths ...string) {
	state := State{At: at, Changed: make(map[string]Change), Looked: paths}
	if paths == nil {
		paths = slices.Concat(slices.Collect(maps.Keys(s.disk)), slices.Collect(maps.Keys(s.seen)))
	}
	for _, path := range paths {
		var c Change
		if f, ok := s.disk[path]; ok {
			c = Change{s.blob(f.lines), f.ctime}
		}
		if c.Entry == s.seen[path] {
			continue
		}
		state.Changed[path] = c
		if s.seen[path] = c.Entry; c.Entry.Mode == 0 {
			delete(s.seen, path)
		}
	}
	s.states = append(s.states, state)
}

func (s *simulation) blob(lines []written) object.Entry {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	text := []byte(b.String())
	h := format.Object(plumbing.BlobObject, text)
	s.blobs[h] = text
	return object.Entry{Mode: filemode.Regular, Hash: h}
}

func (s *simulation) read(h object.Hash) ([]byte, error) {
	text, ok := s.blobs[h]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return text, nil
}
