package transcript

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plainly reads lines that are entries in JSON: a client that says everything in lines of its own.
func plainly() Reader { return entries{} }

type entries struct{}

func (entries) Read(at int, line []byte) (e Entry) {
	if json.Unmarshal(line, &e) != nil {
		return Entry{}
	}
	if e.Opens != nil {
		e.Opens.Start = at
	}
	return e
}

const (
	opens  = `{"Opens":{"PromptID":"p"},"Model":"m1","Window":1000}` + "\n"
	asks   = `{"Parts":[{"Kind":1,"Text":"go"}]}` + "\n"
	asks2  = `{"Parts":[{"Kind":1,"Text":"/model"}]}` + "\n"
	says   = `{"Message":"a","Answers":true,"Parts":[{"Kind":4,"Text":"done"}]}` + "\n"
	spends = `{"Message":"a","Context":70,"Tokens":{"input":20,"cache_read":50,"output":3}}` + "\n"
)

func TestPromptOfALineOfItsOwn(t *testing.T) {
	t.Parallel()
	const given = `{"Opens":{"Prompt":"given"}}` + "\n"
	for _, tt := range []struct {
		segment string
		want    []string
	}{
		{opens + asks + says + asks2, []string{"go"}},
		{opens + says + opens + asks, []string{"", "go"}},
		{asks2 + given + asks, []string{"given"}},
		{opens + strings.Replace(asks2, "{", `{"Subagent":true,`, 1) + asks, []string{"go"}},
	} {
		var got []string
		for _, turn := range Turns(plainly(), []byte(tt.segment)) {
			got = append(got, turn.Prompt)
			if s := Summarise(plainly(), []byte(tt.segment[turn.Start:turn.End])); s.Prompt != turn.Prompt {
				t.Errorf("the summary of %s has the prompt %q, want %q", tt.segment, s.Prompt, turn.Prompt)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("prompts of %s: %q, want %q", tt.segment, got, tt.want)
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		write(t, path, tt.segment)
		if first, err := First(plainly, path); err != nil || first.Prompt != tt.want[0] {
			t.Errorf("the first of %s is %+v, %v", tt.segment, first, err)
		}
	}
}

func TestSummariseEntries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, turn string
		want       Summary
	}{
		{"what follows the answer, and says nothing", opens + asks + says + spends + `{"Ended":true}`, Summary{Prompt: "go", Reply: "done", Model: "m1", Answered: true}},
		{"an error after the answer", opens + says + `{"Failed":true,"Parts":[{"Kind":4,"Text":"overloaded"}]}`, Summary{Reply: "overloaded", Model: "m1", APIError: true}},
		{"an interruption after a part of the answer", opens + says + `{"Interrupted":true}`, Summary{Reply: "done", Model: "m1", Interrupted: true}},
		{"an answer that was interrupted", opens + `{"Interrupted":true,"Answers":true,"Parts":[{"Kind":4,"Text":"do"}]}`, Summary{Reply: "do", Model: "m1", Interrupted: true}},
	} {
		got := Summarise(plainly(), []byte(tt.turn))
		if got.Prompt != tt.want.Prompt || got.Reply != tt.want.Reply || got.Model != tt.want.Model || got.Answered != tt.want.Answered ||
			got.Interrupted != tt.want.Interrupted || got.APIError != tt.want.APIError {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestTokensByModel(t *testing.T) {
	t.Parallel()
	turn := opens + spends + strings.Replace(spends, `"output":3`, `"output":5`, 1) + // one message, twice
		`{"Model":"m2"}` + "\n" + `{"Tokens":{"output":7}}` + "\n" + `{"Tokens":{"output":7}}` + "\n" // two without an id
	s := Summarise(plainly(), []byte(turn))
	want := map[string]Tokens{"m1": {Input: 20, CacheRead: 50, Output: 5}, "m2": {Output: 14}}
	if !maps.Equal(s.Tokens, want) || s.Output != 19 || s.Context != 70 {
		t.Errorf("%+v, output %d, context %d; want %+v", s.Tokens, s.Output, s.Context, want)
	}
}

// TestUsageInLinesOfItsOwn: model and window are looked for where the turn begins, however far that is.
func TestUsageInLinesOfItsOwn(t *testing.T) {
	t.Parallel()
	far := strings.Repeat(`{"Parts":[{"Kind":7,"Text":"`+strings.Repeat("x", 1000)+`"}]}`+"\n", 300)
	const compacted = `{"Compacted":{"Left":9}}` + "\n"
	for _, tt := range []struct {
		file string
		want ContextUse
	}{
		{opens + spends, ContextUse{Tokens: 70, Model: "m1", Window: 1000}},
		{opens + far + spends, ContextUse{Tokens: 70, Model: "m1", Window: 1000}},
		{opens + far + spends + compacted, ContextUse{Tokens: 9, Model: "m1", Window: 1000}},
		{spends, ContextUse{Tokens: 70}},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		write(t, path, tt.file)
		if got, err := LastUsage(plainly, path); err != nil || got != tt.want {
			t.Errorf("%d bytes: %+v, %v, want %+v", len(tt.file), got, err, tt.want)
		}
	}
}

// counted counts the lines that are read.
type counted struct{ n *int }

func (c counted) Read(at int, line []byte) Entry {
	*c.n++
	return plain{}.Read(at, line)
}

func TestRemember(t *testing.T) {
	t.Parallel()
	segment, n := said("a1 b2 c3"), 0
	reader := Remember(func() Reader { return counted{&n} })
	for _, line := range lines(segment) {
		reader().Read(0, line) // a pass that ends at the first line
		break
	}
	for range 2 {
		if got, want := Turns(reader(), segment), Turns(plain{}, segment); len(got) != 3 || !slices.Equal(got, want) {
			t.Errorf("the turns are %v, want %v", got, want)
		}
	}
	if n != 3 {
		t.Errorf("%d lines were read", n)
	}
}
