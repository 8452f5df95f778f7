package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Fields list what is kept of a client's records when a conversation is
// rebuilt: nothing else of them is.
type Fields struct {
	// Known has the fields of objects by the objects' names, in the order in
	// which they are written. Braces after a field have the name of the objects
	// in it; without braces any value is kept. "?" marks a field that a foreign
	// conversation loses.
	Known map[string]string
	// Foreign reports whether a foreign conversation loses an object of a list.
	// It is nil if it loses none.
	Foreign func(element gjson.Result) bool
	// Refused reports whether an object, by its name, makes all that it is in
	// worthless. It is nil if none does.
	Refused func(name string, object gjson.Result) bool
}

// Keep returns the known part of the object v; ok is false if it repeats a
// field, is too deep, or has something refused.
func (f Fields) Keep(name string, v gjson.Result, foreign bool) (kept []byte, ok bool) {
	parts, ok := Members(v)
	if !ok || !v.IsObject() || f.Refused != nil && f.Refused(name, v) {
		return nil, false
	}
	out := []byte{'{'}
	for word := range strings.FieldsSeq(f.Known[name]) {
		word, objects, _ := strings.Cut(word, "{")
		field, own := strings.CutSuffix(word, "?")
		part, is := parts[field]
		if !is || own && foreign {
			continue
		}
		value, ok := f.values(strings.TrimSuffix(objects, "}"), part, foreign)
		if !ok {
			return nil, false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), field...), '"', ':')
		out = append(out, value...)
	}
	return append(out, '}'), true
}

// values returns a value with the known parts of its objects. A list loses
// objects with nothing known, and what a foreign one loses.
func (f Fields) values(name string, v gjson.Result, foreign bool) ([]byte, bool) {
	switch {
	case name == "" || !v.IsObject() && !v.IsArray():
		return []byte(v.Raw), Plain(v, maxDepth)
	case v.IsObject():
		return f.Keep(name, v, foreign)
	}
	out, ok := []byte{'['}, true
	v.ForEach(func(_, element gjson.Result) bool {
		if !element.IsObject() || foreign && f.Foreign != nil && f.Foreign(element) {
			return true
		}
		var kept []byte
		if kept, ok = f.Keep(name, element, foreign); !ok || string(kept) == "{}" {
			return ok
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, kept...)
		return true
	})
	return append(out, ']'), ok
}

// maxDepth bounds nesting in values kept whole: tools' inputs and answers.
const maxDepth = 50
