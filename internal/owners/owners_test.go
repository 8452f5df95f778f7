package owners

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

var format = object.NewHash(gittest.Hash("1")).Format()

// A world makes turns of texts.
type world struct {
	turn  Turn
	blobs map[object.Hash][]byte
	start map[string]object.Entry
	now   map[string]object.Entry
}

func newWorld(start map[string]string) *world {
	w := &world{blobs: make(map[object.Hash][]byte), start: make(map[string]object.Entry)}
	for path, text := range start {
		w.start[path] = w.entry(text)
	}
	w.now = maps.Clone(w.start)
	w.turn = Turn{
		Who: "a", From: 1000, To: 100_000,
		Start: func(path string) (object.Entry, error) { return w.start[path], nil },
		Read:  w.read,
	}
	return w
}

func (w *world) read(h object.Hash) ([]byte, error) {
	text, ok := w.blobs[h]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return text, nil
}

// entry stores a text as a file; gone is none, and a prefix makes another mode.
func (w *world) entry(text string) object.Entry {
	if text == gone {
		return object.Entry{}
	}
	mode := filemode.Regular
	if rest, ok := strings.CutPrefix(text, "x:"); ok {
		mode, text = filemode.Executable, rest
	} else if rest, ok := strings.CutPrefix(text, "->"); ok {
		mode, text = filemode.Symlink, rest
	}
	h := format.Object(plumbing.BlobObject, []byte(text))
	w.blobs[h] = []byte(text)
	return object.Entry{Mode: mode, Hash: h}
}

const gone = "(gone)"

// who makes the files these at a time; a person has no claim.
func (w *world) who(who string, at int64, files map[string]string) {
	if who != "" {
		w.turn.Claims = append(w.turn.Claims, Claim{Who: who, From: at - 100, To: at, Paths: slices.Sorted(maps.Keys(files))})
	}
	w.state(at, files)
}

func (w *world) state(at int64, files map[string]string) {
	s := State{At: at + 10, Changed: make(map[string]Change)}
	for path, text := range files {
		e := w.entry(text)
		if e != w.now[path] {
			w.now[path] = e
			s.Changed[path] = Change{Entry: e, Ctime: at - 20}
		}
	}
	w.turn.States = append(w.turn.States, s)
}

// text returns a content as it is given to entry.
func (w *world) text(c Content) string {
	text := string(c.Text)
	if c.Text == nil {
		text = string(w.blobs[c.Entry.Hash])
	}
	switch c.Entry.Mode {
	case filemode.Empty:
		return gone
	case filemode.Executable:
		return "x:" + text
	case filemode.Symlink:
		return "->" + text
	}
	return text
}

// all returns the texts of the files that a tree of a projection would have.
func (w *world) all(r *Result, which func(File) Content) map[string]string {
	texts := make(map[string]string)
	for path, e := range w.now {
		if e.Mode != 0 {
			texts[path] = w.text(Content{Entry: e})
		}
	}
	for path, f := range r.Files {
		texts[path] = w.text(which(f))
	}
	maps.DeleteFunc(texts, func(_, text string) bool { return text == gone })
	return texts
}

func othersOf(f File) Content { return f.Others }
func sharedOf(f File) Content { return f.Shared }

func lines(s string) string { return strings.Join(strings.Fields(s), "\n") + "\n" }

// TestOf tells, for a file of words as lines, what others have of it.
func TestOf(t *testing.T) {
	tests := []struct {
		name   string
		start  string
		steps  []string // who and what
		others string
	}{
		{"lines of two", "a b c", []string{"a: a own b c", "b: a own b other c"}, "a b other c"},
		{"own removal is put back", "a b c", []string{"a: a c", "b: a c d"}, "a b c d"},
		{"others' removal stays", "a b c", []string{"a: a b c d", "b: a c d"}, "a c"},
		{"own change of another's line", "a b c", []string{"b: a other c", "a: a mine c"}, "a other c"},
		{"another takes an own change over", "a b c", []string{"a: a mine c", "b: a other c"}, "a other c"},
		{"a removal is undone", "a b c", []string{"b: a x b c", "a: a", "a: a x b c"}, "a x b c"},
		{"another moves what it was", "a b c d e", []string{"b: a b c d e f", "a: d e f a b c"}, "a b c d e f"},
		{"both rewrite", "a b c", []string{"a: x y z", "b: x y w"}, "a b c w"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(map[string]string{"f": lines(tt.start)})
			for i, step := range tt.steps {
				who, text, _ := strings.Cut(step, ": ")
				w.who(who, int64(2000+1000*i), map[string]string{"f": lines(text)})
			}
			r, err := Of(w.turn)
			if err != nil || r == nil {
				t.Fatalf("Of = %v, %v", r, err)
			}
			if got := w.all(r, othersOf)["f"]; got != lines(tt.others) {
				t.Errorf("others have %q, want %q", got, lines(tt.others))
			}
			if got := fmt.Sprintf("%q", r.With); got != `["b"]` {
				t.Errorf("with %s", got)
			}
		})
	}
}

// TestAlone reads nothing in a turn that was alone.
func TestAlone(t *testing.T) {
	w := newWorld(map[string]string{"f": "1\n2\n"})
	w.who("a", 2000, map[string]string{"f": "1\n3\n"})
	w.who("a", 3000, map[string]string{"f": gone})
	w.turn.Read = func(object.Hash) ([]byte, error) { t.Error("read"); return nil, nil }
	w.turn.Start = func(string) (object.Entry, error) { t.Error("start"); return object.Entry{}, nil }
	if r, err := Of(w.turn); r != nil || err != nil {
		t.Errorf("Of = %v, %v", r, err)
	}
}

// TestPure has all of one party: then others are the start, or the end.
func TestPure(t *testing.T) {
	steps := []map[string]string{
		{"f": "1\n2\n3", "bin": "\x00\x01", "new": "hello\n"},
		{"f": "0\n1\n3\n", "link": "->f"},
		{"moved": "0\n1\n3\n", "f": gone, "mode": "x:same\n"},
		{"moved": "3\n1\n0\n4\n", "bin": "text\n", "new": gone},
		{"moved": gone, "f": "3\n1\n0\n4\n", "d/e": ""},
		{"f": "1\n2\n3", "link": "no link\n"},
	}
	start := map[string]string{"f": "1\n2\n3\n", "bin": "\x00", "mode": "same\n", "link": "->g"}
	for n := 1; n <= len(steps); n++ {
		for _, who := range []string{"a", "b"} {
			w := newWorld(start)
			w.who(who, 2000, steps[0])
			for i, step := range steps[1:n] {
				w.who(who, int64(3000+1000*i), step)
			}
			// What makes it no turn of one alone.
			w.who(map[string]string{"a": "b", "b": "a"}[who], 50_000, map[string]string{"z": "z\n"})
			want, z := start, "z\n"
			if who == "b" {
				want, z = w.all(new(Result), nil), ""
			}
			r, err := Of(w.turn)
			if err != nil || r == nil {
				t.Fatalf("Of = %v, %v", r, err)
			}
			for side, which := range map[string]func(File) Content{"others": othersOf, "shared": sharedOf} {
				got := w.all(r, which)
				if got["z"] != z {
					t.Errorf("%d steps of %s: %s has z as %q", n, who, side, got["z"])
				}
				delete(got, "z")
				want := maps.Clone(want)
				delete(want, "z")
				if !maps.Equal(got, want) {
					t.Errorf("%d steps of %s: %s\n%q, want\n%q", n, who, side, got, want)
				}
			}
		}
	}
}

// TestLarge goes through many states of a file with 200,000 different lines.
func TestLarge(t *testing.T) {
	const states, different = 60, 200_000
	text := func(first int, changed ...int) string {
		var b strings.Builder
		for i := range 2 * different {
			n := first + i%different
			if slices.Contains(changed, i) {
				n = -n
			}
			fmt.Fprintln(&b, "line", n)
		}
		return b.String()
	}
	tests := map[string]func(i int) string{
		"each line twice, changed at both ends": func(i int) string { return text(0, 100+i, 2*different-100-i) },
		"two contents in turn":                  func(i int) string { return text(i%2*different, 7) },
		"all of it new":                         func(i int) string { return text((i + 1) * different) },
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			gittest.Check(t)
			w := newWorld(map[string]string{"f": text(0)})
			for i := range states {
				w.who([]string{"a", "b"}[i%2], int64(2000+1000*i), map[string]string{"f": make(i)})
			}
			if r, err := Of(w.turn); err != nil || r == nil || len(r.Files) != 1 {
				t.Errorf("Of = %v, %v", r, err)
			}
		})
	}
}

// TestManyMoves: what a line that was moved again and again comes from is asked for once a move. This would not end
// if it were asked for twice.
func TestManyMoves(t *testing.T) {
	const moves = 90
	var list []string
	for i := range moves + 1 {
		list = append(list, fmt.Sprintf("a%d b%d c%d", i, i, i))
	}
	text := func(at int) string {
		return lines(strings.Join(slices.Insert(slices.Clone(list), at, "moved"), " "))
	}
	w := newWorld(map[string]string{"f": text(0)})
	for i := range moves {
		w.who("a", int64(2000+1000*i), map[string]string{"f": text(i + 1)})
	}
	w.who("b", 95_000, map[string]string{"f": text(moves) + "by b\n"})
	r, err := Of(w.turn)
	if err != nil || r == nil || w.text(r.Files["f"].Others) != text(0)+"by b\n" {
		t.Errorf("Of = %v, %v", r, err)
	}
}

// TestManyRenames: of thousands of files that go and come at once, the work is bounded.
func TestManyRenames(t *testing.T) {
	gittest.Check(t)
	const files = 4000
	before, after := make(map[string]string), make(map[string]string)
	for i := range files {
		text := func(of string) string {
			var b strings.Builder
			for n := range 100 {
				fmt.Fprintln(&b, of, i, n)
			}
			return b.String()
		}
		before[fmt.Sprint("old/", i)], after[fmt.Sprint("old/", i)], after[fmt.Sprint("new/", i)] = text("old"), gone, text("new")
	}
	w := newWorld(before)
	w.who("a", 2000, after)
	w.who("b", 3000, map[string]string{"g": "by b\n"})
	if r, err := Of(w.turn); err != nil || len(r.Files) != 1+2*files || w.text(r.Files["new/1"].Others) != gone {
		t.Errorf("Of has %d files, %v", len(r.Files), err)
	}
}

// TestLooked: a file that is gone may have gone since the last look at it, not
// since one at another file.
func TestLooked(t *testing.T) {
	f := object.Entry{Mode: filemode.Regular, Hash: object.NewHash(gittest.Hash("1"))}
	turn := Turn{
		Who: "a", From: 1000, To: 90_000,
		Start: func(string) (object.Entry, error) { return f, nil },
		Read:  func(object.Hash) ([]byte, error) { return []byte("1\n"), nil },
		Claims: []Claim{
			{Who: "a", From: 2000, To: 3000}, // removes it, and nobody looks
			{Who: "a", From: 4000, To: 5000, Paths: []string{"g"}},
		},
		States: []State{{At: 5000, Looked: []string{"g"}}, {At: 90_000, Changed: map[string]Change{"f": {}}}},
	}
	if r, err := Of(turn); r != nil || err != nil {
		t.Errorf("Of = %+v, %v", r, err)
	}
	turn.States[0].Looked = nil // all
	if r, err := Of(turn); r == nil || err != nil {
		t.Errorf("after a look at all Of = %+v, %v", r, err)
	}
}
