package evidence

import (
	"strings"
)

// Checks returns the checks that a shell's command ran, in the order in which
// they are written, from what the client says of its end and its result.
func (p Patterns) Checks(command string, ended Ended, result string) []Check {
	if ended.How == Refused {
		return nil
	}
	r := reading{names: p}
	r.read(command, known(ended))
	if len(r.runs) == 0 || noDirectory().MatchString(result) && ended.Code != 0 {
		return nil
	}
	words := lastWords(result)
	silent := make(map[Kind]int) // checks of which only their words may tell
	for _, c := range r.runs {
		if c.status == hidden {
			silent[c.kind]++
		}
	}
	var list []Check
	for _, c := range r.runs {
		if c.status == skipped || notFound(&c, ended, result) {
			continue
		}
		list = append(list, Check{Kind: c.kind, Command: c.command, Outcome: r.outcome(&c, ended, words, silent[c.kind] == 1), Exit: c.exit(ended)})
	}
	return list
}

// exit returns the status that a check exited with, nil if that is not known.
func (c *run) exit(ended Ended) *int {
	code := 0
	switch {
	case ended.How != Exited, c.status == hidden, c.status == nonzero && ended.Code == 0:
		return nil
	case c.status == nonzero:
		code = ended.Code
	}
	return &code
}

func known(e Ended) status {
	switch {
	case e.How == Exited && e.Code == 0:
		return zero
	case e.How == Exited:
		return nonzero
	}
	return hidden
}

// outcome weighs what is known of a check's end. alone says that no other check
// of its kind may have said the last words.
func (r *reading) outcome(c *run, ended Ended, words []string, alone bool) Outcome {
	s := c.status
	if s == hidden {
		s = lineOf(c.ends, words)
	}
	switch {
	case ended.How == GoesOn, c.aside && s == hidden:
		return Unknown
	case ended.How == Halted, s == nonzero && c.limited && ended.Code == 124, s == nonzero && (ended.Code == 130 || ended.Code == 137 || ended.Code == 143):
		return Stopped
	case s == nonzero:
		return Failed
	}
	said := verdict(c.kind, words)
	switch {
	case s == zero && said != Failed && !ranNothing(words):
		return Passed
	case s == zero, !alone:
		return Unknown
	case said == Passed && (r.filtered || c.muted || ranNothing(words)):
		return Unknown
	}
	return said
}

// lineOf returns the status that the command's own lines tell.
func lineOf(ends []endLine, words []string) status {
	for i := len(words) - 1; i >= 0; i-- {
		for _, e := range ends {
			switch {
			case !e.code && words[i] == e.prefix:
				return e.status
			case e.code && strings.HasPrefix(words[i], strings.TrimLeft(e.prefix, " ")) && strings.HasSuffix(words[i], strings.TrimRight(e.suffix, " ")):
				at := len(strings.TrimLeft(e.prefix, " "))
				if code, ok := number(words[i][at:]); ok {
					return known(Exit(code))
				}
			}
		}
	}
	return hidden
}

var noDirectory = lazy(`(?m)^(\S+: )?(line \d+: )?cd: `)

// notFound reports whether the check's program could not be started.
func notFound(c *run, ended Ended, result string) bool {
	if c.status == nonzero && (ended.Code == 126 || ended.Code == 127) {
		return true
	}
	return strings.Contains(result, c.program+": command not found") || strings.Contains(result, c.program+": not found")
}
