// Package worst makes texts that cost a parser as much as they can, and looks at what they cost.
//
// A parser that is quick with what people write may still fill memory with what somebody made for it:
// by depth, by width, by marks that begin something and never end it. Nobody knows the worst text of
// one, so [Hold] tries many: pieces of the parser's language, alone and in pairs, in shapes that have
// made parsers stumble. It judges by what was allocated, which does not depend on the machine, and in
// make nightly by the time of processors, with the limit that TestHostile has for whole commands.
package worst

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// What parsing one text may take: bytes that are allocated in all, and so the most that is held at
// once, and time of processors, which is far more than it should be on any machine.
const (
	Most   = 200 << 20
	effort = 5 * time.Second
)

// Hold gives parse the worst texts of a size, and fails if one takes more than it may. Nothing may run
// beside it, so its test is not parallel.
func Hold(t *testing.T, size int, pieces []string, parse func(text string)) {
	t.Helper()
	var large, slow string
	var most uint64
	var longest time.Duration
	for name, text := range Texts(size, pieces) {
		took, busy := Try(t, name, func() { parse(text) })
		if took >= most {
			large, most = name, took
		}
		if busy >= longest {
			slow, longest = name, busy
		}
	}
	t.Logf("the most memory takes %s: %d MB; the longest %s: %d ms", large, most>>20, slow, longest.Milliseconds())
}

// Try fails if do, which has a name, takes more than it may, and returns what it allocates and the time
// of processors.
func Try(t *testing.T, name string, do func()) (uint64, time.Duration) {
	t.Helper()
	begin := spent()
	took := allocated(do)
	busy := spent() - begin
	if took > Most {
		t.Errorf("%s: %d MB", name, took>>20)
	}
	if busy > effort && gittest.Whole() {
		t.Errorf("%s: %v of work", name, busy)
	}
	return took, busy
}

func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Texts are texts of a size, by their names: of each piece in each shape, and each pair in one, as many
// as there is time for.
func Texts(size int, pieces []string) iter.Seq2[string, string] {
	type text struct {
		shape shape
		a, b  string
	}
	var all []text
	r := rand.New(rand.NewPCG(35, 0))
	for _, a := range pieces {
		for _, s := range shapes {
			all = append(all, text{s, a, a})
		}
		for _, b := range pieces {
			all = append(all, text{shapes[r.IntN(len(shapes))], a, b})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return func(yield func(string, string) bool) {
		for _, x := range all[:min(len(all), gittest.Size(400, 40))] {
			if !yield(fmt.Sprintf("%s of %q and %q", x.shape.name, x.a, x.b), fill(size, x.shape.make(size, x.a, x.b))) {
				return
			}
		}
	}
}

// A shape puts two pieces together, which may be the same.
type shape struct {
	name string
	make func(size int, a, b string) iter.Seq[string]
}

var shapes = []shape{
	{"a run", func(_ int, a, b string) iter.Seq[string] { return always(a + b) }},
	{"lines", func(_ int, a, b string) iter.Seq[string] { return always(a + b + "\n") }},
	{"paragraphs", func(_ int, a, b string) iter.Seq[string] { return always(a + b + "\n\n") }},
	{"lines of 30", func(_ int, a, b string) iter.Seq[string] { return always(strings.Repeat(a+b, 15) + "\n") }},
	{"lines of 1,000", func(_ int, a, b string) iter.Seq[string] { return always(strings.Repeat(a+b, 500) + "\n") }},
	{"paragraphs of 1,000", func(_ int, a, b string) iter.Seq[string] { return always(strings.Repeat(a+b, 500) + "\n\n") }},
	{"halves", func(size int, a, b string) iter.Seq[string] { return then(fill(size/2, always(a)), b) }},
	{"a long line, then short ones", func(size int, a, b string) iter.Seq[string] { return then(fill(size/10, always(a))+"\n", b+"\n") }},
	{"30, then blank lines", func(_ int, a, b string) iter.Seq[string] { return then(strings.Repeat(a, 30)+b+"\n", "\n") }},
	{"1,000, then lines", func(_ int, a, b string) iter.Seq[string] { return then(strings.Repeat(a, 1000)+"\n", b+"\n") }},
	{"growing runs", func(_ int, a, b string) iter.Seq[string] {
		return func(yield func(string) bool) {
			for n := 1; yield(strings.Repeat(a, n) + b); n++ {
			}
		}
	}},
	{"growing indents", func(_ int, a, b string) iter.Seq[string] {
		return func(yield func(string) bool) {
			for n := 0; yield(strings.Repeat(" ", 2*n) + a + b + "\n"); n++ {
			}
		}
	}},
	{"numbered", func(_ int, a, b string) iter.Seq[string] {
		return func(yield func(string) bool) {
			for n := 0; yield(fmt.Sprint(a, n, b, "\n")); n++ {
			}
		}
	}},
}

// always yields one piece without end.
func always(piece string) iter.Seq[string] { return then(piece, piece) }

// then yields a piece, and then another without end.
func then(first, next string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for ok := yield(first); ok; ok = yield(next) {
		}
	}
}

// fill puts pieces together until there are so many bytes.
func fill(size int, pieces iter.Seq[string]) string {
	var b strings.Builder
	b.Grow(size)
	for piece := range pieces {
		if b.WriteString(piece[:min(len(piece), size-b.Len())]); b.Len() == size {
			break
		}
	}
	return b.String()
}
