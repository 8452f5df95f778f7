package checkout_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/checkout"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestAdoptModel edits a checkout and a fork of it at random, and adopts the fork: that makes of the worktree
// what a `git merge` of the same three trees does, byte for byte, or changes nothing where git has conflicts.
// HEAD and the index stay, an undo is exact, and so is a redo.
func TestAdoptModel(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(40, 3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newMerging(t, seed)
			for range gittest.Size(3, 2) {
				m.round()
				if t.Failed() {
					t.Fatalf("seed %d:\n%s", seed, strings.Join(m.log, "\n"))
				}
			}
			m.here.Fsck()
			t.Logf("%v", m.count)
		})
	}
}

// A merging is a checkout, a fork of it, and a repository in which git merges what they have.
type turnStream struct {
	t           *testing.T
	rand        *rand.Rand
	here, there *lab.Lab
	git         *gittest.Repo
	point       *turns.Turn
	n           int
	log         []string
	count       map[string]int
}

func newMerging(t *testing.T, seed uint64) *turnStream {
	l := lab.New(t)
	m := &turnStream{t: t, rand: rand.New(rand.NewPCG(seed, 16)), here: l, count: make(map[string]int)}
	l.Write(".gitattributes", "*.crlf text eol=crlf\n")
	l.Write("x.ignored", "ignored\n")
	l.Commit("attributes")
	c := l.Client()
	l.Turn(c, "one", func() {
		for range 24 {
			m.n++
			m.create(l)
		}
	})
	m.point = last(l, lab.Own(c))
	m.there = aside(l, leftID, m.point)
	m.git = gittest.New(t)
	m.git.Env = append(slices.Clip(m.git.Env), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(l.Dir, ".git", "objects"))
	m.git.Git("config", "merge.directoryRenames", "false")
	return m
}

// names are where files are made; some are in the way of others.
var names = []string{"a", "b.crlf", "d/a", "d/b.crlf", "d/e/f", "d/e/g", "e/-x", "e/ü ü", "f", "f/g", "h/i/j/k", "h/i/l"}

// edit changes something at random, n times.
func (m *turnStream) edit(in *lab.Lab, n int) {
	for range n {
		m.n++
		list := m.tracked(in)
		if len(list) == 0 || m.rand.IntN(5) == 0 {
			m.create(in)
			continue
		}
		name := list[m.rand.IntN(len(list))]
		path := filepath.Join(in.Dir, name)
		info, err := os.Lstat(path)
		gittest.Must(m.t, err)
		regular := info.Mode().IsRegular()
		switch do := m.rand.IntN(8); {
		case do == 0:
			in.Remove(name)
			m.say(in, "delete %q", name)
		case do == 1:
			to := fmt.Sprintf("%s%d%s", []string{"moved", "d/moved", "new dir/moved"}[m.rand.IntN(3)], m.n, filepath.Ext(name))
			gittest.Must(m.t, os.MkdirAll(filepath.Dir(filepath.Join(in.Dir, to)), 0o777))
			gittest.Must(m.t, os.Rename(path, filepath.Join(in.Dir, to)))
			m.say(in, "move %q to %q", name, to)
		case do == 2 && regular:
			in.Chmod(name, info.Mode().Perm()^0o111)
			m.say(in, "chmod %q", name)
		case do == 3:
			in.Remove(name)
			in.Symlink(fmt.Sprint("to ", m.n), name)
			m.say(in, "link %q", name)
		case regular:
			m.line(in, name)
		}
	}
}

func (m *turnStream) create(in *lab.Lab) {
	name := names[m.rand.IntN(len(names))]
	if m.rand.IntN(3) == 0 {
		name = fmt.Sprint("n/", m.n)
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(in.Dir, dir)); err == nil && !info.IsDir() {
			in.Remove(dir) // a directory takes the place of a file
		}
	}
	in.Remove(name)
	end := "\n"
	if filepath.Ext(name) == ".crlf" || m.rand.IntN(5) == 0 {
		end = "\r\n"
	}
	var b strings.Builder
	if m.rand.IntN(6) == 0 && filepath.Ext(name) != ".crlf" {
		b.WriteString("\x00\xff")
	}
	id := m.rand.IntN(3) // two sides may make the same file
	for i := range 24 {
		fmt.Fprintf(&b, "%d of %s by %d%s", i, name, id, end)
	}
	in.Write(name, b.String())
	m.say(in, "create %q", name)
}

// line changes, adds or removes one.
func (m *turnStream) line(in *lab.Lab, name string) {
	data, err := os.ReadFile(filepath.Join(in.Dir, name))
	gittest.Must(m.t, err)
	lines := strings.SplitAfter(string(data), "\n")
	end := "\n"
	if strings.Contains(string(data), "\r\n") {
		end = "\r\n"
	}
	i := m.rand.IntN(len(lines))
	switch m.rand.IntN(4) {
	case 0:
		lines = slices.Delete(lines, i, i+1)
	case 1:
		lines = slices.Insert(lines, i, fmt.Sprint("new ", m.n, end))
	default:
		lines[i] = fmt.Sprint("line ", m.n, end)
	}
	in.Write(name, strings.Join(lines, ""))
	m.say(in, "line %d of %q", i, name)
}

func (m *turnStream) say(in *lab.Lab, format string, args ...any) {
	side := "here: "
	if m.there != nil && in.Dir == m.there.Dir {
		side = "there: "
	}
	m.log = append(m.log, side+fmt.Sprintf(format, args...))
}

// tracked are the files of a worktree that git does not ignore, but for the attributes.
func (m *turnStream) tracked(in *lab.Lab) []string {
	list := slices.Sorted(maps.Keys((&world{Lab: in}).lies()))
	return slices.DeleteFunc(list, func(name string) bool { return strings.HasPrefix(name, ".git") || strings.HasSuffix(name, ".ignored") })
}

// round edits both sides, and adopts.
func (m *turnStream) round() {
	c := m.there.Client()
	for range 1 + m.rand.IntN(2) {
		m.there.Turn(c, "there", func() { m.edit(m.there, 1+m.rand.IntN(4)) })
	}
	m.edit(m.here, m.rand.IntN(4))
	if m.rand.IntN(3) == 0 {
		m.here.Git("add", "-A")
		m.edit(m.here, m.rand.IntN(2))
	}
	turn := last(m.there, leftID)
	want, conflicts := m.merge(turn)
	here := &world{Lab: m.here}
	was, still, refs := here.lies(), here.still(), m.here.Git("for-each-ref")
	want["x.ignored"] = was["x.ignored"]
	ours := m.here.Tree()
	now := func(what string, want disk) {
		m.t.Helper()
		here.index = still
		here.same(what, want)
	}
	done, err := adopt(m.here, turn, checkout.Merging{})
	var conflict *checkout.ConflictError
	switch {
	case errors.As(err, &conflict):
		m.count["conflict"]++
		now("conflict", was)
		if m.here.Git("for-each-ref") != refs {
			m.t.Error("conflict: the refs have changed")
		}
		var paths []string
		for _, c := range conflict.Conflicts {
			paths = append(paths, c.Path)
		}
		m.say(m.here, "conflicts %q, of git's merge %q", paths, conflicts)
		if slices.Sort(paths); len(conflicts) == 0 || !slices.Equal(paths, conflicts) {
			m.t.Errorf("conflicts in %q, and of git in %q", paths, conflicts)
		}
		// Written out, it is taken back all the same.
		if done, err = adopt(m.here, turn, checkout.Merging{Merge: true}); err != nil || len(done.Conflicts) != len(paths) {
			m.t.Fatalf("with markers: %+v, %v", done, err)
		}
	case err != nil:
		m.t.Fatal(err)
	case len(conflicts) > 0:
		m.t.Errorf("adopted, and git has conflicts in %q", conflicts)
	default:
		m.count["clean"]++
		now("adopt", want)
	}
	if len(done.Changes) == 0 {
		m.count["nothing"]++
		now("nothing", was)
		return
	}
	if kept := m.here.TreeOf(done.Present.String()); kept != ours {
		m.t.Errorf("kept is %s, there was %s", kept, ours)
	}
	after := here.lies()
	for i, want := range []disk{was, after, was, after} {
		if _, _, err := m.here.Undo(checkout.Merging{}); err != nil {
			m.t.Fatal(err)
		}
		now(fmt.Sprint("undo ", i), want)
	}
	if conflict != nil || m.rand.IntN(3) == 0 {
		if _, _, err := m.here.Undo(checkout.Merging{}); err != nil {
			m.t.Fatal(err)
		}
		now("undo", was)
		return
	}
	m.count["kept"]++
	if m.rand.IntN(2) == 0 {
		m.here.Commit("adopted")
	}
}

// merge lets git merge the trees, and returns what that makes of a worktree, or the paths with conflicts.
func (m *turnStream) merge(turn *turns.Turn) (merged disk, conflicts []string) {
	m.t.Helper()
	base := m.git.Git("commit-tree", "-m", "base", m.point.Code.String()+"^{tree}")
	ours := m.git.Git("commit-tree", "-m", "ours", "-p", base, m.here.Tree())
	theirs := m.git.Git("commit-tree", "-m", "theirs", "-p", base, turn.Code.String()+"^{tree}")
	_, _ = m.git.Try("merge", "--abort") // of the round before
	m.git.Git("checkout", "-q", "-f", ours)
	m.git.Git("clean", "-q", "-f", "-f", "-d", "-x")
	_, err := m.git.Try("merge", "-q", "--no-edit", theirs)
	at := *m.here
	at.Repo = m.git
	if err == nil {
		return (&world{Lab: &at}).lies(), nil
	}
	for name := range strings.FieldsFuncSeq(m.git.Git("ls-files", "-u", "-z"), func(r rune) bool { return r == 0 }) {
		_, name, _ = strings.Cut(name, "\t") // one for each side
		conflicts = append(conflicts, name)
	}
	if len(conflicts) == 0 {
		m.t.Fatal(err)
	}
	slices.Sort(conflicts)
	conflicts = slices.Compact(conflicts)
	for i, name := range conflicts { // what a directory is in the place of, or a file of another kind
		conflicts[i] = strings.TrimSuffix(strings.TrimSuffix(name, "~HEAD"), "~"+theirs)
	}
	slices.Sort(conflicts)
	return disk{}, conflicts
}
