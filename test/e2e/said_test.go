//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
)

// A said is what one side says in a conversation that was sent to the model, in the words of mock.mjs.
type said struct {
	Role  string   `json:"role"` // user, assistant, tool
	Text  string   `json:"text"`
	Calls []string `json:"calls"` // of tools
}

// prompts are the prompts of a request, by their first words, in order.
func (q request) prompts() []string {
	var all []string
	for _, s := range q.Said {
		if found := word.FindString(s.Text); s.Role == "user" && found != "" {
			all = append(all, found)
		}
	}
	return all
}

// given returns the requests that the client made with a prompt that begins with a word, in order: one
// for each time that it was given, without those that follow in the same turn.
func (r *rig) given(word string) []request {
	r.t.Helper()
	var all []request
	for _, q := range r.mock.requests() {
		prompts := q.prompts()
		if q.Side || len(prompts) == 0 || prompts[len(prompts)-1] != word {
			continue
		}
		if last := q.Said[len(q.Said)-1]; last.Role == "user" {
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		r.t.Fatalf("no request for %s\n%s", word, r.report())
	}
	return all
}

// sends fails the test unless exactly these prompts were sent with the last one of them.
func (r *rig) sends(what string, words ...string) {
	r.t.Helper()
	q := r.given(words[len(words)-1])
	if got := q[len(q)-1].prompts(); !slices.Equal(got, words) {
		r.t.Errorf("%s: the prompts %q were sent, want %q", what, got, words)
	}
}

// hears fails the test unless the model was told all of the texts with a prompt; hearsNot is the opposite.
func (r *rig) hears(word string, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if told := spoken(r.given(word)[0].Body); !strings.Contains(told, text) {
			r.t.Errorf("the model was not told %q with %s:\n%s\n%s", text, word, told, r.report())
		}
	}
}

func (r *rig) hearsNot(word string, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if told := spoken(r.given(word)[0].Body); strings.Contains(told, text) {
			r.t.Errorf("the model was told %q with %s:\n%s", text, word, told)
		}
	}
}

// spoken are all the strings in a JSON value, a line each or more.
func spoken(value json.RawMessage) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	var v any
	if json.Unmarshal(value, &v) == nil {
		walk(v)
	}
	return b.String()
}
