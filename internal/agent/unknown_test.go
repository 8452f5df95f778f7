package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// foreign are fields that no client has, with all that a value can be.
var foreign = map[string]string{
	"text":   `"git-agent \"knows\" \u0000 nothing \ud800 of {this]"`,
	"number": `-1.5e300`,
	"null":   `null`,
	"list":   `[{"type":"user"},["assistant"],{},true]`,
	"nested": `{"type":"user","message":{"role":"user","content":"not said"},"usage":{"input_tokens":7,"output_tokens":7}}`,
	"deep":   strings.Repeat(`{"a":[`, 200) + strings.Repeat(`]}`, 200),
	"huge":   `"` + strings.Repeat("x", 1<<17) + `"`,
}

// TestUnknownField: a field that nobody knows changes nothing that is read from a conversation, wherever it is in its record.
func TestUnknownField(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, a := range All() {
		for _, path := range conversations(t, a) {
			raw, err := os.ReadFile(path)
			gittest.Must(t, err)
			want := understood(a, raw)
			for name, value := range foreign {
				for place, put := range map[string]func(record []byte, field string) []byte{"first": first, "last": last, "everywhere": everywhere} {
					if place == "everywhere" && (name == "huge" || name == "deep") {
						continue // as the records themselves
					}
					var changed []byte
					for line := range bytes.Lines(raw) {
						changed = append(changed, put(line, `"nobodyKnows":`+value)...)
					}
					if got := understood(a, changed); !reflect.DeepEqual(got, want) {
						t.Errorf("%s with %s, %s:\n%+v, want\n%+v", path, name, place, got, want)
					}
				}
			}
		}
	}
}

// TestUnknownFieldOfPayload: nor does one change what we keep of a payload.
func TestUnknownFieldOfPayload(t *testing.T) {
	t.Parallel()
	for _, a := range All() {
		for at, raw := range payloads(t, a) {
			want, err := a.Event(bytes.NewReader(raw))
			if err != nil {
				t.Errorf("%s: %v", at, err)
				continue
			}
			for name, value := range foreign {
				for _, put := range []func(record []byte, field string) []byte{first, last} {
					if got, err := a.Event(bytes.NewReader(put(raw, `"nobodyKnows":`+value))); err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%s with %s: %+v (%v), want %+v", at, name, got, err, want)
					}
				}
			}
		}
	}
}

// FuzzUnknownField is the same for fields of any name and value.
func FuzzUnknownField(f *testing.F) {
	for name, value := range foreign {
		f.Add(name, value)
	}
	type conversation struct {
		*Agent
		raw []byte
	}
	var all []conversation
	for _, a := range All() {
		raw, err := os.ReadFile(conversations(f, a)[0])
		gittest.Must(f, err)
		all = append(all, conversation{a, raw})
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		quoted, err := json.Marshal("nobodyKnows" + name) // no client's
		if err != nil || !json.Valid([]byte(value)) {
			t.Skip()
		}
		for _, c := range all {
			var changed []byte
			for line := range bytes.Lines(c.raw) {
				changed = append(changed, last(line, string(quoted)+":"+value)...)
			}
			if got, want := understood(c.Agent, changed), understood(c.Agent, c.raw); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", c.Title, got, want)
			}
		}
	})
}

// understood is what a reader makes of a conversation, with lines for places.
func understood(a *Agent, raw []byte) (all []any) {
	line := func(offset int) int { return bytes.Count(raw[:offset], []byte("\n")) }
	for _, turn := range transcript.Turns(a.Reader(), raw) {
		turn.Start, turn.End = line(turn.Start), line(turn.End)
		all = append(all, turn)
	}
	return append(all, transcript.Summarise(a.Reader(), raw))
}

// first and last put a field into a record, and everywhere into all objects in it.
func first(record []byte, field string) []byte {
	return bytes.Replace(record, []byte("{"), []byte("{"+field+","), 1)
}

func last(record []byte, field string) []byte {
	end := bytes.LastIndexByte(record, '}')
	if end < 0 {
		return record
	}
	return fmt.Appendf(nil, "%s,%s%s", record[:end], field, record[end:])
}

func everywhere(record []byte, field string) (with []byte) {
	quoted := false
	for i := 0; i < len(record); i++ {
		with = append(with, record[i])
		switch {
		case quoted && record[i] == '\\':
			i++
			with = append(with, record[i])
		case record[i] == '"':
			quoted = !quoted
		case !quoted && record[i] == '{' && record[i+1] != '}':
			with = append(append(with, field...), ',')
		}
	}
	return with
}

// conversations are the files of an agent's conversations in our test data.
func conversations(t testing.TB, a *Agent) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(a.Program, "testdata", "*.jsonl"))
	gittest.Must(t, err)
	if a == Default() {
		more, err := filepath.Glob("../../testdata/transcripts/*.jsonl")
		gittest.Must(t, err)
		files = append(files, more...)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no conversations", a.Title)
	}
	return files
}

// payloads are an agent's payloads in our test data, by where they are.
func payloads(t testing.TB, a *Agent) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	add := func(at string, document []byte) {
		var wrapped struct {
			Name    string
			Payload json.RawMessage
		}
		gittest.Must(t, json.Unmarshal(document, &wrapped))
		if payload := wrapped.Payload; payload == nil {
			found[at] = document
		} else if strings.HasPrefix(wrapped.Name, a.Program) || wrapped.Name == "" {
			found[at+" "+wrapped.Name] = payload
		}
	}
	files, err := filepath.Glob(filepath.Join(a.Program, "testdata", "payloads", "*.json"))
	gittest.Must(t, err)
	if a == Default() {
		more, err := filepath.Glob("../../testdata/payloads/*.json")
		gittest.Must(t, err)
		files = append(files, more...)
	}
	for _, path := range files {
		document, err := os.ReadFile(path)
		gittest.Must(t, err)
		add(path, document)
	}
	lines, err := os.ReadFile("../../hooks/testdata/payloads.jsonl")
	gittest.Must(t, err)
	seen, err := os.ReadFile(filepath.Join(a.Program, "testdata", "seen", "payloads.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(append(lines, seen...)) {
		add("a line", line)
	}
	return found
}
