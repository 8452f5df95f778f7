package blame

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
)

// A wood is a random history of a file that is renamed, taken away and merged.
type wood struct {
	rnd   *rand.Rand
	in    strings.Builder
	texts [][]string // by commit: the lines of each name
}

var woodNames = []string{"file", "old"}

func (f *wood) grow(n int) {
	for i := range n {
		fmt.Fprintf(&f.in, "commit refs/heads/main\nmark :%d\ncommitter Dev <dev@example.invalid> %d +0000\ndata 1\nx\n", i+1, 1_700_000_000+60*i)
		now := []string{"", ""}
		if i > 0 {
			parent := max(0, i-1-f.rnd.IntN(4))
			now = append([]string{}, f.texts[parent]...)
			fmt.Fprintf(&f.in, "from :%d\n", parent+1)
			if f.rnd.IntN(4) == 0 {
				other := max(0, i-1-f.rnd.IntN(6))
				fmt.Fprintf(&f.in, "merge :%d\n", other+1)
				if f.rnd.IntN(2) == 0 {
					now = append([]string{}, f.texts[other]...)
				}
			}
		}
		switch k := f.rnd.IntN(2); f.rnd.IntN(9) {
		case 0:
			now[k], now[1-k] = now[1-k], "" // moved
		case 1:
			now[0], now[1] = now[1], now[0]
		case 2, 3, 4:
			lines := strings.SplitAfter(now[k], "\n")
			at := f.rnd.IntN(len(lines))
			lines[at] = fmt.Sprintf("line %d\n", f.rnd.IntN(60)) + lines[at]
			now[k] = strings.Join(lines, "")
		}
		if i == 0 {
			for line := range 20 {
				now[0] += fmt.Sprintf("first %d\n", line)
			}
		}
		f.in.WriteString("deleteall\nM 644 inline other\ndata 1\nx\n")
		for k, name := range woodNames {
			if now[k] != "" {
				fmt.Fprintf(&f.in, "M 644 inline %s\ndata %d\n%s\n", name, len(now[k]), now[k])
			}
		}
		f.texts = append(f.texts, now)
	}
}

// plainly is what git says, without what is old.
func plainly(list []gitdiff.Blamed, since bool) string {
	var b strings.Builder
	for _, l := range list {
		if since && l.Before {
			continue
		}
		for n := l.Number; n < l.End(); n++ { // old lines may divide what is one without them
			p := l.Part(n, n+1)
			in := *p.In
			p.In = nil
			fmt.Fprintf(&b, "%+v %+v\n", p, in)
		}
	}
	return b.String()
}

// TestPlain: over what is known of a file git says what it says by itself.
func TestPlain(t *testing.T) {
	t.Parallel()
	short := 0
	for seed := range uint64(gittest.Size(60, 5)) {
		r := gittest.New(t)
		f := &wood{rnd: rand.New(rand.NewPCG(seed, 46))}
		f.grow(60)
		r.Pipe(f.in.String(), "fast-import", "--quiet", "--force", "--export-marks=marks")
		commits := make([]object.Hash, 60)
		for line := range strings.Lines(r.Read("marks")) {
			var at int
			var hash string
			_, _ = fmt.Sscanf(line, ":%d %s", &at, &hash)
			commits[at-1] = object.NewHash(hash)
		}
		w := workspaceOf(t, r)
		h := &History{w: w, objects: w.Repo.Objects(t.Context()), past: newPast()}
		defer h.objects.Close()
		for round := range gittest.Size(20, 8) {
			at := 59 - f.rnd.IntN(20)
			name := woodNames[0]
			if f.texts[at][0] == "" {
				name = woodNames[1]
			}
			if f.texts[at][0]+f.texts[at][1] == "" {
				continue
			}
			q := &question{h: h, repo: w.Repo, objects: h.objects, commit: commits[at], r: Request{Commit: commits[at], Path: name}}
			if round%2 > 0 {
				q.r.Since = commits[f.rnd.IntN(at)]
			}
			g, err := h.graph(t.Context(), h.objects, q.commit, []*pastTurn{{base: commits[f.rnd.IntN(12)]}})
			gittest.Must(t, err)
			v := newVersions(w.Repo, h.objects, h, g)
			gittest.Must(t, v.add(t.Context(), name))
			if q.shortcut(v) != nil {
				short++
			}
			got, err := q.plain(t.Context(), v)
			gittest.Must(t, err)
			want, err := q.plain(t.Context(), nil)
			gittest.Must(t, err)
			if got, want := plainly(got, round%2 > 0), plainly(want, round%2 > 0); got != want {
				t.Errorf("seed %d, round %d: git says\n%s, and by itself\n%s", seed, round, got, want)
			}
		}
	}
	if short < gittest.Size(60, 5)*4 {
		t.Errorf("%d times there was a shortcut", short)
	}
}
