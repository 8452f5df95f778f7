// Package export writes what is known of commits' lines in public formats, for other tools to read: Agent
// Trace, see [NewTrace], and the notes of the Git AI Standard, see [Note] and [Stream]. It takes values and
// returns values: the same commits give the same bytes.
//
// What no turn is known to have written is left out. Both formats have words for a line that a person wrote,
// and mean that somebody saw it being written; that a turn did not write it is less.
package export

import (
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/provenance"
	"gitagent/turns"
)

// A Commit is one with the lines of turns that it brought.
type Commit struct {
	Hash  git.Hash
	At    time.Time // when it was committed
	Files []provenance.Brought
}

// Dates that both formats and git can hold.
var (
	firstDate = time.Unix(0, 0)
	lastDate  = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
)

// date is a time, or the nearest that can be written.
func date(t time.Time) time.Time {
	switch {
	case t.Before(firstDate):
		t = firstDate
	case t.After(lastDate):
		t = lastDate
	}
	return t.UTC()
}

// A span is lines of a file that the same turn wrote, or one of the same turns.
type span struct {
	turns  []*turns.Turn // the first one most likely
	ranges [][2]int      // first line and last, in order
}

// spans groups lines, which are in order: those whose first line comes first are the first.
func spans(lines []provenance.Line) []*span {
	var list []*span
	known := make(map[string]*span)
	for _, l := range lines {
		writers := append([]*turns.Turn{l.Turn}, l.Others...)
		var key strings.Builder
		for _, t := range writers {
			key.WriteString(name(t) + "\n")
		}
		s := known[key.String()]
		if s == nil {
			s = &span{turns: writers}
			known[key.String()] = s
			list = append(list, s)
		}
		if n := len(s.ranges); n > 0 && s.ranges[n-1][1] == l.Blame.Number-1 {
			s.ranges[n-1][1]++
		} else {
			s.ranges = append(s.ranges, [2]int{l.Blame.Number, l.Blame.Number})
		}
	}
	return list
}

// name tells a turn from others, those of the same number among them that two clones recorded.
func name(t *turns.Turn) string {
	return t.ID().String() + " " + t.At.UTC().Format(time.RFC3339Nano)
}

// anonymous reports whether a turn may have been recorded by hand, for nobody's work but the user's own.
func anonymous(t *turns.Turn) bool { return t.Agent == "" && t.Model == "" && t.Session == "" }

// modelName is a model as its client names it. Of one that is a file only the file's name is told, not where
// it is on this machine.
func modelName(model string) string {
	if model != "" && strings.ContainsRune("/~.", rune(model[0])) || strings.ContainsRune(model, '\\') {
		model = model[strings.LastIndexAny(model, `/\`)+1:]
	}
	return model
}
