package evidence

import (
	"slices"
	"strings"
)

// A scope is what a check looks at, by its command.
type scope struct {
	what           string   // the program and what it is told to do
	options        []string // that may change what is looked at, in order
	chosen, places []string // the tests and files that are named, without which it is all
}

// covers reports whether a check of the same kind looks at all that another one
// looked at: it is the same command, but for options that change nothing, or one
// that names no tests or files, or more of them.
func (c *Check) covers(other *Check) bool {
	switch {
	case c.repeats(other):
		return true
	case c.Kind != other.Kind || c.In != other.In || strings.HasSuffix(c.Command, "…"):
		return false
	}
	wide, narrow := scopeOf(c), scopeOf(other)
	all := func(in []string, names []string, holds func(a, b string) bool) bool {
		return !slices.ContainsFunc(in, func(a string) bool {
			return !slices.ContainsFunc(names, func(b string) bool { return holds(a, b) })
		})
	}
	return wide.what == narrow.what && slices.Equal(wide.options, narrow.options) &&
		all(wide.chosen, narrow.chosen, func(a, b string) bool { return a == b }) &&
		(len(wide.places) == 0 || len(narrow.places) > 0 && all(narrow.places, wide.places, within))
}

// within reports whether a path, or a test in it, is one that is named or below
// it.
func within(path, named string) bool {
	if dir, recursive := strings.CutSuffix(named, "..."); recursive {
		return dir == "./" && !strings.HasPrefix(path, "..") && !strings.HasPrefix(path, "/") || strings.HasPrefix(path+"/", dir)
	}
	named = strings.TrimSuffix(named, "/")
	return path == named || strings.HasPrefix(path, named+"/") || strings.HasPrefix(path, named+"::")
}

// repeats reports whether a check is the same as another one, as far as records
// have their commands.
func (c *Check) repeats(other *Check) bool {
	return c.Kind == other.Kind && c.In == other.In && c.Command == other.Command && !strings.HasSuffix(c.Command, "…")
}

// scopeOf reads a command: its first words that make it a check of its kind say
// what it does. Of a program that makes targets, all of them are named.
func scopeOf(c *Check) (s scope) {
	words := strings.Fields(c.Command)
	if len(words) == 0 {
		return s
	}
	name, n := base(words[0]), 1
	for n < len(words) && !several.has(name) && Patterns(nil).kind(words[:n]) != c.Kind {
		n++
	}
	what := slices.DeleteFunc(slices.Clone(words[:n]), changesNothing)
	if len(what) > 2 && python(name) && what[1] == "-m" {
		what = what[2:]
	}
	s.what = strings.Join(what, " ")
	for rest := words[n:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		switch option, _, has := strings.Cut(word, "="); {
		case changesNothing(word), several.has(name) && word == "-k", word == "." && name != "go":
		case chooses.has(option):
			if !has && len(rest) > 1 {
				rest = rest[1:]
				word += "=" + rest[0]
			}
			s.chosen = append(s.chosen, word)
		case strings.HasPrefix(word, "-"):
			s.options = append(s.options, word)
		default:
			s.places = append(s.places, word)
		}
	}
	slices.Sort(s.options)
	if len(s.places) == 0 && (name == "go" || several.has(name)) {
		s.places = []string{"."}
	}
	for i, place := range s.places {
		if name == "go" && !strings.HasSuffix(place, "...") {
			s.places[i] = place + "/." // and nothing below it
		}
	}
	return s
}

// changesNothing reports whether a word leaves as it is what is looked at.
func changesNothing(word string) bool {
	option, _, _ := strings.Cut(word, "=")
	return same.has(option) || strings.HasPrefix(word, "-j") || strings.Trim(word, "0123456789") == ""
}

var (
	same = set("-- run run-script -v -vv -q -s -x -ra --verbose --quiet --silent --exitfirst --maxfail --tb --color --colors --no-header --reporter --runInBand --ci --watch --watchAll --keep-going -count -timeout --timeout")
	// chooses are options that name tests.
	chooses = set("-k -run -t -R -g -e --grep --filter --tests --testNamePattern --test-name-pattern --example")
)
