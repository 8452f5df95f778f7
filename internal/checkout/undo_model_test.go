package checkout_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/gitdiff"
	"gitagent/internal/snapshot"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// TestRevertModel restores, reverts and undoes turns at random, and compares what becomes of the
// worktree with a model that knows nothing of git: files whose lines are told apart by name. Whatever
// happens, what was there before is kept, an undo brings it back byte for byte, and HEAD and the index
// stay.
func TestRevertModel(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(5, 2)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			for range 8 {
				w.turn()
			}
			for range gittest.Size(24, 12) {
				switch w.rand.IntN(8) {
				case 0:
					w.turn()
				case 1:
					w.mutate(1 + w.rand.IntN(2)) // by hand
				case 2:
					w.restore()
				case 3:
					w.restorePaths()
				case 4:
					w.undo()
				default:
					w.revert()
				}
				if t.Failed() {
					t.Fatalf("seed %d:\n%s", seed, strings.Join(w.log, "\n"))
				}
			}
			w.Fsck()
			t.Logf("%v", w.count)
		})
	}
}

// A world is a worktree and the model of it.
type world struct {
	*lab.Lab
	c     *replay.Client
	rand  *rand.Rand
	next  int
	now   model
	turns []span
	users disk // what nobody may touch
	index lab.Sight
	log   []string
	count map[string]int

	before, after model // of the last step
}

// A span is a turn in the model.
type span struct{ base, code model }

// model are the files of the model, by what they are: a rename is another path of the same.
type model map[int]modelFile

// A modelFile has a few lines that change; between them are others that never do.
type modelFile struct {
	path  string
	kind  kind
	exec  bool
	lines [6]int // 0 for none
}

type kind int

const (
	plainFile kind = iota
	binaryFile
	linkFile
)

func (f modelFile) content(id int) string {
	if f.kind == linkFile {
		return fmt.Sprintf("nowhere-%d-%d", id, f.lines[0])
	}
	var b strings.Builder
	if f.kind == binaryFile {
		b.WriteString("\x00\xff\r\n")
	}
	for i, line := range f.lines {
		for n := range 6 {
			fmt.Fprintf(&b, "%d: %d.%d stays\n", id, i, n)
		}
		if line != 0 {
			fmt.Fprintf(&b, "%d: line %d is %d\n", id, i, line)
		}
	}
	return b.String() + "the end" // without a newline
}

func (f modelFile) mode() string {
	switch {
	case f.kind == linkFile:
		return "link"
	case f.exec:
		return "exec"
	}
	return "file"
}

// A disk is what lies in a worktree: the mode and the content by path.
type disk map[string]string

func (m model) disk() disk {
	d := make(disk)
	for id, f := range m {
		d[f.path] = f.mode() + " " + f.content(id)
	}
	return d
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		Lab: lab.New(t), rand: rand.New(rand.NewPCG(seed, 11)), now: make(model), count: make(map[string]int),
	}
	w.Capture.MaxFileSize = 64 << 10
	// What nobody may touch: ignored, too large, a repository within, a submodule, staged content.
	w.Write("x.ignored", "ignored\n")
	w.Write("dir/y.ignored", "ignored\n")
	w.Write("large", strings.Repeat("large\n", 20<<10))
	w.Write("dir/nested/file", "nested\n")
	w.Git("init", "-q", "dir/nested")
	w.Git("init", "-q", "sub")
	w.Write("sub/file", "submodule\n")
	sub := w.In(filepath.Join(w.Dir, "sub"))
	sub.Commit("of the submodule")
	w.Git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
	w.Git("commit", "-q", "-m", "a submodule")
	w.Write("sub/file", "changed in it\n")
	w.Write("kept.txt", "staged\n")
	w.Git("add", "kept.txt")
	w.Write("kept.txt", "kept\n")
	w.users = w.lies()
	w.index = w.still()
	w.c = w.Client()
	return w
}

// still is what no step changes.
func (w *world) still() lab.Sight {
	w.T.Helper()
	s := lab.Sight{"refs": w.Git("for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"), "log": w.Git("reflog", "HEAD")}
	names := []string{"index", "HEAD"}
	if !w.InTables() {
		names = append(names, "logs/HEAD")
	}
	for _, name := range names {
		path := filepath.Join(w.Dir, ".git", name)
		data, err := os.ReadFile(path)
		gittest.Must(w.T, err)
		info, err := os.Stat(path)
		gittest.Must(w.T, err)
		s[name], s[name+", when"] = string(data), fmt.Sprint(info.ModTime().UnixNano())
	}
	return s
}

// lies is everything in the worktree.
func (w *world) lies() disk {
	w.T.Helper()
	d := make(disk)
	err := filepath.WalkDir(w.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(w.Dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			d[rel] = "link " + target
			return err
		}
		mode := "file "
		if info.Mode()&0o100 != 0 {
			mode = "exec "
		}
		data, err := os.ReadFile(path)
		d[rel] = mode + string(data)
		return err
	})
	gittest.Must(w.T, err)
	return d
}

// same fails the test unless the worktree is as wanted.
func (w *world) same(what string, want disk) {
	w.T.Helper()
	got := w.lies()
	for path := range got {
		if _, ok := want[path]; !ok {
			w.T.Errorf("%s: there is %q:\n%.300q", what, path, got[path])
		}
	}
	for path, content := range want {
		if got[path] != content {
			w.T.Errorf("%s: %q is\n%.600q\nwant\n%.600q", what, path, got[path], content)
		}
	}
	w.index.Same(w.T, w.still())
}

// all is the model's worktree with what nobody may touch.
func (w *world) all(m model) disk {
	d := maps.Clone(w.users)
	maps.Copy(d, m.disk())
	return d
}

// put makes the worktree what the model says.
func (w *world) put(m model) {
	w.T.Helper()
	here, want := w.lies(), w.all(m)
	for path := range here {
		if want[path] != here[path] {
			w.Remove(path)
		}
	}
	for id, f := range m {
		switch {
		case here[f.path] == want[f.path]:
			continue
		case f.kind == linkFile:
			gittest.Must(w.T, os.MkdirAll(filepath.Dir(filepath.Join(w.Dir, f.path)), 0o777))
			w.Symlink(f.content(id), f.path)
		default:
			w.Write(f.path, f.content(id))
			if f.exec {
				w.Chmod(f.path, 0o755)
			}
		}
	}
	w.now = m
}

// path makes a new one. Directories never vanish, so none of them is renamed.
func (w *world) path() string {
	w.next++
	return []string{"a", "-dash", "dir/b", "dir/new\nline", "dir/\xff", "dir/*", ":(top)"}[w.rand.IntN(7)] + fmt.Sprint(w.next)
}

func (w *world) value() int { w.next++; return w.next }

// mutate changes the worktree at random.
func (w *world) mutate(n int) {
	m := maps.Clone(w.now)
	for range n {
		ids := slices.Sorted(maps.Keys(m))
		if len(ids) == 0 || w.rand.IntN(6) == 0 {
			f := modelFile{path: w.path(), kind: []kind{plainFile, plainFile, plainFile, binaryFile, linkFile}[w.rand.IntN(5)]}
			for i := range f.lines {
				f.lines[i] = w.value()
			}
			f.exec = f.kind != linkFile && w.rand.IntN(4) == 0
			m[w.value()] = f
			continue
		}
		id := ids[w.rand.IntN(len(ids))]
		f := m[id]
		switch w.rand.IntN(10) {
		case 0:
			delete(m, id)
			continue
		case 1, 2:
			if f.kind != linkFile {
				f.path = w.path()
			}
		case 3:
			f.exec = !f.exec && f.kind != linkFile
		case 4:
			f.lines[w.line(f)] = w.value() * w.rand.IntN(2)
		default:
			f.lines[w.line(f)] = w.value()
		}
		if f.kind != plainFile && f.lines[0] == 0 {
			f.lines[0] = w.value()
		}
		m[id] = f
	}
	w.put(m)
	w.say("changed to %v", m)
}

// line draws one that may change: of a binary file, which is never merged, always the same.
func (w *world) line(f modelFile) int {
	if f.kind != plainFile {
		return 0
	}
	return w.rand.IntN(len(f.lines))
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) turn() {
	base := w.now
	w.c.Prompt(fmt.Sprintf("turn %d", len(w.turns)+1))
	w.c.Tool("Edit")
	w.say("turn %d", len(w.turns)+1)
	w.mutate(1 + w.rand.IntN(4))
	w.c.Stop("done")
	w.turns = append(w.turns, span{base, w.now})
}

// merge3 is a three-way merge in the model. known is false where the model can't tell.
func merge3(base, ours, theirs model) (merged model, clean, known bool) {
	merged, clean = make(model), true
	paths := make(map[string]bool)
	ids := maps.Clone(base)
	maps.Copy(ids, ours)
	maps.Copy(ids, theirs)
	for id := range ids {
		b, inBase := base[id]
		o, inOurs := ours[id]
		t, inTheirs := theirs[id]
		var f modelFile
		there := true
		switch {
		case inOurs == inTheirs && o == t:
			f, there = o, inOurs
		case inTheirs == inBase && t == b:
			f, there = o, inOurs
		case inOurs == inBase && o == b:
			f, there = t, inTheirs
		case !inBase:
			return nil, false, false
		case !inOurs || !inTheirs:
			clean = false
			continue
		default:
			f = o
			one := func(b, o, t any) bool { // whether theirs counts
				clean = clean && (b == o || b == t || o == t)
				return b == o
			}
			if one(b.path, o.path, t.path) {
				f.path = t.path
			}
			if one(b.exec, o.exec, t.exec) {
				f.exec = t.exec
			}
			for i := range f.lines {
				if one(b.lines[i], o.lines[i], t.lines[i]) {
					f.lines[i] = t.lines[i]
				}
			}
		}
		if there {
			clean = clean && !paths[f.path]
			paths[f.path] = true
			merged[id] = f
		}
	}
	return merged, clean, true
}

func (w *world) list() []*turns.Turn { return w.Lab.List(lab.Own(w.c)) }

// step runs a step, and checks what is true of all of them. want is nil if the model can't tell.
func (w *world) step(what string, want disk, conflict bool, do func(checkout.Merging) (*checkout.Restored, error)) (changed bool) {
	w.T.Helper()
	was, refs := w.lies(), w.Git("for-each-ref")
	dry, err := do(checkout.Merging{RestorePlan: checkout.RestorePlan{Dry: true}})
	if w.Git("for-each-ref") != refs {
		w.T.Errorf("%s, dry: the refs have changed", what)
	}
	w.same(what+", dry", was)
	var conflicts *checkout.ConflictError
	if err != nil && !errors.As(err, &conflicts) {
		w.T.Fatalf("%s: %v", what, err)
	}
	if want != nil && (err != nil) != conflict {
		w.T.Errorf("%s: %v, want a conflict: %t", what, err, conflict)
	}
	how := checkout.Merging{}
	if err != nil {
		w.count["conflict"]++
		w.say("conflicts: %+v", conflicts.Conflicts)
		_, again := do(how)
		if !errors.As(again, &conflicts) || w.Git("for-each-ref") != refs {
			w.T.Errorf("%s: %v", what, again)
		}
		w.same(what+", with conflicts", was)
		how.Merge = true
		want = nil
	}
	done, err := do(how)
	if err != nil {
		w.T.Fatalf("%s: %v", what, err)
	}
	if how.Merge == (len(done.Conflicts) == 0) {
		w.T.Errorf("%s: conflicts %+v", what, done.Conflicts)
	}
	if dry != nil && !slices.Equal(dry.Changes, done.Changes) {
		w.T.Errorf("%s would change %v, and has changed %v", what, dry.Changes, done.Changes)
	}
	if want != nil {
		w.same(what, want)
	}
	now := w.lies()
	if want == nil {
		w.index.Same(w.T, w.still())
	}
	for _, c := range done.Conflicts {
		is := now[c.Path]
		if marked := strings.Contains(is, "<<<<<<< "); marked != (c.Holds == gitdiff.HoldsBoth) || (is == was[c.Path]) != (c.Holds == gitdiff.HoldsOurs) {
			w.T.Errorf("%s: %q holds %d, and is\n%.600q", what, c.Path, c.Holds, is)
		}
		w.count[fmt.Sprint("holds ", c.Holds)]++
	}
	for path, content := range w.users {
		if now[path] != content {
			w.T.Errorf("%s: %q, which nobody may touch, has changed", what, path)
		}
	}
	for path, content := range was { // all that was there is in the commit
		if w.users[path] != "" {
			continue
		}
		if kept, err := w.Try("cat-file", "blob", done.Present.String()+":"+path); err != nil || kept != strings.TrimSuffix(content[5:], "\n") {
			w.T.Errorf("%s: what was there before is not kept: %q, %v", what, path, err)
		}
		break // one is enough; an undo brings all of them back
	}
	if _, err := w.Try("merge-base", "--is-ancestor", done.Present.String(), lab.Own(w.c).Ref()); err != nil {
		w.T.Errorf("%s: what was there before can't be reached: %v", what, err)
	}
	return len(done.Changes) > 0
}

// undoing is an undo.
func (w *world) undoing(how checkout.Merging) (*checkout.Restored, error) {
	return checkout.Undo(w.T.Context(), w.Workspace(w.Dir), time.Now(), how, func(*snapshot.Change, []gitdiff.FileStat) {})
}

// back undoes a step at once, which is exact, and may do it again.
func (w *world) back(was disk) {
	w.T.Helper()
	now := w.lies()
	w.step("undo", was, false, w.undoing)
	if w.rand.IntN(2) == 0 {
		w.step("redo", now, false, w.undoing)
		w.step("undo of the redo", was, false, w.undoing)
	}
	w.count["undone"]++
}

// did notes a step after which the model knows what there is, or takes it back.
func (w *world) did(changed bool, was disk, now model) {
	w.T.Helper()
	if now == nil {
		if changed {
			w.back(was)
			w.before, w.after = nil, nil
		}
		return
	}
	if changed {
		w.before, w.after = w.now, now
	}
	w.now = now
}

func (w *world) restore() {
	n := w.rand.IntN(len(w.turns))
	state, there := w.list()[n].After(), w.turns[n].code
	if w.rand.IntN(3) == 0 {
		state, there = w.list()[n].Before(), w.turns[n].base
	}
	w.say("restore %s", state)
	w.count["restore"]++
	was := w.lies()
	changed := w.step("restore", w.all(there), false, func(how checkout.Merging) (*checkout.Restored, error) {
		return checkout.Restore(w.T.Context(), w.Workspace(w.Dir), time.Now(), state, gitdiff.Paths{}, how.RestorePlan)
	})
	w.did(changed, was, there)
}

// restorePaths restores some paths, and takes that back: a file may be there twice.
func (w *world) restorePaths() {
	n := w.rand.IntN(len(w.turns))
	there := w.turns[n].code.disk()
	names := slices.Sorted(maps.Keys(there))
	names = append(names, slices.Sorted(maps.Keys(w.now.disk()))...)
	if len(names) == 0 {
		return
	}
	only, want := gitdiff.Paths{}, w.all(w.now)
	for range 1 + w.rand.IntN(3) {
		name := names[w.rand.IntN(len(names))]
		only.Specs = append(only.Specs, ":(top,literal)"+name)
		if content, ok := there[name]; ok {
			want[name] = content
		} else {
			delete(want, name)
		}
	}
	w.say("restore %q of turn %d", only.Specs, n+1)
	w.count["restore paths"]++
	was := w.lies()
	if w.step("restore paths", want, false, func(how checkout.Merging) (*checkout.Restored, error) {
		return checkout.Restore(w.T.Context(), w.Workspace(w.Dir), time.Now(), w.list()[n].After(), only, how.RestorePlan)
	}) {
		w.back(was)
		w.before, w.after = nil, nil
	}
}

func (w *world) revert() {
	n := w.rand.IntN(len(w.turns))
	last := n
	if w.rand.IntN(4) == 0 {
		last = min(len(w.turns)-1, n+w.rand.IntN(3))
	}
	list := w.list()
	from, to := list[n].Before(), list[last].After()
	merged, clean, known := merge3(w.turns[last].code, w.now, w.turns[n].base)
	var want disk
	if known {
		want = w.all(merged)
	}
	w.say("revert %s, known %t, clean %t", checkout.Span(from, to), known, clean)
	w.count["revert"]++
	was, later := w.lies(), []checkout.Conflict(nil)
	changed := w.step("revert", want, !clean, func(how checkout.Merging) (*checkout.Restored, error) {
		done, err := checkout.Revert(w.T.Context(), w.Workspace(w.Dir), time.Now(), from, to, how)
		if e := (*checkout.ConflictError)(nil); errors.As(err, &e) {
			later = e.Conflicts
		}
		return done, err
	})
	w.blamed(list[last+1:], later)
	if !known || !clean {
		merged = nil
	}
	w.did(changed, was, merged)
}

// blamed checks which turns stand against a revert.
func (w *world) blamed(after []*turns.Turn, conflicts []checkout.Conflict) {
	w.T.Helper()
	for _, c := range conflicts {
		var want []int
		for _, t := range after {
			if w.Git("diff-tree", "-r", "-z", "--name-only", "--no-renames", t.Base.String(), t.Code.String(), "--", ":(top,literal)"+c.Path) != "" {
				want = append(want, t.Turn)
			}
		}
		if !slices.Equal(c.Later, want) {
			w.T.Errorf("%q was changed by %v, want %v", c.Path, c.Later, want)
		}
	}
}

// undo takes back a step since which something may have changed.
func (w *world) undo() {
	for w.after == nil || w.rand.IntN(2) == 0 {
		w.restore()
		w.mutate(1)
	}
	merged, clean, known := merge3(w.after, w.now, w.before)
	var want disk
	if known {
		want = w.all(merged)
	}
	w.say("undo, known %t, clean %t", known, clean)
	w.count["undo"]++
	was := w.lies()
	changed := w.step("undo", want, !clean, w.undoing)
	if !known || !clean {
		merged = nil
	}
	w.did(changed, was, merged)
}
