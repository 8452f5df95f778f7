package blame

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"gitagent/internal/compact"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/test/gittest"
)

// A forest is commits of a random history, made by git, in the order in which they were made.
type forest struct {
	*gittest.Repo
	rnd     *rand.Rand
	commits []object.Hash
}

// grow adds commits: most are on a newer one, some are merges or have no parent.
func (f *forest) grow(n int) {
	var in strings.Builder
	first := len(f.commits)
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&in, "commit refs/made/%d\nmark :%d\ncommitter Dev <dev@example.invalid> %d +0000\ndata 1\nx\n", i, i+1, 1_700_000_000+60*i+f.rnd.IntN(90))
		parent := func() string {
			at := max(0, i-1-f.rnd.IntN(5))
			if at < first {
				return f.commits[at].String()
			}
			return fmt.Sprintf(":%d", at+1)
		}
		if i > 0 && f.rnd.IntN(40) > 0 {
			fmt.Fprintf(&in, "from %s\n", parent())
			if f.rnd.IntN(4) == 0 {
				fmt.Fprintf(&in, "merge %s\n", parent())
			}
		}
		fmt.Fprintf(&in, "M 644 inline file\ndata <<.\n%d\n.\n", f.rnd.IntN(9))
	}
	f.Pipe(in.String(), "fast-import", "--quiet", "--force", "--export-marks=marks")
	for _, line := range strings.Split(strings.TrimSpace(f.Read("marks")), "\n") {
		mark, hash, _ := strings.Cut(line, " ")
		var at int
		_, _ = fmt.Sscanf(mark, ":%d", &at)
		for len(f.commits) < at {
			f.commits = append(f.commits, object.Hash{})
		}
		f.commits[at-1] = object.NewHash(hash)
	}
}

// told is what a list says, but for the parents of edges, which nobody asks for.
func told(list []real) string {
	var lines []string
	for _, r := range list {
		if r.edge {
			r.parents = nil
		}
		lines = append(lines, fmt.Sprint(r.hash, r.tree, r.date, r.edge, r.parents))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// packed is a chart as it is kept.
func packed(c *chart) string {
	var w compact.Writer
	c.pack(&w)
	return string(w)
}

// TestChart: what a chart answers is what git lists, also of commits that are newer than it, and after it was kept.
func TestChart(t *testing.T) {
	t.Parallel()
	answered := 0
	for seed := range uint64(gittest.Size(60, 6)) {
		f := &forest{Repo: gittest.New(t), rnd: rand.New(rand.NewPCG(seed, 38))}
		f.grow(40)
		w := workspaceOf(t, f.Repo)
		objects := w.Repo.Objects(t.Context())
		defer objects.Close()
		some := func(n, from, to int) map[object.Hash]bool {
			wanted := make(map[object.Hash]bool)
			for range n {
				wanted[f.commits[from+f.rnd.IntN(to-from)]] = f.rnd.IntN(4) > 0
			}
			return wanted
		}
		without := []object.Hash{f.commits[f.rnd.IntN(8)]}
		first, err := listed(t.Context(), w.Repo, some(30, 8, 40), without)
		gittest.Must(t, err)
		c := newChart(without, first)
		if !c.closed() {
			continue
		}
		for round := range 12 {
			if round == 4 {
				f.grow(8)
			}
			if round == 8 {
				if c = unpackChart(compact.NewReader(packed(c))); c == nil {
					t.Fatal("the chart can't be read again")
				}
			}
			wanted, without := some(1+f.rnd.IntN(4), 5, len(f.commits)), c.without
			if round%3 == 1 {
				without = []object.Hash{f.commits[f.rnd.IntN(25)]}
			}
			got, ok := c.reach(objects, wanted, without)
			if !ok {
				continue
			}
			answered++
			want, err := listed(t.Context(), w.Repo, wanted, without)
			gittest.Must(t, err)
			if told(got) != told(want) {
				t.Errorf("seed %d, round %d: the chart lists\n%s\nand git\n%s", seed, round, told(got), told(want))
			}
		}
	}
	t.Logf("answered %d", answered)
	if answered < gittest.Size(60, 6) {
		t.Errorf("it has answered %d times alone", answered)
	}
}

// A kept is a repository with so many commits that a chart of them is kept.
type kept struct {
	*gittest.Repo
	t       *testing.T
	commits []object.Hash
}

func newKept(t *testing.T) *kept {
	k := &kept{Repo: gittest.New(t), t: t}
	var in strings.Builder
	for i := range fewCommits + 100 {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Dev <dev@example.invalid> %d +0000\ndata 1\nx\nM 644 inline file%d\ndata <<.\n%d\n.\n", 1_700_000_000+i, i%7, i)
	}
	k.Pipe(in.String(), "fast-import", "--quiet", "--force")
	for hash := range strings.FieldsSeq(k.Git("rev-list", "--reverse", "main")) {
		k.commits = append(k.commits, object.NewHash(hash))
	}
	gittest.Must(t, os.Mkdir(k.Dir+"/.git/agent", 0o700))
	return k
}

func (k *kept) file() string { return k.Dir + "/.git/agent/" + session.CommitsFile }

// ask asks for the commits of a turn's graph and for a file in them, and keeps what there is. It tells whether git was
// asked to list them.
func (k *kept) ask() (listing bool) {
	k.t.Helper()
	w := workspaceOf(k.t, k.Repo)
	h := &History{w: w, objects: w.Repo.Objects(k.t.Context())}
	h.readKept()
	defer h.Close()
	turn := &pastTurn{base: k.commits[10], code: k.commits[700]}
	head := object.NewHash(k.Git("rev-parse", "main"))
	list, c, err := h.revisions(k.t.Context(), h.objects, head, []*pastTurn{turn})
	gittest.Must(k.t, err)
	want, err := listed(k.t.Context(), w.Repo, map[object.Hash]bool{head: false, turn.base: true, turn.code: true}, k.commits[10:11])
	gittest.Must(k.t, err)
	if told(list) != told(want) {
		k.t.Errorf("%d commits, and git lists %d", len(list), len(want))
	}
	blobs, err := c.blobs(k.t.Context(), w.Repo, "file3", nil)
	gittest.Must(k.t, err)
	if got, want := blobs[c.index[head]].String(), k.Git("rev-parse", "main:file3"); got != want {
		k.t.Errorf("the file is %s, want %s", got, want)
	}
	return c.anew >= fewCommits
}

// TestChartKept: a chart is kept for the next process, and made anew where what is kept is of no use or must not be used.
func TestChartKept(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	want := func(when string, want bool) {
		t.Helper()
		if got := k.ask(); got != want {
			t.Errorf("%s: git lists commits: %v, want %v", when, got, want)
		}
	}
	want("first", true)
	want("then", false)
	k.Git("update-ref", "refs/heads/main", k.Git("commit-tree", "-p", "main", "-m", "newer", "main^{tree}"))
	want("with a newer commit", false)
	file, err := os.ReadFile(k.file())
	gittest.Must(t, err)
	for name, content := range map[string][]byte{
		"damaged":  append(append(slices.Clone(file[:500]), file[500]^1), file[501:]...),
		"cut off":  file[:len(file)/2],
		"empty":    nil,
		"of other": append([]byte("git-agent commits 0"), file[len(commitsLine):]...),
	} {
		gittest.Must(t, os.WriteFile(k.file(), content, 0o600))
		want(name, true)
		want("after "+name, false)
	}
	gittest.Must(t, os.WriteFile(k.file()+session.Fresh, file[:100], 0o600)) // of a process that died as it wrote
	gittest.Must(t, os.Remove(k.file()))
	want("gone", true)
	want("after it was gone", false)
	for _, name := range []string{"shallow", "info/grafts"} {
		k.Write(".git/"+name, k.commits[20].String()+"\n")
		w := workspaceOf(t, k.Repo)
		h := &History{w: w}
		if h.readKept(); h.chart != nil {
			t.Errorf("with %s the chart is used", name)
		}
		gittest.Must(t, os.Remove(k.Dir+"/.git/"+name))
	}
	w := workspaceOf(t, k.Repo)
	gittest.Must(t, w.Store.Forget(t.Context(), "a1b2c3d4"))
	if _, err := os.Stat(k.file()); err == nil {
		t.Error("it is there after a mission was removed")
	}
	// What was read before a mission came, went or was purged is not written.
	h := &History{w: w, objects: w.Repo.Objects(t.Context()), past: newPast(), tips: map[record.ID]object.Hash{"a1b2c3d4": k.commits[3]}}
	_, _, err = h.revisions(t.Context(), h.objects, k.commits[1050], []*pastTurn{{base: k.commits[0]}})
	gittest.Must(t, err)
	h.Close()
	if _, err := os.Stat(k.file()); err == nil {
		t.Error("it was written though a mission has changed")
	}
}

// TestChartTogether: processes that keep a chart at once leave one that is whole.
func TestChartTogether(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	k := newKept(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				k.ask()
				_ = os.Remove(k.file())
			}
		})
	}
	all.Wait()
	k.ask()
	if k.ask() {
		t.Error("git lists commits again")
	}
}
