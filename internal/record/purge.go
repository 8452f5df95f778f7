package record

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Rules for a purge of a field, in its tag `purge:"text"`. A struct without the
// tag has its fields' rules. A match outside text is reported, and stays.
const (
	Formal = "formal" // without it the record is unreadable, or means something else
	Number = "number" // stays
	Count  = "count"  // a number that is 0 once the turn is gone
	Hash   = "hash"   // follows a commit that is replaced; text if it is no hash
	Names  = "names"  // has names from tools and models below, which are text
	Plain  = "text"   // loses what matches, and goes with its turn
	Prompt = "prompt" // text, as are the next three
	Reply  = "reply"
	Title  = "title"
	Patch  = "patch"

	Copied = "copied" // also: copied from a turn, goes with that
	Users  = "users"  // also: a commit of the user's that the ledger does not keep

	BeforeSkipped = "before" // also, implied: it precedes the list of what a state leaves out
)

// A PurgeRule is the words of a field's tag.
type PurgeRule []string

// Is reports whether word is one of the rule's.
func (p PurgeRule) Is(word string) bool { return slices.Contains(p, word) }

// PurgeRuleOf returns the rule for a lower-case name, with dots, in a record of
// a kind: a turn, also for unknown kinds, a handoff, or "" for mission.json. It
// is nil for unknown fields: text or numbers.
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

// members returns JSON names by field index, in lower case as for decoding.
func members(of reflect.Type) map[int]string {
	names := make(map[int]string)
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names[i] = strings.ToLower(name)
		}
	}
	return names
}
