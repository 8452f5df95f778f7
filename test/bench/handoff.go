package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// otherSessions is how many sessions have worked in the repository before: as many as are looked
// at.
const otherSessions = 32

// handoff measures the hooks that begin and end a session.
func handoff(l *lab) error {
	program, err := l.build("git-agent-handoff")
	if err != nil {
		return err
	}
	r, err := l.newRepository("handoff", smallFiles)
	if err == nil {
		err = r.enable()
	}
	if err != nil {
		return err
	}
	heading()
	if err := r.starts(program, "SessionStart, nothing to continue", "startup", "", "10"); err != nil {
		return err
	}
	var ends series
	for range otherSessions {
		x, err := r.shortSession()
		if err != nil {
			return err
		}
		ends = append(ends, x)
	}
	alone("SessionEnd, which hands off", ends, "")
	if err := r.starts(program, fmt.Sprintf("SessionStart after /clear, %d sessions before", otherSessions), "clear", "", "10"); err != nil {
		return err
	}
	if err := r.starts(program, fmt.Sprintf("SessionStart, one line, %d sessions before", otherSessions), "startup", "the last session here", "30"); err != nil {
		return err
	}
	document := "# State\n\n" + strings.Repeat("What is done and what is next, in some words.\n", 300)
	if _, err := r.feed(r.dir, []byte(document), program, "write", "-"); err != nil {
		return err
	}
	return r.starts(program, "SessionStart, with a handoff of 9,000 units", "startup", "Handoff (from previous session)", "30")
}

// shortSession has one turn. Its end is measured.
func (r *repository) shortSession() (sample, error) {
	s, err := r.newSession()
	if err != nil {
		return sample{}, err
	}
	if _, err := s.prompt(); err != nil {
		return sample{}, err
	}
	if err := errors.Join(r.change(), s.write()); err != nil {
		return sample{}, err
	}
	if _, err := s.stop(); err != nil {
		return sample{}, err
	}
	return s.hook(s.payload("SessionEnd", map[string]any{"reason": "other"}))
}

// starts measures the hook of a session's start, which tells it something that holds want, or
// nothing. Every session is the first that is told: what was noted about it is forgotten.
func (r *repository) starts(program, name, source, want, target string) error {
	var all series
	for range r.times(30) {
		s, err := r.newSession()
		if err != nil {
			return err
		}
		out, x, err := r.timed(r.dir, s.env, s.payload("SessionStart", map[string]any{"source": source}), program, "hook")
		if err != nil {
			return err
		}
		if want == "" && len(out) > 0 || !bytes.Contains(out, []byte(want)) {
			return fmt.Errorf("%s: the session was told %q", name, out)
		}
		state := filepath.Join(r.dir, ".git", "agent", "sessions", s.id+".json")
		if err := os.Remove(state); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		all = append(all, x)
	}
	alone(name, all, target)
	return nil
}
