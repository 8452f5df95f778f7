package owners

import (
	"cmp"
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
	grace  = 50   // ms between the clock of a claim and that of a file
	sure   = 0.8  // the share from which a change is somebody's
	naming = 20   // how much more a command counts that names the file, or that is git
	edge   = 1000 // ms after a command's beginning and before its end, in which half of all is written

	// How often a person changes a file that is there, alone, for each time that
	// one did while no claim ran; and how often what looks like a program's.
	saves, programs = 10, 0.02
	unseen          = 0.1 // changes of a person in a turn in which none was seen
	leastFree       = 5   // seconds: in a short turn one change says little of how often they come
)

// A rule tells which claim explains a change.
type rule struct {
	turn        *Turn
	claims      []Claim // those that reach into the turn, the first to begin first
	unexplained float64 // changes that are of no claim
	free        float64 // seconds that are of no claim
}

func newRule(t *Turn) *rule {
	r := &rule{turn: t}
	for _, c := range t.Claims {
		if c.From <= t.To+grace && c.To >= t.From-grace {
			r.claims = append(r.claims, c)
		}
	}
	slices.SortFunc(r.claims, func(a, b Claim) int { return cmp.Compare(a.From, b.From) })
	r.changes(func(path string, c Change, from, to int64) {
		if !r.explained(path, c, from, to) {
			r.unexplained++
		}
	})
	at := t.From
	for _, c := range r.claims {
		r.free += max(0, seconds(c.From-at))
		at = max(at, c.To)
	}
	r.free = max(leastFree, r.free+max(0, seconds(t.To-at)))
	return r
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// changes calls f for each change, with the times of the states around it.
func (r *rule) changes(f func(path string, c Change, from, to int64)) {
	last := looks{whole: r.turn.From}
	for _, state := range r.turn.States {
		for path, c := range state.Changed {
			f(path, c, last.at(path), state.At)
		}
		last.add(state)
	}
}

// looks are the times at which files were seen last.
type looks struct {
	whole int64            // all of them
	of    map[string]int64 // those that were seen alone since
}

func (l *looks) at(path string) int64 { return max(l.whole, l.of[path]) }

func (l *looks) add(s State) {
	if s.Looked == nil {
		l.whole = s.At
		return
	}
	if l.of == nil {
		l.of = make(map[string]int64)
	}
	for _, path := range s.Looked {
		l.of[path] = s.At
	}
}

// alone reports whether nobody else is known and own claims explain all.
func (r *rule) alone() bool {
	return r.unexplained == 0 && !slices.ContainsFunc(r.claims, func(c Claim) bool { return c.Who != r.turn.Who })
}

func (r *rule) explained(path string, c Change, from, to int64) bool {
	return slices.ContainsFunc(r.claims, func(claim Claim) bool { return claim.May(path, c, from, to) })
}

// May reports whether a change that was seen between two states may be the
// claim's.
func (c Claim) May(path string, change Change, from, to int64) bool {
	if c.Paths != nil && !slices.Contains(c.Paths, path) || !c.overlaps(from, to) {
		return false
	}
	return change.Entry.Mode == 0 || change.Ctime == 0 || c.From-grace <= change.Ctime && change.Ctime <= c.To+grace
}

// density tells how likely a command writes at a time rather than at another,
// per second: it does so most often as it begins, or as it ends.
func (c Claim) density(at int64) float64 {
	long := seconds(c.To-c.From) + 0.5
	switch {
	case at == 0 || long <= seconds(2*edge):
		return 1 / long
	case at-c.From < edge || c.To-at < edge:
		return 0.5/long + 0.5/seconds(2*edge)
	default:
		return 0.5 / long
	}
}

// overlaps reports whether a claim may have made what was seen between two states:
// it had begun, and was not over when the first one was looked at.
func (c Claim) overlaps(from, to int64) bool { return c.To > from && c.From <= to }

// names reports whether the claim's command names the file, or is git.
func (c Claim) names(path string) bool {
	return c.Git || slices.Contains(c.Paths, path) || slices.ContainsFunc(c.Named, func(name string) bool {
		rest, ok := strings.CutPrefix(path, name)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// A sighting is a change that was seen between two states.
type sighting struct {
	Change
	path     string
	from, to int64
	program  bool // it looks like a program's: a new file, or several at once
}

// explain tells whose a change is, and who else's it is, or may be, if it is
// not surely the turn's.
func (r *rule) explain(c sighting) (by label, who string) {
	named, editor, last := r.byPath(c)
	if named != before && last {
		return named, editor
	}
	by, who = r.byTime(c)
	if named != before && by != named { // an editing tool wrote it, and then somebody else
		return unsure, cmp.Or(editor, who)
	}
	return by, who
}

// byPath tells whose a change is if editing tools name the file, and whether
// one of them wrote last; before if none does, or if another's command does too.
func (r *rule) byPath(c sighting) (by label, who string, last bool) {
	editors := make(map[string]bool)
	for _, claim := range r.claims {
		if slices.Contains(claim.Paths, c.path) && claim.overlaps(c.from, c.to) && (c.Ctime == 0 || claim.From-grace <= c.Ctime) {
			editors[claim.Who] = true
			last = last || claim.May(c.path, c.Change, c.from, c.to)
		}
	}
	for _, claim := range r.claims {
		if claim.Paths == nil && claim.overlaps(c.from, c.to) && claim.names(c.path) && !editors[claim.Who] {
			return before, "", false
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
	case len(editors) == 0 && mine:
		return own, "", last
	case len(editors) == 0:
		return before, "", false
	case mine:
		return unsure, who, last
	default:
		return others, who, last
	}
}

// byTime tells whose a change is by the claims that ran when the file changed,
// which compete with each other and with somebody nobody knows of.
func (r *rule) byTime(c sighting) (by label, who string) {
	person := (saves*r.unexplained + unseen) / r.free
	if c.program {
		person = (programs*r.unexplained + unseen) / r.free
	}
	weights := map[string]float64{"": person}
	mine, all := 0.0, person
	for _, claim := range r.claims {
		if !claim.May(c.path, c.Change, c.from, c.to) {
			continue
		}
		weight := claim.density(c.Ctime)
		if claim.names(c.path) {
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
