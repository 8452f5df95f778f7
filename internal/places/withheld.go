package places

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Withheld are the turns of a session that nothing is recorded of, also later:
// while they ran, it was off where the session stands.
type Withheld []span

// A span is a turn, or the rest of one that had begun before.
type span struct {
	from, to time.Time // of its events
	prompt   string    // the turn's id in the client; "" if it has none, or if this is the rest of one
	open     bool      // the next prompt has not come
	whole    bool
}

// What a line of a session's file says has happened.
const (
	prompted = "prompted" // a turn began that is withheld
	went     = "went"     // and went on
	resumed  = "resumed"  // a turn began that is not
)

// early is how long before the event of a prompt a client may have noted it.
const early = time.Second

// Withhold notes an event of a session while recording is off, by the turn's id
// in the client; begins says that it is a prompt.
func (p *Places) Withhold(session, prompt string, at time.Time, begins bool) error {
	if begins {
		return p.note(session, prompted, prompt, at)
	}
	return p.note(session, went, "", at)
}

// Resume notes that a turn begins that is recorded.
func (p *Places) Resume(session string, at time.Time) error { return p.note(session, resumed, "", at) }

func (p *Places) note(session, what, prompt string, at time.Time) error {
	return p.writeTo(filepath.Join(withheld, session), os.O_APPEND, fmt.Sprintf("%d %s %s\n", at.UnixMilli(), what, idOf(prompt)))
}

// idOf returns a turn's id as one word.
func idOf(prompt string) string { return strings.Join(strings.Fields(prompt), "_") }

// Withheld returns what is withheld of a session.
func (p *Places) Withheld(session string) Withheld {
	if p.dir == nil {
		return nil
	}
	text, _ := p.dir.ReadFile(filepath.Join(withheld, session))
	return parseWithheld(string(text))
}

func parseWithheld(text string) (list Withheld) {
	for line := range strings.Lines(text) {
		var ms int64
		var what, prompt string
		_, _ = fmt.Sscan(line, &ms, &what, &prompt) // most have no id
		at := time.UnixMilli(ms)
		switch open := list.Open(); {
		case what == prompted || what == went && !open:
			if open {
				list[len(list)-1].open = false
			}
			list = append(list, span{from: at, to: at, prompt: prompt, open: true, whole: what == prompted})
		case open && what == went:
			list[len(list)-1].to = at
		case open && what == resumed:
			list[len(list)-1].open = false
		}
	}
	return list
}

// WithheldBefore returns what is withheld of other sessions, of which a client's
// file may be a copy. Only the times of prompts tell.
func (p *Places) WithheldBefore() (list Withheld) {
	if p.dir == nil {
		return nil
	}
	entries, _ := p.dir.ReadDir(withheld)
	for _, e := range entries {
		for _, s := range p.Withheld(e.Name()) {
			if s.whole {
				list = append(list, span{from: s.from, to: s.from, prompt: s.prompt, whole: true})
			}
		}
	}
	return list
}

// Open reports whether the turn that runs is withheld.
func (w Withheld) Open() bool { return len(w) > 0 && w[len(w)-1].open }

// Turn reports whether a turn is withheld that began at a time, with the client's
// id or "". What can't be told is.
func (w Withheld) Turn(prompt string, at time.Time) bool {
	prompt = idOf(prompt)
	return slices.ContainsFunc(w, func(s span) bool {
		switch {
		case prompt != "" && s.prompt == prompt:
			return true
		case !s.whole:
			return at.IsZero() && prompt == ""
		case prompt != "" && s.prompt != "":
			return false
		}
		return at.IsZero() || !at.Before(s.from.Add(-early)) && !at.After(s.to)
	})
}

// At reports whether something was said in a turn that is withheld, or its rest.
func (w Withheld) At(at time.Time) bool {
	return slices.ContainsFunc(w, func(s span) bool { return !at.Before(s.from) && !at.After(s.to) })
}
