// Package agenttest is what the tests of agents share: the files in testdata
// that their real clients wrote, and what has to hold for each of them.
package agenttest

import (
	"bufio"
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// Capture returns testdata/<name>.jsonl, a conversation that the client wrote.
func Capture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	gittest.Must(t, err)
	return data
}

// Captures returns the names of all.
func Captures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	return paths
}

// A Told is what a file says of a turn.
type Told struct {
	Prompt, Reply      string
	Queued             []string
	Model              string
	Tools              map[string]int
	Context            int64
	Tokens             transcript.Tokens // of the model
	Compactions        int
	Answered           bool
	Interrupted, Error bool
}

// Turns are those of a segment.
func Turns(reader func() transcript.Reader, segment []byte) (list []Told) {
	for _, turn := range transcript.Turns(reader(), segment) {
		s := transcript.Summarise(reader(), segment[turn.Start:turn.End])
		list = append(list, Told{
			s.Prompt, s.Reply, s.Queued, s.Model, s.Tools, s.Context, s.Tokens[s.Model], s.Compactions, s.Answered, s.Interrupted, s.APIError,
		})
	}
	return list
}

// Reads checks what a reader finds in captures, by their names.
func Reads(t *testing.T, reader func() transcript.Reader, wants map[string][]Told) {
	t.Helper()
	for name, want := range wants {
		got := Turns(reader, Capture(t, name))
		for i := range max(len(got), len(want)) {
			var g, w Told
			if i < len(got) {
				g = got[i]
			}
			if i < len(want) {
				w = want[i]
			}
			if !reflect.DeepEqual(g, w) {
				t.Errorf("%s, turn %d:\ngot  %+v\nwant %+v", name, i+1, g, w)
			}
		}
	}
}

// Sound checks what no line may make a reader say: a figure below zero, or what
// is no text.
func Sound(t *testing.T, e *transcript.Entry) {
	t.Helper()
	figures := []int64{e.Context, e.Window, e.Tokens.Input, e.Tokens.CacheRead, e.Tokens.CacheWrite, e.Tokens.Output}
	if e.Compacted != nil {
		figures = append(figures, e.Compacted.Tokens)
	}
	for _, n := range figures {
		if n < 0 {
			t.Errorf("negative: %+v", e)
		}
	}
	texts := []string{e.Cwd, e.Message, e.Model}
	if e.Opens != nil {
		texts = append(texts, e.Opens.Prompt, e.Opens.PromptID)
	}
	for _, p := range e.Parts {
		if p.Kind == 0 {
			t.Errorf("a part of no kind: %+v", e)
		}
		texts = append(texts, p.Text, p.Call, p.Name)
		for _, a := range p.Files {
			texts = append(texts, a.Media)
		}
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Errorf("%q is not UTF-8", text)
		}
	}
}

// Rebuilds checks that what is rebuilt of a conversation, if anything, is
// rebuilt as it is.
func Rebuilds(t *testing.T, rebuild func(transcript.Cut) (*transcript.Rebuilt, error), c transcript.Cut) {
	t.Helper()
	rebuilt, err := Rebuilt(rebuild(c))
	if err != nil {
		return
	}
	once := rebuilt.Content()
	c.Lines = Lines(once)
	again, err := Rebuilt(rebuild(c))
	if err != nil {
		t.Fatalf("rebuild what was rebuilt: %v\n%s", err, once)
	}
	if twice := again.Content(); !bytes.Equal(twice, once) {
		t.Errorf("rebuilt twice:\n%s\n%s", once, twice)
	}
}

// Lines are the lines of segments, for a [transcript.Cut]. Each is overwritten
// when the next one is asked for.
func Lines(segments ...[]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, s := range segments {
			for line := range bytes.Lines(s) {
				line = bytes.Clone(bytes.TrimSuffix(line, []byte{'\n'}))
				if !yield(line, nil) {
					return
				}
				for i := range line {
					line[i] = '#'
				}
			}
		}
	}
}

// A File is the file of a rebuilt conversation.
type File struct {
	*transcript.Rebuilt
	Lines [][]byte // each with its newline
}

// Content is all of it.
func (f *File) Content() []byte { return bytes.Join(f.Lines, nil) }

// Rebuilt writes what was rebuilt.
func Rebuilt(r *transcript.Rebuilt, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := r.Write(w); err != nil {
		return nil, err
	}
	err = w.Flush()
	return &File{r, slices.Collect(bytes.Lines(b.Bytes()))}, err
}
