package evidence

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Checks returns the checks that a shell's command ran, in the order in which
// they are written, from where it began, "" for where the client works, and what
// the client says of its end and its result.
func (p Patterns) Checks(command, dir string, ended Ended, result string) []Check {
	if ended.How == Refused {
		return nil
	}
	result = ends(result)
	lost := noDirectory().MatchString(result)
	r := reading{
		names: p, place: place{dir: dir}, lines: lastWords(result), filtered: lost,
		functions: make(map[string]*syntax.Stmt), tells: make(map[tell]int), told: make(map[tell]int), holds: make(map[string]bool),
	}
	r.read(command, known(ended))
	r.runs = slices.DeleteFunc(r.runs, func(c run) bool { return c.status == skipped || notFound(&c, ended, result) })
	if len(r.runs) == 0 || lost && ended.Code != 0 {
		return nil
	}
	// What the command holds may be printed by anything.
	words := slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool { return strings.Contains(command, line) })
	of := make(map[Kind]int)
	for _, c := range r.runs {
		of[c.kind]++
	}
	nothing := ranNothing(words)
	var list []Check
	for _, c := range r.runs {
		said := Unknown // others of the kind may have said it
		if of[c.kind] == 1 {
			said = verdict(c.kind, words, len(r.runs) == 1)
		}
		outcome := r.outcome(&c, ended, said, nothing)
		list = append(list, Check{Kind: c.kind, Command: c.command, In: c.in, Outcome: outcome, Exit: c.exit(ended), Then: c.then})
	}
	return list
}

// maxEnd is how much of a result is read at each end, in bytes: what could not
// begin is told before all else, and how it ended last.
const maxEnd = 64 << 10

func ends(result string) string {
	if len(result) <= 2*maxEnd {
		return result
	}
	return result[:maxEnd] + "\n" + result[len(result)-maxEnd:]
}

// exit returns the status that a check exited with, nil if that is not known.
func (c *run) exit(ended Ended) *int {
	code := 0
	switch {
	case ended.How != Exited, c.status == hidden:
		return nil
	case c.status == nonzero:
		if code = cmp.Or(c.code, ended.Code); code == 0 {
			return nil
		}
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

// outcome weighs what is known of a check's end: its status, what its last words
// say, and whether there was nothing to run.
func (r *reading) outcome(c *run, ended Ended, said Outcome, nothing bool) Outcome {
	code := cmp.Or(c.code, ended.Code)
	switch {
	case ended.How == GoesOn, c.aside:
		return Unknown
	case ended.How == Halted, c.status == nonzero && (c.limited && code == 124 || code == 130 || code == 137 || code == 143):
		return Stopped
	case c.status == nonzero && said != Failed && nothing:
		return Unknown
	case c.status == nonzero:
		return Failed
	case c.status == zero && said != Failed && !nothing:
		return Passed
	case c.status == zero, said == Passed && (r.filtered || c.muted || c.many || nothing):
		return Unknown
	}
	return said
}

// What tells that a check could not even begin: for want of a script, a target, a
// module or a command by the name that it was called by, or of all.
var (
	noSuch  = lazy(`(?m)Missing script: "?([\w:.-]+)"?|No rule to make target '([^']+)'\.  Stop|: No module named ([\w.-]+)$|^error Command "([^"]+)" not found|no such command: .([\w-]+)`)
	noWorld = lazy(`(?m)^go: (go\.mod file not found|cannot find main module)|^(Error: )?Cannot connect to the Docker daemon`)
)

var noDirectory = lazy(`(?m)^(\S+: )?(line \d+: )?cd: `)

// notFound reports whether the check's program could not be started.
func notFound(c *run, ended Ended, result string) bool {
	if c.status == nonzero && (ended.Code == 126 || ended.Code == 127 || noWorld().MatchString(result)) {
		return true
	}
	words := strings.Fields(c.command)
	for _, m := range noSuch().FindAllStringSubmatch(result, -1) {
		if slices.ContainsFunc(m[1:], func(name string) bool { return name != "" && slices.Contains(words, name) }) {
			return true
		}
	}
	return strings.Contains(result, c.program+": command not found") || strings.Contains(result, c.program+": not found")
}
