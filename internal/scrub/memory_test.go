package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestMemoryModel compares what a memory of texts of many lengths finds with where they stand. Texts of few letters
// overlap and begin alike.
func TestMemoryModel(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	word := func(n int) []byte {
		text := make([]byte, n)
		for i := range text {
			text[i] = "ab"[random.IntN(2)]
		}
		return text
	}
	for range 300 {
		var texts [][]byte
		for range 1 + random.IntN(8) {
			texts = append(texts, word(MinLength+random.IntN(30)))
		}
		in := word(random.IntN(300))
		for range random.IntN(4) {
			in = append(append(in, texts[random.IntN(len(texts))]...), word(random.IntN(9))...)
		}
		var want []hit
		for _, text := range texts {
			for from := 0; from+len(text) <= len(in); from++ {
				if bytes.Equal(in[from:from+len(text)], text) {
					want = append(want, hit{Span: Span{from, from + len(text)}})
				}
			}
		}
		m := new(Memory)
		m.Add(texts...)
		data, err := json.Marshal(m)
		gittest.Must(t, err)
		read := new(Memory)
		gittest.Must(t, json.Unmarshal(data, read))
		var got []hit
		for _, matcher := range read.Finder().matchers {
			got = append(got, hits(matcher.match(in))...)
		}
		if got, want := fmt.Sprint(join(got)), fmt.Sprint(join(want)); got != want {
			t.Fatalf("%q in %q: %s, want %s", texts, in, got, want)
		}
	}
}

// BenchmarkMemory looks for texts of as many lengths: a pattern can have purged a thousand.
func BenchmarkMemory(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	var in bytes.Buffer
	for in.Len() < 1<<18 {
		fmt.Fprintf(&in, `{"type":"user","message":{"content":"line %d\n     1→func main() {\n     2→\tfmt.Println(\"%x\")\n"}}`+"\n", random.IntN(1000), random.Uint64())
	}
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := new(Memory)
			for i := range n {
				m.Add(bytes.Repeat([]byte{byte('a' + i%26)}, MinLength+i))
			}
			f := m.Finder()
			b.SetBytes(int64(in.Len()))
			for b.Loop() {
				for line := range bytes.Lines(in.Bytes()) {
					f.Spans(line)
				}
			}
		})
	}
}

func TestPrompts(t *testing.T) {
	m := new(Memory)
	long := strings.Repeat("a long prompt ", 40)
	m.AddPrompts("continue", "  fix\nthe login ", long, Mark, "", "cut here…")
	if len(m.Prompts) != 4 {
		t.Errorf("%d are remembered of 4", len(m.Prompts))
	}
	for text, want := range map[string]bool{
		"continue": true, "fix the login": true, "fix the\nlogin": true, long: true, long[:200] + "…": true, "cut here": true,
		"continue it": false, "fix": false, "": false, Mark: false, "a long prompt": false,
	} {
		if got := m.Finder().IsPrompt(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if m.Finds() || !m.Finder().Empty() {
		t.Error("prompts are looked for everywhere")
	}
	if (*Finder)(nil).IsPrompt("continue") || (*Memory)(nil).Finder().IsPrompt("continue") {
		t.Error("nothing finds a prompt")
	}
}

// A glance is for all that is remembered, or there is none.
func TestMemoryInFull(t *testing.T) {
	t.Parallel()
	one, other := []byte("hunter22-hunter23"), []byte("correct-horse-bat")
	m := new(Memory)
	m.Add(one, other)
	for _, tt := range []struct {
		inFull [][]byte
		glance bool
	}{{nil, false}, {[][]byte{one}, false}, {[][]byte{one, other}, true}} {
		f := m.Finder(tt.inFull...)
		if got := f.matchers[0].may != nil; got != tt.glance {
			t.Errorf("there is a glance: %v, with %d in full", got, len(tt.inFull))
		}
		for _, text := range [][]byte{one, other} {
			if len(f.Spans(bytes.Join([][]byte{[]byte("some words"), text}, []byte(" ")))) != 1 {
				t.Errorf("%q is not found with %d in full", text, len(tt.inFull))
			}
		}
		if f.matchers[0].may != nil && f.matchers[0].may([]byte("nothing of it"), false) {
			t.Error("nothing is passed over")
		}
	}
}
