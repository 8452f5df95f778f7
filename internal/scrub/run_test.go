package scrub

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestRuns compares the parts that may be encoded with those that a look at every letter finds.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		var in []byte
		for range random.IntN(12) {
			for range random.IntN(50) {
				in = append(in, "QUJDabc123ff"[random.IntN(12)])
			}
			in = append(in, []string{"", "=", "==", "\n", "\r\n", "\n  ", " ", "\n\n", "\xff", "-"}[random.IntN(10)]...)
		}
		least := MinLength + random.IntN(40)
		var want []run
		for i := 0; i < len(in); {
			from, to := stretch(in, i, wrapped, &inBase64)
			for i = to; to < len(in) && in[to] == '=' && to < i+2; {
				to++
			}
			if to-from >= letters(least) {
				want = append(append(want, run{Span: Span{from, to}}), hexRuns(in, Span{from, i}, least, wrapped)...)
			}
		}
		if got := runs(in, least); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("at least %d bytes in %q: %v, want %v", least, in, got, want)
		}
	}
}

// TestSearchedAgain: what was not found in a text is not looked for in it again, and what was is found each time.
func TestSearchedAgain(t *testing.T) {
	m := new(Memory)
	m.Add([]byte("correct-horse"))
	f := m.Finder()
	for i := range 3 {
		for text, want := range map[string]string{"a correct-horse": "a " + Mark, "a correct-house": "a correct-house"} {
			if got := string(f.Replace([]byte(text))); got != want {
				t.Errorf("time %d: %q is %q, want %q", i+1, text, got, want)
			}
		}
	}
	for hash := range uint64(3 * maxHashes) {
		f.lacking.add(hash)
		if !f.lacking.has(hash) || len(f.lacking.set) > maxHashes {
			t.Fatalf("of %d hashes there are %d", hash+1, len(f.lacking.set))
		}
	}
}

// TestJSONLines: lines of JSON are searched one by one, one value of several lines as a whole.
func TestJSONLines(t *testing.T) {
	m := new(Memory)
	m.Add([]byte("correct-horse"))
	f := m.Finder()
	for text, want := range map[string]string{
		`{"a":"correct-` + "\\n" + `horse"}` + "\n" + `{"b":1}` + "\n": `{"a":"` + Mark + `"}` + "\n" + `{"b":1}` + "\n",
		`{"a":"correct-"}` + "\n" + `{"b":"horse"}` + "\n":             `{"a":"correct-"}` + "\n" + `{"b":"horse"}` + "\n",
		"{\n" + `"a":"correct-horse"` + "\n}\n":                        "{\n" + `"a":"` + Mark + `"` + "\n}\n",
		"no JSON\na correct-horse\n":                                   "no JSON\na " + Mark + "\n",
		`{"a":"correct-horse"}`:                                        `{"a":"` + Mark + `"}`,
		"":                                                             "",
	} {
		if got := string(f.ReplaceJSON([]byte(text))); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
