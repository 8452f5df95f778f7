//go:build unix

package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"gitagent/internal/redact"
)

// shapes are the places in records that have been seen, each with the kind of its value: "user.message.content string".
// A place is made of the names of fields from the top. An object is called what it says itself: its event, type, subtype. An
// array has one place for all its elements. Names that are data, such as those of files, count as one.
type shapes struct {
	places map[string]bool
	table  map[string][]string // of what Rebuild keeps: the fields of objects
}

// A novelty is a place that is not among the shapes.
type novelty struct {
	times   int
	test    string // in which it came first
	example string
}

// add takes a record for seen.
func (s *shapes) add(record any) {
	walk("", record, func(place, kind string, value any) bool {
		if text, ok := value.(string); ok && strings.HasPrefix(text, "<elided ") {
			kind = "" // whatever was there
		}
		s.places[place+" "+kind] = true
		return true
	})
}

// compare adds the places of a record that were not seen to news. What is below one of them is a part of it.
func (s *shapes) compare(record any, test string, news map[string]*novelty) {
	walk("", record, func(place, kind string, value any) bool {
		switch key := place + " " + kind; {
		case s.places[place+" "]:
			return false
		case s.places[key]:
			return true
		case s.knows(place):
			return false
		case news[key] == nil:
			news[key] = &novelty{test: test, example: example(value)}
			fallthrough
		default:
			news[key].times++
			return false
		}
	})
}

var words = regexp.MustCompile(`[\w-]+`)

// knows reports whether the table of what Rebuild keeps has a place: an object of that name, or a field of one.
func (s *shapes) knows(place string) bool {
	names := words.FindAllString(place, -1)
	if len(names) == 0 {
		return false
	}
	last := names[len(names)-1]
	if len(names) == 1 || strings.HasSuffix(place, "}") {
		_, ok := s.table[last]
		return ok
	}
	return slices.Contains(s.table[names[len(names)-2]], last)
}

// walk calls visit for each place of a value, and goes on below it if that returns true. Null says nothing.
func walk(place string, value any, visit func(place, kind string, value any) bool) {
	switch v := value.(type) {
	case map[string]any:
		if name := called(v); name != "" {
			if place != "" {
				name = place + "{" + name + "}"
			}
			place = name
		}
		if !visit(place, "object", v) {
			return
		}
		for name, field := range v {
			if !slices.Contains(given, name) {
				walk(strings.TrimPrefix(place+"."+nameOf(name), "."), field, visit)
			}
		}
	case []any:
		if visit(place, "array", v) {
			for _, element := range v {
				walk(place+"[]", element, visit)
			}
		}
	case string:
		visit(place, "string", v)
	case json.Number, float64:
		visit(place, "number", v)
	case bool:
		visit(place, "bool", v)
	}
}

// given are the fields with what the model gave to a tool: tests say what that is.
var given = []string{"input", "tool_input", "args"}

// called is what an object says that it is.
func called(object map[string]any) string {
	var names []string
	for _, field := range []string{"hook_event_name", "type", "subtype"} {
		if name, ok := object[field].(string); ok && plain.MatchString(name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// plain matches a name that is a client's word and no data.
var plain = regexp.MustCompile(`^[A-Za-z_$][A-Za-z_.$-]{0,40}\d?$`)

func nameOf(name string) string {
	if plain.MatchString(name) && !strings.Contains(name, ".") {
		return name
	}
	return "*"
}

var paths = regexp.MustCompile(`(/[\w.@+-]+){2,}`)

// example is a value for a person: its first 120 characters, without secrets and paths.
func example(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	safe := []rune(paths.ReplaceAllString((*redact.Rules)(nil).String(string(text)), "/..."))
	if len(safe) > 120 {
		return string(safe[:117]) + "..."
	}
	return string(safe)
}
