package record

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// What a purge may do with a field stands beside it, as `purge:"text"`. A
// struct without such a tag has its fields' tags. What is found in anything but
// text is named, and stays.
const (
	Formal = "formal" // the record could not be read without it, or would mean something else
	Number = "number" // stays
	Count  = "count"  // a number that is 0 once the turn is gone
	Hash   = "hash"   // follows a commit that is replaced; text if it is no hash
	Names  = "names"  // what is below has names that tools and models gave, which are text
	Plain  = "text"   // loses what is found in it, and goes with its turn
	Prompt = "prompt" // such a text, as the three that follow
	Reply  = "reply"
	Title  = "title"
	Patch  = "patch"

	Copied = "copied" // besides: a text that was copied from a turn, and goes with that
	Users  = "users"  // besides: a commit of the user's that the ledger does not keep

	BeforeSkipped = "before" // besides, without saying so: it comes before the list of what a state leaves out
)

// A Purge is the words beside a field.
type PurgeRule []string

// Is reports whether one of the words is that.
func (p PurgeRule) Is(word string) bool { return slices.Contains(p, word) }

// PurgeRuleOf returns what may be done with a member of a record: of a turn, a
// handoff, or mission.json, whose kind is empty; what is of no known kind is
// like a turn. The name has those above it, with dots, and is in lower case.
// For what the record's schema has not it is nil: a text, or a number.
func PurgeRuleOf(kind, name string) PurgeRule {
	t := tables()
	if of, ok := t[kind]; ok {
		return of[name]
	}
	return t[KindTurn][name]
}

var tables = sync.OnceValue(func() map[string]map[string]PurgeRule {
	t := map[string]map[string]PurgeRule{"": {}, KindHandoff: {}, KindTurn: {}}
	tabulate(t[""], reflect.TypeFor[Mission](), "")
	tabulate(t[KindHandoff], reflect.TypeFor[Handoff](), "")
	tabulate(t[KindTurn], reflect.TypeFor[Turn](), "")
	return t
})

// tabulate adds the words beside the fields of a struct, by their names in
// JSON, which follow above.
func tabulate(t map[string]PurgeRule, of reflect.Type, above string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	skipped, _ := of.FieldByName("Skipped")
	for i, name := range members(of) {
		tag, ok := of.Field(i).Tag.Lookup("purge")
		if !ok {
			tabulate(t, of.Field(i).Type, above+name+".")
			continue
		}
		words := strings.Split(tag, ",")
		if skipped.Index != nil && i < skipped.Index[0] {
			words = append(words, BeforeSkipped)
		}
		t[above+name] = words
	}
}

// members returns the names in JSON of a struct's fields, by their index, in
// lower case: JSON has no case when it is decoded.
func members(of reflect.Type) map[int]string {
	names := make(map[int]string)
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names[i] = strings.ToLower(name)
		}
	}
	return names
}
