package owners

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// random makes a turn in which the parties do odd things with few paths, lines
// and contents, so that they come back, move and meet. All lines of all
// contents are in had.
func random(r *rand.Rand, parties []string) (w *world, had map[string]bool) {
	had = make(map[string]bool)
	content := func() string {
		if r.IntN(12) == 0 {
			return []string{gone, "->f", "->d", "\x00", "\x00\x01", "", "x:", "x:a\nb"}[r.IntN(8)]
		}
		var b strings.Builder
		for range r.IntN(9) {
			fmt.Fprintf(&b, "%s\n", []string{"a", "b", "c", "d", "e", "}", "", "g\r"}[r.IntN(8)])
		}
		text := b.String()
		if r.IntN(4) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
		return text
	}
	note := func(texts map[string]string) map[string]string {
		for _, text := range texts {
			for l := range strings.Lines(strings.TrimPrefix(text, "x:")) {
				had[strings.TrimSuffix(l, "\n")] = true
			}
		}
		return texts
	}
	paths := []string{"f", "g", "d", "d/e", "h"}
	start := make(map[string]string)
	for _, path := range paths[:r.IntN(len(paths)+1)] {
		start[path] = content()
	}
	maps.DeleteFunc(start, func(_, text string) bool { return text == gone })
	w = newWorld(note(start))
	now := maps.Clone(start)
	for i := range 2 + r.IntN(12) {
		files := make(map[string]string)
		for range 1 + r.IntN(2) {
			path, other := paths[r.IntN(len(paths))], paths[r.IntN(len(paths))]
			text, ok := now[path]
			switch r.IntN(6) {
			case 0: // mv, perhaps edited too
				if ok && path != other {
					files[path], files[other] = gone, text
					if r.IntN(2) == 0 && !strings.HasPrefix(text, "->") {
						files[other] += "more\n"
					}
				}
			case 1, 2: // a line more, or less
				if list := strings.SplitAfter(text, "\n"); ok && len(list) > 1 {
					at := r.IntN(len(list))
					if r.IntN(2) == 0 {
						files[path] = strings.Join(slices.Delete(list, at, at+1), "")
					} else {
						files[path] = strings.Join(slices.Insert(list, at, fmt.Sprintf("new %d\n", i)), "")
					}
				}
			case 3: // as it was at the start
				if text, ok = start[path]; !ok {
					text = gone
				}
				files[path] = text
			case 4:
				files[path] = gone
			default:
				files[path] = content()
			}
		}
		for path, text := range note(files) {
			if now[path] = text; text == gone {
				delete(now, path)
			}
		}
		who := parties[r.IntN(len(parties))]
		w.who(who, int64(2000+1000*i), files)
		if r.IntN(4) == 0 { // perhaps unsure
			c := &w.turn.Claims[len(w.turn.Claims)-1]
			c.Paths = nil
		}
	}
	return w, had
}

// check finds what no projection may be.
func check(t *testing.T, seed uint64) {
	t.Helper()
	for _, parties := range [][]string{{"a", "b"}, {"a", "b", "c"}, {"a"}, {"b"}} {
		r := rand.New(rand.NewPCG(seed, uint64(len(parties))))
		w, had := random(r, parties)
		at := len(w.turn.States)
		w.who(map[bool]string{true: "a", false: "b"}[parties[0] == "b"], int64(90_000), map[string]string{"z": "z\n"})
		had["z"] = true
		if r.IntN(10) == 0 { // a blob is gone
			for h := range w.blobs {
				delete(w.blobs, h)
				break
			}
		}
		result, err := Of(w.turn)
		if result == nil && parties[0] == "b" {
			result = new(Result) // they did nothing, and so are their changes compared below
		}
		if err != nil || result == nil {
			t.Fatalf("seed %d: Of = %v, %v", seed, result, err)
		}
		for path, f := range result.Files {
			for _, c := range []Content{f.Others, f.Shared} {
				if c.Text != nil && (c.Entry.Mode == 0 || !c.Entry.Hash.IsZero()) || c.Text == nil && (c.Entry.Mode == 0) != c.Entry.Hash.IsZero() {
					t.Errorf("seed %d, %v: %s is %+v", seed, parties, path, c)
				}
				for l := range strings.Lines(string(c.Text)) {
					if !had[strings.TrimSuffix(l, "\n")] {
						t.Errorf("seed %d, %v: %s has %q, which never was", seed, parties, path, l)
					}
				}
			}
		}
		for _, l := range result.Lost {
			if l.State < 0 || l.State >= at || len(l.Paths) == 0 {
				t.Errorf("seed %d, %v: lost %v", seed, parties, result.Lost)
			}
		}
		if len(parties) > 1 {
			continue
		}
		want := w.now // all of others: it is as it ended
		if parties[0] == "a" {
			want = w.start
		}
		for _, path := range []string{"f", "g", "d", "d/e", "h"} {
			f, ok := result.Files[path]
			if !ok {
				f = File{Content{Entry: w.now[path]}, Content{Entry: w.now[path]}}
			}
			if !f.Others.is(want[path]) || !f.Shared.is(want[path]) {
				t.Errorf("seed %d, all of %s: %s is %+v, want %+v", seed, parties[0], path, f, want[path])
			}
		}
	}
}

// TestProjections does odd things at random.
func TestProjections(t *testing.T) {
	for seed := range uint64(gittest.Size(200_000, 2000)) {
		if check(t, seed); t.Failed() {
			return
		}
	}
}

func FuzzProjections(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(check)
}
