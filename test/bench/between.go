package main

import (
	"bytes"
	"fmt"
)

// What people do between two hooks.

func largeSwitch(l *lab) {
	t := l.large()
	for _, r := range []*repository{t.hook, t.base} {
		var in bytes.Buffer
		commit(&in, "refs/heads/other", "change 20,000 files")
		in.WriteString("from refs/heads/main^0\n")
		for i := range r.files {
			if i%5 == 1 || i%5 == 3 { // none of those that a round changes
				put(&in, path(i), source(i, 999))
			}
		}
		r.load(&in)
	}
	branches := []string{"other", "main"}
	t.disturbed(l.times(3), "a switch", func(r *repository, i int) { r.git("switch", "-q", branches[i%2]) })
}

func largeSparse(l *lab) {
	set := []string{"sparse-checkout", "set", "--cone"}
	for module := range 15 { // of 25; those that a round changes are among them
		set = append(set, fmt.Sprintf("src/module%02d", module))
	}
	commands := [][]string{set, {"sparse-checkout", "disable"}}
	l.large().disturbed(l.times(3), "a sparse-checkout", func(r *repository, i int) { r.git(commands[i%2]...) })
}

func largeGC(l *lab) {
	l.large().disturbed(l.times(3), "a gc", func(r *repository, _ int) { r.git("gc", "-q", "--prune=now") })
}

// disturbed is race with something done to both repositories: before each prompt of a turn, and again
// before its end. disturb gets the number of the disturbance; there is an even number of them.
func (t *twins) disturbed(n int, what string, disturb func(r *repository, i int)) {
	s := t.hook.newSession()
	t.base.round = t.hook.round
	for range warmUp {
		t.round(s, true)
	}
	var m rounds
	for i := range n {
		disturb(t.hook, 2*i)
		m.prompts = append(m.prompts, s.prompt())
		t.hook.change()
		s.write()
		disturb(t.hook, 2*i+1)
		m.stops = append(m.stops, s.stop())
		for k := range 2 {
			disturb(t.base, k)
			t.base.change()
			m.bases = append(m.bases, t.base.commitAll())
		}
	}
	heading()
	compare("Stop after "+what, m.stops, m.bases, "")
	compare("UserPromptSubmit after "+what, m.prompts, m.bases, "")
	s.reportBackground()
	s.check(-1)
}
