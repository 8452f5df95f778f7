// Package owners tells whose lines are whose in a turn during which others
// worked in the same worktree: another session, or a person at an editor. It is
// a function of values: it runs no git and opens no file.
//
// What is known are states of the worktree in order, and claims: calls of
// tools, each with its session, when it began and ended, and perhaps which
// files it wrote. Between two states a file changed, or it did not.
//
//  1. Each change of a file goes to the claim that explains it: by the path,
//     else by when the file changed. Claims compete with each other and with a
//     person nobody knows of. What is not clear is said to be unsure (rule.go).
//  2. A file's lines are kept in a weave, where a removed line stays in its
//     place: a label says who wrote it and who removed it. Content that comes
//     back, from a stash or by an undo, comes back with its labels (weave.go,
//     align.go).
//  3. What would be there without the turn is read off the weave: its lines
//     are left out, those that it removed are put back. Once without what the
//     turn did surely, and once without what it may have done too (project.go).
//
// A turn that was alone is found by times only, and no content is read.
package owners

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
)

// A Claim is a call of a tool, which may have changed files while it ran.
type Claim struct {
	Who      string   // session
	From, To int64    // ms since 1970
	Paths    []string // files that an editing tool wrote; nil for a call that may have written any
	Named    []string // paths that a command names, files or directories
	Git      bool     // the command is a git command that writes the worktree
}

// A Change is what a file became.
type Change struct {
	Entry object.Entry // zero if the file is gone
	Ctime int64        // ms; 0 if unknown
}

// A State is the worktree at a moment.
type State struct {
	At      int64
	Changed map[string]Change // what differs from the state before
	Looked  []string          // the files that were looked at; nil for all
}

// A Turn is all that [Of] needs to know.
type Turn struct {
	Who      string
	From, To int64
	Start    func(path string) (object.Entry, error) // at the turn's start; the zero Entry if there is no file
	States   []State                                 // in order; the last is the turn's end
	Claims   []Claim                                 // of all sessions
	Read     func(object.Hash) ([]byte, error)       // a blob; an error for one too large or gone: the file is treated as binary
}

// A Content is what a file is in a projection.
type Content struct {
	Entry object.Entry // with Text, only its mode counts; zero if there is no file
	Text  []byte       // a new content, nil if Entry.Hash has it
}

func (c Content) is(e object.Entry) bool { return c.Text == nil && c.Entry == e }

// A File is what a file would be without the turn.
type File struct {
	Others Content // the end without what the turn did, surely or not
	Shared Content // the end without what the turn did surely
}

// A Result is who did what in a turn.
type Result struct {
	With  []string        // who else changed something, or may have, sorted; "" is nobody known
	Files map[string]File // the paths at which Others or Shared is not what Start has, or not the end's
	Lost  []Loss          // in the order of their states
}

// A Loss is work of the turn, or destroyed by it, that a state has, and neither
// the next one nor the end.
type Loss struct {
	State int
	Paths []string // of the files that had it, sorted
}

// Of tells who did what. The Result is nil if the claims show that the turn was
// alone, and nothing needs to be written; [Lost] tells what such a turn lost. An error is one of
// t.Start: odd claims and states make an odd Result.
func Of(t Turn) (*Result, error) {
	r := newRule(&t)
	if r.alone() {
		return nil, nil
	}
	w, err := walkOf(&t, r)
	if err != nil {
		return nil, err
	}
	if len(w.with) == 0 {
		return &Result{Lost: w.lost()}, nil
	}
	return &Result{slices.Sorted(maps.Keys(w.with)), w.projections(), w.lost()}, nil
}

// Lost returns what [Result].Lost is for any turn, one alone too.
func Lost(t Turn) ([]Loss, error) {
	w, err := walkOf(&t, newRule(&t))
	if err != nil {
		return nil, err
	}
	return w.lost(), nil
}

// A walk goes through the states of a turn.
type walk struct {
	turn    *Turn
	with    map[string]bool
	files   map[string]*file
	texts   texts
	had     map[object.Hash][]*file // which files had a content
	work    int                     // comparing lines, so far
	numbers [2][]int32              // by text, for align
}

func walkOf(t *Turn, r *rule) (*walk, error) {
	w := &walk{turn: t, with: make(map[string]bool), files: make(map[string]*file), had: make(map[object.Hash][]*file)}
	last := looks{whole: t.From}
	for i, state := range t.States {
		var gone []*file
		several := atOnce(state)
		for _, path := range inOrder(state.Changed) {
			change := state.Changed[path]
			f, err := w.file(path)
			if err != nil {
				return nil, err
			}
			if change.Entry == f.entry() {
				continue
			}
			by, who := r.explain(sighting{change, path, last.at(path), state.At, f.made || !f.exists() || several(change.Ctime)})
			if by != own {
				w.with[who] = true
			}
			w.change(f, change.Entry, by, i, gone)
			if !f.exists() {
				f.had, gone = textsOf(f.linesIn(len(f.versions)-2)), append(gone, f)
			}
		}
		last.add(state)
	}
	return w, nil
}

// atOnce returns a function that reports whether several files changed at a
// time.
func atOnce(s State) func(ctime int64) bool {
	var times []int64
	for _, c := range s.Changed {
		times = append(times, c.Ctime)
	}
	slices.Sort(times)
	return func(ctime int64) bool {
		i, _ := slices.BinarySearch(times, ctime-grace)
		return ctime != 0 && i+1 < len(times) && times[i+1] <= ctime+grace
	}
}

// inOrder returns the paths of changes, files that are gone first: a new one
// may be one of them under another name.
func inOrder(changes map[string]Change) []string {
	last := func(path string) int { return min(1, int(changes[path].Entry.Mode)) }
	return slices.SortedFunc(maps.Keys(changes), func(a, b string) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a, b))
	})
}

func (w *walk) file(path string) (*file, error) {
	if f := w.files[path]; f != nil {
		return f, nil
	}
	start, err := w.turn.Start(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, versions: []version{{entry: start, state: -1}}}
	w.files[path] = f
	if !start.Hash.IsZero() {
		w.had[start.Hash] = append(w.had[start.Hash], f)
	}
	if text, ok := w.read(start); ok {
		f.begin(w.texts.split(text))
		f.versions[0].cut = cut(text)
	} else {
		f.whole = true
	}
	return f, nil
}

// read returns the text of a file; ok is false if lines don't count there. No
// file is an empty text.
func (w *walk) read(e object.Entry) (text []byte, ok bool) {
	if e.Mode == filemode.Empty || !isFile(e.Mode) {
		return nil, e.Mode == filemode.Empty
	}
	text, err := w.turn.Read(e.Hash)
	return text, err == nil && !isBinary(text)
}

// isFile reports whether lines may count there; no file has none.
func isFile(m filemode.FileMode) bool {
	return m == filemode.Empty || m == filemode.Regular || m == filemode.Executable
}
