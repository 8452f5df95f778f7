package owners

import (
	"slices"
	"strings"
)

// A label says whose something is. They are ordered: a side takes a label and
// all above it for the turn's.
type label uint8

const (
	before label = iota // it was there at the start
	others              // surely of somebody else
	unsure
	own // surely the turn's
)

const (
	grace  = 50  // ms between the clock of a claim and that of a file
	sure   = 0.9 // the share from which a change is somebody's
	naming = 20  // how much more a command counts that names the file, or that is git
)

// A rule tells which claim explains a change.
type rule struct {
	turn   *Turn
	claims []Claim // those that reach into the turn
	person float64 // the weight of somebody nobody knows of
}

func newRule(t *Turn) *rule {
	r := &rule{turn: t}
	for _, c := range t.Claims {
		if c.From <= t.To+grace && c.To >= t.From-grace {
			r.claims = append(r.claims, c)
		}
	}
	unexplained := 0
	r.changes(func(path string, c Change, from, to int64) {
		if !slices.ContainsFunc(r.claims, func(claim Claim) bool { return claim.May(path, c, from, to) }) {
			unexplained++
		}
	})
	r.person = 0.3 * (float64(unexplained) + 0.3) / max(1, float64(t.To-t.From)/1000)
	return r
}

// changes calls f for each change, with the times of the states around it.
func (r *rule) changes(f func(path string, c Change, from, to int64)) {
	from := r.turn.From
	for _, state := range r.turn.States {
		for path, c := range state.Changed {
			f(path, c, from, state.At)
		}
		from = state.At
	}
}

// alone reports whether nobody else is known and own claims explain all.
func (r *rule) alone() bool {
	for _, c := range r.claims {
		if c.Who != r.turn.Who {
			return false
		}
	}
	alone := true
	r.changes(func(path string, c Change, from, to int64) {
		alone = alone && slices.ContainsFunc(r.claims, func(claim Claim) bool { return claim.May(path, c, from, to) })
	})
	return alone
}

// May reports whether a change that was seen between two states may be the
// claim's.
func (c Claim) May(path string, change Change, from, to int64) bool {
	if c.Paths != nil && !slices.Contains(c.Paths, path) {
		return false
	}
	if change.Entry.Mode == 0 || change.Ctime == 0 {
		return c.overlaps(from, to)
	}
	// One that had not begun when the change was seen did not make it.
	return c.From <= to && c.From-grace <= change.Ctime && change.Ctime <= c.To+grace
}

func (c Claim) overlaps(from, to int64) bool { return c.To > from && c.From <= to }

// names reports whether the claim's command names the file, or is git.
func (c Claim) names(path string) bool {
	return c.Git || slices.Contains(c.Paths, path) || slices.ContainsFunc(c.Named, func(name string) bool {
		rest, ok := strings.CutPrefix(path, name)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// explain tells whose a change is that was seen between two states, and who
// else it is, or may be, if it is not surely the turn's.
func (r *rule) explain(path string, c Change, from, to int64) (by label, who string) {
	if by, who, ok := r.byPath(path, c, from, to); ok {
		return by, who
	}
	weights := map[string]float64{"": r.person}
	mine, all := 0.0, r.person
	for _, claim := range r.claims {
		if !claim.May(path, c, from, to) {
			continue
		}
		weight := 1 / (float64(claim.To-claim.From)/1000 + 0.5)
		if claim.names(path) {
			weight *= naming
		}
		all += weight
		if claim.Who == r.turn.Who {
			mine += weight
		} else {
			weights[claim.Who] += weight
		}
	}
	for other, weight := range weights {
		if weight > weights[who] || weight == weights[who] && other < who {
			who = other
		}
	}
	switch {
	case mine >= sure*all:
		return own, ""
	case all-mine >= sure*all:
		return others, who
	default:
		return unsure, who
	}
}

// byPath tells whose a change is if editing tools name the file. It is not ok
// if none does, or if another session's command does too.
func (r *rule) byPath(path string, c Change, from, to int64) (by label, who string, ok bool) {
	editors := make(map[string]bool)
	for _, claim := range r.claims {
		if claim.Paths != nil && slices.Contains(claim.Paths, path) && claim.overlaps(from, to) {
			editors[claim.Who] = true
		}
	}
	for _, claim := range r.claims {
		if claim.Paths == nil && claim.overlaps(from, to) && claim.names(path) && !editors[claim.Who] {
			return 0, "", false
		}
	}
	mine := editors[r.turn.Who]
	delete(editors, r.turn.Who)
	for editor := range editors {
		if who == "" || editor < who {
			who = editor
		}
	}
	switch {
	case mine && who == "":
		return own, "", true
	case mine:
		return unsure, who, true
	case who != "":
		return others, who, true
	}
	return 0, "", false
}
