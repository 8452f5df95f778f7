package blame_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// A variant is another place where the answers have to be the same.
type variant struct {
	name string
	make func(*world) *machine
	// lossy ones lack commits: a turn may be missing in the answers, and none be wrong.
	lossy bool
	// other ones are only asked: git may give another answer there.
	other bool
}

var variants = []variant{
	{name: "again", make: (*world).copy},
	{name: "no notes", make: func(w *world) *machine {
		m := w.copy()
		for _, ref := range strings.Fields(m.clone.Git("for-each-ref", "--format=%(refname)", "refs/notes")) {
			m.clone.Git("update-ref", "-d", ref)
		}
		return m
	}},
	{name: "fresh clone", make: func(w *world) *machine {
		m := w.clone()
		m.clone.Git("reflog", "expire", "--expire=now", "--all")
		m.clone.Git("gc", "-q", "--prune=now")
		return m
	}},
	{name: "partial clone", make: func(w *world) *machine { return w.clone("--filter=blob:none") }},
	{name: "shallow clone", lossy: true, make: func(w *world) *machine { return w.clone("--depth=4") }},
	{name: "commit-graph", make: func(w *world) *machine {
		m := w.copy()
		m.clone.Git("commit-graph", "write", "--reachable", "--changed-paths")
		return m
	}},
	{name: "ignored revisions, none", make: func(w *world) *machine {
		m := w.copy()
		m.clone.Git("config", "blame.ignoreRevsFile", "there-is-none")
		return m
	}},
	{name: "ignored revisions", other: true, make: func(w *world) *machine {
		m := w.copy()
		file := filepath.Join(m.clone.Dir, ".git", "ignored")
		gittest.Must(w.t, os.WriteFile(file, []byte(m.clone.Git("rev-parse", "HEAD~1")+"\n"), 0o666))
		m.clone.Git("config", "blame.ignoreRevsFile", file)
		return m
	}},
	{name: "all in one pack", make: func(w *world) *machine {
		m := w.copy()
		m.clone.Git("repack", "-q", "-ad")
		return m
	}},
}

// copy is the first machine's clone once more, with what only this machine knows.
func (w *world) copy() *machine {
	a := w.machines[0]
	r := a.clone.In(filepath.Join(gittest.TempDir(w.t), "repo"))
	gittest.Must(w.t, os.CopyFS(r.Dir, os.DirFS(a.clone.Dir)))
	m := *a
	m.clone, m.trees = r, nil
	m.trees = []*tree{{machine: &m, dir: r.Dir}}
	return &m
}

// clone is another user's, who has fetched the missions and trusts those who recorded them.
func (w *world) clone(args ...string) *machine {
	a := w.machines[0]
	a.clone.Git("config", "uploadpack.allowFilter", "true")
	a.clone.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	r := w.room()
	r.In(filepath.Dir(r.Dir)).Git(append(append([]string{"clone", "-q", "--no-local"}, args...), "file://"+a.clone.Dir, r.Dir)...)
	r.Git("fetch", "-q", "origin", "refs/agent/missions/*:refs/agent/missions/*")
	m := w.machine("clone", r)
	for _, other := range w.machines {
		m.trusts(other.name, other.keys)
	}
	return m
}

// answers are the turns that wrote the lines of all files of HEAD, by file, and behind a blank those that may
// have as well; "hand" for the user.
func (m *machine) answers() map[string][]string {
	all := make(map[string][]string)
	tr := m.trees[0]
	h, err := blame.Open(context.Background(), tr.asked(tr.dir))
	m.must(err)
	defer h.Close()
	head := object.NewHash(tr.git("rev-parse", "HEAD"))
	for name := range strings.SplitSeq(strings.TrimSuffix(tr.git("ls-tree", "-r", "-z", "--name-only", "HEAD"), "\x00"), "\x00") {
		list, err := h.Blame(m.t.Context(), blame.Request{Commit: head, Path: name, Options: m.profile.options})
		if err != nil {
			m.t.Errorf("%s, seed %d, %s, %s: %v", m.profile.name, m.seed, m.log[len(m.log)-1], name, err)
		}
		for _, line := range list {
			who := "hand"
			if line.Turn != nil {
				who = line.Turn.ID().String()
			}
			for _, other := range line.Others {
				who += " " + other.ID().String()
			}
			all[name] = append(all[name], who)
		}
	}
	return all
}

// agree reports whether an answer is the same as that of the whole history. Where that has several turns,
// with less history it may be another one.
func agree(answer, whole string) bool {
	return answer == whole || strings.Contains(whole, " ") && answer != "hand"
}

// TestVariants asks the same of repositories with the same history that lack something, or have it in
// another form.
func TestVariants(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	n := *worlds
	if n == 0 {
		n = gittest.Size(2, 1)
	}
	type row struct {
		same, lost, turn, agent, gone int
		took                          time.Duration
	}
	var mu sync.Mutex
	rows := make(map[string]*row)
	t.Run("worlds", func(t *testing.T) {
		for _, p := range profiles {
			if *only != "" && *only != p.name || *only == "" && p.name != "everything" && (!gittest.Whole() || p.name != "plain" && p.name != "clocks") {
				continue
			}
			for seed := *first; seed < *first+uint64(n); seed++ {
				t.Run(fmt.Sprintf("%s/%d", p.name, seed), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, p, seed)
					w.run(gittest.Size(60, 30))
					want := w.machines[0].answers()
					for _, v := range variants {
						w.note("%s", v.name)
						m := v.make(w)
						began := time.Now()
						got := m.answers()
						took := time.Since(began)
						mu.Lock()
						r := rows[v.name]
						if r == nil {
							r = new(row)
							rows[v.name] = r
						}
						r.took += took
						for name, lines := range want {
							if len(got[name]) != len(lines) {
								r.gone += len(lines)
								continue
							}
							for i, line := range lines {
								switch answer := got[name][i]; {
								case agree(answer, line):
									r.same++
									continue
								case answer == "hand":
									r.lost++
								case line == "hand":
									r.agent++
								default:
									r.turn++
								}
								t.Logf("%s, seed %d, %s: %s:%d: %s, not %s", p.name, seed, v.name, name, i+1, line, got[name][i])
							}
						}
						mu.Unlock()
					}
				})
			}
		}
	})
	var table strings.Builder
	table.WriteString("| variant | same | agent as user | wrong turn | user as agent | no answer | s |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, v := range variants {
		r := rows[v.name]
		if r == nil {
			continue
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %.1f |\n", v.name, r.same, r.lost, r.turn, r.agent, r.gone, r.took.Seconds())
		if !v.other && (r.turn+r.agent+r.gone > 0 || !v.lossy && r.lost > 0) {
			t.Errorf("%s: other answers", v.name)
		}
	}
	t.Logf("\n%s", table.String())
}
