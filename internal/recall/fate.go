package recall

import (
	"hash/maphash"
	"strings"
	"time"
	"unicode"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
)

// A Fate is how a change was given up, in words for people; empty if it was not.
type Fate string

// The fates.
const (
	TakenBack  Fate = "taken back"          // the file became without it what it had been
	NotAdopted Fate = "not adopted"         // another fork of the same turn was
	Undone     Fate = "adopted, and undone" // its fork was
	Failed     Fate = "failed its check"    // and its lines were gone before tests passed again
)

var fates = []Fate{"", TakenBack, NotAdopted, Undone, Failed}

// A step is a change of a file: by a turn, or between two of its mission.
type step struct {
	of      record.TurnID // Turn is 0 between turns
	in      record.ID     // the mission in whose line it is
	branch  string        // HEAD's then, short
	at      time.Time
	session string
	given   Fate      // of its whole mission, or turn
	until   time.Time // of a turn that failed its check: when tests of its mission passed again; zero if they did not
	gitdiff.Versions
	pair  int // of trees, in which they are
	delta delta
}

// A delta is which lines a change removes and adds, wherever they are: equal
// ones are equal, as far as hashes go. The zero delta is not known.
type delta struct {
	removed, added uint64
	tells          bool // such lines are hardly twice the same by chance
}

func (d delta) opposite(other delta) bool {
	return d.tells && d.removed == other.added && d.added == other.removed
}

func (d delta) same(other delta) bool {
	return d.tells && d.removed == other.removed && d.added == other.added
}

var seed = maphash.MakeSeed()

// long is how many letters and digits a line has that tells, if it is alone.
const long = 8

// deltaOf reads it off a patch's hunks.
func deltaOf(hunks string) (d delta) {
	telling := 0
	for line := range strings.Lines(hunks) {
		sum := &d.removed
		switch line[0] {
		case '+':
			sum = &d.added
		case '-':
		default:
			continue
		}
		*sum += maphash.String(seed, line[1:])
		telling += min(letters(line[1:]), long)
	}
	d.tells = telling >= long
	return d
}

// letters counts the letters and digits of a line.
func letters(line string) (n int) {
	for _, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// A given is a turn's change that was given up.
type given struct {
	step
	fate Fate
	in   record.TurnID // the turn that took it back; zero if none did, or it is not known
}

// judge says which of the steps of one file, in order of time, were given up, and
// which were not. A change is taken back when, in its mission, the file becomes
// what it had been before, or when exactly its lines go and those that it removed
// come again, there or by another mission's turn; on the same branch, since what
// was left on another one may be merged. If later the file becomes what the change
// made of it, or the lines come again, it is not given up.
func judge(steps []step) (up []given, kept []step) {
	type version struct {
		in   record.ID
		blob object.Hash
	}
	first := make(map[version]int) // the step before which the file was first that
	for i, s := range steps {
		if _, known := first[version{s.in, s.Old}]; !known {
			first[version{s.in, s.Old}] = i
		}
	}
	for i, s := range steps {
		if s.of.Turn == 0 {
			continue
		}
		g := given{step: s, fate: s.given}
		for _, later := range steps[i+1:] {
			mine, there := later.in == s.in, later.branch == s.branch
			if !mine && (later.of.Turn == 0 || !there) {
				continue
			}
			at, known := first[version{s.in, later.New}]
			switch {
			case there && (mine && known && at <= i || s.delta.opposite(later.delta)):
				g.fate, g.in = TakenBack, record.TurnID{}
				if later.of.Turn > 0 {
					g.in = later.of
				}
			case mine && later.New == s.New, s.delta.same(later.delta):
				g.fate, g.in = s.given, record.TurnID{}
			}
		}
		if g.fate == "" {
			kept = append(kept, s)
		} else {
			up = append(up, g)
		}
	}
	return up, kept
}

// chosenForks are the forks of a turn that were adopted or finished.
type chosenForks map[record.TurnID][]record.ID

// givenUp says whether all work of a fork was given up: it was adopted and that
// undone, or another fork of the same turn was chosen.
func givenUp(m *record.Mission, last int, at time.Time, chosen chosenForks) Fate {
	switch {
	case m.ForkedFrom == nil || m.ForkedFrom.Turn == 0 || m.Adopted.Holds(last) || m.Finished.Holds(last, at):
		return ""
	case m.Adopted != nil && m.Adopted.Undone:
		return Undone
	case m.Adopted == nil && m.Finished == nil && len(chosen[*m.ForkedFrom]) > 0:
		return NotAdopted
	}
	return ""
}
