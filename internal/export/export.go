// Package export writes what is known of commits' lines in public formats:
// Agent Trace, see [NewTrace], and the notes of the Git AI Standard, see [Note]
// and [Stream]. The same commits give the same bytes.
//
// Lines that no turn is known to have written are left out. Both formats have a
// word for a line by a person, but mean that the person was seen writing it.
package export

import (
	"strings"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/git/object"
	"gitagent/turns"
)

// A CommitShare is a commit with the lines of turns that it brought.
type CommitShare struct {
	Hash  object.Hash
	At    time.Time // when it was committed
	Files []blame.Added
}

// Dates that both formats and git can hold.
var (
	firstDate = time.Unix(0, 0)
	lastDate  = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
)

// date returns t, or the nearest date that can be written.
func date(t time.Time) time.Time {
	switch {
	case t.Before(firstDate):
		t = firstDate
	case t.After(lastDate):
		t = lastDate
	}
	return t.UTC()
}

// A span is lines of a file with the same turns as possible writers.
type span struct {
	turns  []*turns.Turn // the most likely first
	ranges [][2]int      // first and last lines, in order
}

// spans groups lines, which are in order, into spans in order of first lines.
func spans(lines []blame.Line) []*span {
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

// name distinguishes a turn, even from one with its number in another clone.
func name(t *turns.Turn) string {
	return t.ID().String() + " " + t.At.UTC().Format(time.RFC3339Nano)
}

// anonymous reports whether a turn may have recorded the user's own work.
func anonymous(t *turns.Turn) bool { return t.Agent == "" && t.Model == "" && t.Session == "" }

// modelName returns the client's name for a model, without a file's directory.
func modelName(model string) string {
	if model != "" && strings.ContainsRune("/~.", rune(model[0])) || strings.ContainsRune(model, '\\') {
		model = model[strings.LastIndexAny(model, `/\`)+1:]
	}
	return model
}
