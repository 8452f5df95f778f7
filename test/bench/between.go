package main

import (
	"bytes"
	"errors"
	"fmt"
)

// What people do between two hooks.

func largeSwitch(l *lab) error {
	t, err := l.large()
	if err != nil {
		return err
	}
	for _, r := range []*repository{t.hook, t.base} {
		var in bytes.Buffer
		commit(&in, "other", "change 20,000 files", "refs/heads/main^0")
		for i := range r.files {
			if i%5 == 1 || i%5 == 3 { // none of those that a round changes
				put(&in, path(i), source(i, 999))
			}
		}
		if err := r.load(&in); err != nil {
			return err
		}
	}
	branches := []string{"other", "main"}
	return t.disturbed(l.times(3), "a switch", "", func(r *repository, i int) error {
		_, err := r.git("switch", "-q", branches[i%2])
		return err
	})
}

func largeSparse(l *lab) error {
	t, err := l.large()
	if err != nil {
		return err
	}
	set := []string{"sparse-checkout", "set", "--cone"}
	for module := range 15 { // of 25; those that a round changes are among them
		set = append(set, fmt.Sprintf("src/module%02d", module))
	}
	return t.disturbed(l.times(3), "a sparse-checkout", "", func(r *repository, i int) error {
		args := set
		if i%2 == 1 {
			args = []string{"sparse-checkout", "disable"}
		}
		_, err := r.git(args...)
		return err
	})
}

func largeGC(l *lab) error {
	t, err := l.large()
	if err != nil {
		return err
	}
	return t.disturbed(l.times(3), "a gc", "", func(r *repository, _ int) error {
		_, err := r.git("gc", "-q", "--prune=now")
		return err
	})
}

// disturbed is race with something done to both repositories: before each prompt of a turn, and
// again before its end. disturb gets the number of the disturbance; there is an even number of
// them.
func (t *twins) disturbed(n int, what, target string, disturb func(r *repository, i int) error) error {
	s, err := t.hook.newSession()
	if err != nil {
		return err
	}
	t.base.round = t.hook.round
	for range warmUp {
		if _, _, _, err := t.round(s, true); err != nil {
			return err
		}
	}
	var prompts, stops, bases series
	for i := range n {
		if err := disturb(t.hook, 2*i); err != nil {
			return err
		}
		prompt, err := s.prompt()
		if err != nil {
			return err
		}
		if err := errors.Join(t.hook.change(), s.write(), disturb(t.hook, 2*i+1)); err != nil {
			return err
		}
		stop, err := s.stop()
		if err != nil {
			return err
		}
		prompts, stops = append(prompts, prompt), append(stops, stop)
		for k := range 2 {
			if err := errors.Join(disturb(t.base, k), t.base.change()); err != nil {
				return err
			}
			base, err := t.base.commitAll()
			if err != nil {
				return err
			}
			bases = append(bases, base)
		}
	}
	heading()
	compare("Stop after "+what, stops, bases, target)
	compare("UserPromptSubmit after "+what, prompts, bases, target)
	s.reportBackground()
	return s.check(-1)
}
