package record

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/usage"
)

// TestPurgeTags: a field says what a purge may do with it, or is a struct whose
// fields do. The first word says what it is, others say more.
func TestPurgeTags(t *testing.T) {
	first := []string{Formal, Number, Count, Hash, Names, Plain, Prompt, Reply, Title, Patch}
	more := []string{Copied, Users}
	numbers := map[reflect.Type]bool{reflect.TypeFor[usage.ByModel](): true, reflect.TypeFor[map[string]int](): true, reflect.TypeFor[*Usage](): true}
	for _, v := range []any{Mission{}, TurnID{}, Finish{}, Adoption{}, Turn{}, Check{}, Subagent{}, Segment{}, Skip{}, Handoff{}, Commit{}, Todo{}} {
		of := reflect.TypeOf(v)
		for i := range members(of) {
			field := of.Field(i)
			tag, tagged := field.Tag.Lookup("purge")
			inner := field.Type
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			if !tagged {
				if inner.Kind() != reflect.Struct {
					t.Errorf("%s.%s has no tag", of.Name(), field.Name)
				}
				continue
			}
			words := PurgeRule(strings.Split(tag, ","))
			if !slices.Contains(first, words[0]) || slices.ContainsFunc(words[1:], func(w string) bool { return !slices.Contains(more, w) }) {
				t.Errorf("%s.%s: tag %q", of.Name(), field.Name, tag)
			}
			if words.Is(Names) != numbers[field.Type] {
				t.Errorf("%s.%s: tag %q of a %s", of.Name(), field.Name, tag, field.Type)
			}
		}
	}
}

// TestPurgeOf: names are looked up in a record's own schema, those of a kind
// that is not known in a turn's.
func TestPurgeOf(t *testing.T) {
	for _, tt := range []struct{ kind, name, word string }{
		{KindTurn, "branch", Plain},
		{"", "branch", Formal},
		{"", "forked_from.mission", Formal},
		{"", "adopted.commit", Users},
		{KindTurn, "agents.id", Formal},
		{KindTurn, "skipped.path", Plain},
		{KindHandoff, "progress_summary", Copied},
		{KindHandoff, "todos.text", Plain},
		{"later", "branch", Plain},
	} {
		if got := PurgeRuleOf(tt.kind, tt.name); !got.Is(tt.word) {
			t.Errorf("%s of %q is %v, want %s", tt.name, tt.kind, got, tt.word)
		}
	}
	for _, tt := range []struct {
		kind, name string
		want       bool
	}{
		{KindTurn, "v", true},
		{KindTurn, "paths", true},
		{KindTurn, "skipped", false},
		{KindTurn, "tools", false},
		{KindTurn, "later", false},
		{KindHandoff, "uncommitted_changes", true},
		{KindHandoff, "recent_commits", false},
	} {
		if got := PurgeRuleOf(tt.kind, tt.name).Is(BeforeSkipped); got != tt.want {
			t.Errorf("%s of %q comes before: %t", tt.name, tt.kind, got)
		}
	}
}
