package blame

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/turns"
)

// run sets the lines that turns running in this worktree may have written.
func (q *question) run(ctx context.Context, runs []Line) ([]Line, error) {
	type running struct {
		live  *turns.Live
		began map[string]bool // the lines that were there when it did
	}
	var all []running
	for _, live := range q.r.Running {
		if live.Open == nil || live.Worktree != q.repo.GitDir {
			continue
		}
		began := make(map[string]bool)
		if content, err := q.file(live.Open.Base); err == nil {
			for line := range strings.SplitSeq(string(content), "\n") {
				began[line] = true
			}
		}
		all = append(all, running{&live, began})
	}
	matters := func(i int) bool { return len(all) > 0 && runs[i].Turn == nil && runs[i].Blame.Commit.IsZero() }
	pieces, err := divide(ctx, q, runs, matters, func(i int, text string) *turns.Live {
		for _, r := range all {
			if matters(i) && !r.began[text] {
				return r.live
			}
		}
		return nil
	}, func(a, b *turns.Live) bool { return a == b })
	var list []Line
	for i, run := range runs {
		for _, p := range pieces[i] {
			l := run.part(p.from, p.end)
			l.Running = p.is
			list = append(list, l)
		}
	}
	return list, err
}

// file is the file in a commit.
func (q *question) file(commit object.Hash) ([]byte, error) {
	e, err := q.objects.At(commit, q.r.Path)
	if err != nil {
		return nil, err
	}
	return q.objects.Blob(e.Hash, maxBlob)
}

// A question is one blame, in a repository that contains the commit.
type question struct {
	h       *History
	repo    *git.Repo
	objects *git.Objects
	r       Request
	commit  object.Hash
	ignored []string // flags, see [gitdiff.IgnoredRevs]
}

func (q *question) blame(ctx context.Context, since object.Hash, ranges []string, parents string) ([]gitdiff.Blamed, error) {
	return gitdiff.Blame(ctx, q.repo, gitdiff.BlameOptions{
		Commit: q.commit, Path: q.r.Path, Ranges: ranges, Since: since, Options: q.r.Options, Ignored: q.ignored, Parents: parents,
	})
}

// ErrTimeout reports a blame that took too long.
var ErrTimeout = errors.New("it takes too long")

func (q *question) answer(ctx context.Context) ([]Line, error) {
	began := time.Now()
	names := []string{q.r.Path}
	v, failed := q.versions(ctx, names) // first: where the clone is partial, git blame would fetch one by one
	blamed, err := q.plain(ctx, v)
	if err := cmp.Or(err, failed); err != nil {
		return nil, err
	}
	took := time.Since(began)
	lines := make([]Line, 0, len(blamed))
	for _, b := range blamed {
		if q.r.Since.IsZero() || !b.Before {
			lines = append(lines, Line{Blame: b})
			names = appendNew(names, b.Path, b.PreviousPath)
		}
	}
	if len(lines) == 0 {
		return lines, nil
	}
	most := limit.Of(ctx).Blame
	if most > 0 {
		most += 10 * took
	}
	limited, cancel := limit.Within(ctx, most)
	defer cancel()
	lines, err = q.attribute(limited, v, names, lines)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("%w: more than %v", ErrTimeout, most.Round(time.Second))
	}
	return lines, err
}

// versions returns what the file was, under the names known so far, in all
// relevant commits; nil if no turn changed it.
func (q *question) versions(ctx context.Context, names []string) (v *versions, err error) {
	list := q.h.touching(names)
	if len(list) == 0 {
		return nil, nil
	}
	if q.repo == q.h.w.Repo {
		if v, err = q.h.versions(ctx, q.commit, list, names[0]); err != nil {
			return nil, err
		}
	} else {
		g, err := q.h.graph(ctx, q.objects, q.commit, list)
		if err != nil {
			return nil, err
		}
		v = newVersions(q.repo, q.objects, q.h, g)
	}
	if err := v.add(ctx, names...); err != nil {
		return nil, err
	}
	return v, nil
}

// maxNames limits the rounds in which newly found names are looked up.
const maxNames = 4

// attribute sets the turns that wrote the lines, from the known names.
func (q *question) attribute(ctx context.Context, v *versions, names []string, lines []Line) (_ []Line, err error) {
	var answer []part
	moved := false
	for round := 0; round <= maxNames; round++ {
		if v == nil || !v.graph.holds(q.h.touching(names)) {
			if v, err = q.versions(ctx, names); err != nil {
				return nil, err
			}
		}
		if v != nil {
			if err := v.add(ctx, names...); err != nil {
				return nil, err
			}
			if by := ahead(v.graph, v.contents()); len(by) > 0 {
				v = v.reordered(v.graph.corrected(by))
			}
			if answer, err = q.over(ctx, v, lines); err != nil {
				return nil, err
			}
			for _, p := range answer {
				names = appendNew(names, p.over.Path, p.over.PreviousPath)
			}
			if len(names) > len(v.names) {
				continue
			}
		}
		if moved {
			break
		}
		moved = true
		before, err := q.moved(ctx, lines, names)
		if err != nil {
			return nil, err
		}
		if len(before) == len(names) {
			break
		}
		names = before
	}
	if v == nil {
		return lines, nil
	}
	return q.name(ctx, v, answer)
}

// Limits of the search for files that the user moved.
const (
	maxAdded  = 4 // commits that added the file
	maxStates = 4 // missions; the last state of each is compared
)

// moved adds the names that the file may have in turns' states, as the user may
// have moved it before the commit that added it.
func (q *question) moved(ctx context.Context, lines []Line, names []string) ([]string, error) {
	var added []gitdiff.Blamed
	for _, l := range lines {
		fresh := l.Blame.PreviousPath != l.Blame.Path && !l.Blame.Before
		if fresh && len(added) < maxAdded && !slices.ContainsFunc(added, func(b gitdiff.Blamed) bool { return b.Commit == l.Blame.Commit }) {
			added = append(added, l.Blame)
		}
	}
	for _, b := range added {
		for _, state := range q.h.last(b.In.Committed) {
			old, err := gitdiff.MovedFrom(ctx, q.repo, state, b.Commit, b.Path)
			if err != nil {
				return nil, err
			}
			names = appendNew(names, old)
		}
	}
	return names, nil
}

// last are the last states of turns before a time, of the missions that had the
// latest.
func (h *History) last(before time.Time) (states []object.Hash) {
	missions := make(map[record.ID]bool)
	for _, t := range slices.Backward(h.turns) {
		if s := h.states[t.code]; s == nil || !s.made || t.at.After(before.Add(time.Second)) || missions[t.in.ID] {
			continue
		}
		missions[t.in.ID] = true
		if states = append(states, t.code); len(states) == maxStates {
			break
		}
	}
	return states
}

// A part is lines, and the answer of git over the ancestry with states.
type part struct {
	line Line
	over gitdiff.Blamed
}

// A verdict is who wrote a line.
type verdict struct {
	writers []*pastTurn // none if it was by hand; the most likely first
	unsure  bool
}

// name sets the turns that wrote the lines, by the commits in git's answer.
func (q *question) name(ctx context.Context, v *versions, answer []part) ([]Line, error) {
	runs, nodes := make([]Line, len(answer)), make([]*node, len(answer)) // nil outside the graph
	ran := make(map[*node][]*pastTurn)
	for i, p := range answer {
		runs[i] = p.line
		if at, ok := v.graph.index[p.over.Commit]; ok {
			n := v.graph.nodes[at]
			nodes[i] = n
			if _, known := ran[n]; !known {
				ran[n] = v.graph.ran(n)
			}
		}
	}
	matters := func(i int) bool {
		n := nodes[i]
		return n != nil && (slices.ContainsFunc(ran[n], func(t *pastTurn) bool { return !slices.Contains(n.writers, t) }) ||
			!n.made && slices.ContainsFunc(n.writers, func(t *pastTurn) bool { return !t.others.IsZero() }))
	}
	wanted := make(map[*pastTurn]*turns.Turn)
	pieces, err := divide(ctx, q, runs, matters, func(i int, text string) (by verdict) {
		if nodes[i] != nil {
			by = v.judge(nodes[i], ran[nodes[i]], text)
		}
		for _, t := range by.writers {
			wanted[t] = nil
		}
		return by
	}, func(a, b verdict) bool { return a.unsure == b.unsure && slices.Equal(a.writers, b.writers) })
	if err == nil {
		err = v.records(wanted)
	}
	if err != nil {
		return nil, err
	}
	lines := make([]Line, 0, len(answer))
	for i, a := range answer {
		for _, p := range pieces[i] {
			l, over := a.line.part(p.from, p.end), a.over.Part(p.from, p.end)
			l.Unsure = len(p.is.writers) > 1 || len(p.is.writers) == 1 && p.is.unsure
			for j, t := range p.is.writers {
				if j == 0 {
					l.Turn, l.State, l.Path, l.Number = wanted[t], over.Commit, over.Path, over.Line
				} else {
					l.Others = append(l.Others, wanted[t])
				}
			}
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// judge tells who wrote a line that is new in a commit, of those who wrote the
// commit and those who ran then.
func (v *versions) judge(n *node, ran []*pastTurn, text string) (by verdict) {
	by.unsure = n.unsure
	for _, t := range n.writers {
		theirs, perhaps := v.besides(t, text)
		if n.made || !theirs {
			by.writers, by.unsure = append(by.writers, t), by.unsure || !n.made && perhaps
		}
	}
	for _, t := range ran {
		if slices.Contains(n.writers, t) || !v.wrote(t, text) {
			continue
		}
		if theirs, perhaps := v.besides(t, text); !theirs {
			by.writers, by.unsure = append(by.writers, t), by.unsure || perhaps
		}
	}
	// Present when another turn began, and removed before this one ended.
	if len(by.writers) == 0 && n.made && !n.elsewhere {
		for _, t := range ran {
			if theirs, _ := v.besides(t, text); !theirs && n.during(t) && v.lacked(t, text) {
				by.writers, by.unsure = append(by.writers, t), by.unsure || !t.others.IsZero()
			}
		}
	}
	return by
}

func (v *versions) records(wanted map[*pastTurn]*turns.Turn) error {
	byLedger := make(map[*ledger.Ledger]map[int]*pastTurn)
	for t := range wanted {
		if byLedger[t.in] == nil {
			byLedger[t.in] = make(map[int]*pastTurn)
		}
		byLedger[t.in][t.id.Turn] = t
	}
	for l, list := range byLedger {
		err := turns.SomeIn(v.history, l, slices.Sorted(maps.Keys(list)), func(t *turns.Turn) error {
			wanted[list[t.Turn]] = t
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func appendNew(list []string, names ...string) []string {
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// touching returns all turns of the missions in which any turn may have changed
// one of the files. Records replace invalid UTF-8 in names.
func (h *History) touching(names []string) []*pastTurn {
	recorded := make(map[string]bool)
	for _, name := range names {
		recorded[strings.ToValidUTF8(name, "\uFFFD")] = true
	}
	missions := make(map[record.ID]bool)
	for _, t := range h.turns {
		if t.more || slices.ContainsFunc(t.paths, func(p string) bool { return recorded[strings.ToValidUTF8(p, "\uFFFD")] }) {
			missions[t.in.ID] = true
			missions[t.id.Mission] = true
		}
	}
	var list []*pastTurn
	for _, t := range h.turns {
		if missions[t.in.ID] && !t.code.IsZero() {
			list = append(list, t)
		}
	}
	return list
}

// over blames the lines again, over an ancestry in which turns' states are
// parents of the commits made from them. The answers are in lines' order.
func (q *question) over(ctx context.Context, v *versions, lines []Line) ([]part, error) {
	var young []Line // that may be a turn's
	for _, l := range lines {
		if v.young(l) {
			young = append(young, l)
		}
	}
	var again []gitdiff.Blamed
	if len(young) > 0 {
		var err error
		if again, err = q.again(ctx, v, young); err != nil {
			return nil, err
		}
	}
	var list []part
	missing := 0
	for _, l := range lines {
		if !v.young(l) {
			list = append(list, part{l, l.Blame})
			continue
		}
		for at, end := l.Blame.Number, l.Blame.End(); at < end; {
			for len(again) > 0 && again[0].End() <= at {
				again = again[1:]
			}
			if len(again) == 0 || again[0].Number > at {
				missing, at = missing+1, at+1
				continue
			}
			until := min(end, again[0].End())
			list = append(list, part{l.part(at, until), again[0].Part(at, until)})
			at = until
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%d lines are missing in the answer of git", missing)
	}
	return list, nil
}

// young reports whether plain blame gives lines to a commit that may have them
// from a turn: else they are older than all states.
func (v *versions) young(l Line) bool {
	at, ok := v.graph.index[l.Blame.Commit]
	return ok && !v.graph.nodes[at].edge
}

// again asks git over the other ancestry, for young lines at least.
func (q *question) again(ctx context.Context, v *versions, young []Line) ([]gitdiff.Blamed, error) {
	asked := q.r.Ranges
	if len(q.r.Options) == 0 { // with -C git would not find copies that are split
		asked = ranges(young)
	}
	return q.told(ctx, v.graph, v.ancestry(len(q.r.Options) == 0), asked)
}

// told asks git for some ranges, telling it of parents.
func (q *question) told(ctx context.Context, g *graph, parents [][]int, ranges []string) ([]gitdiff.Blamed, error) {
	dir, err := statedir.NewTemporary()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file := filepath.Join(dir.Path, "parents")
	if err := q.write(file, g, parents); err != nil {
		return nil, err
	}
	return q.blame(ctx, object.Hash{}, ranges, file)
}

// maxRanges is the most ranges that git is asked for, instead of all lines.
const maxRanges = 100

// ranges returns git's -L ranges for the lines; nil means all lines.
func ranges(lines []Line) []string {
	var list []string
	for i := 0; i < len(lines); {
		first, end := lines[i].Blame.Number, lines[i].Blame.End()
		for i++; i < len(lines) && lines[i].Blame.Number == end; i++ {
			end = lines[i].Blame.End()
		}
		list = append(list, fmt.Sprintf("%d,%d", first, end-1))
	}
	if len(list) > maxRanges {
		return nil
	}
	return list
}

func parentsOf(g *graph) [][]int {
	list := make([][]int, len(g.nodes))
	for at, n := range g.nodes {
		if !n.edge {
			list[at] = append([]int{}, n.parents...) // not nil
		}
	}
	return list
}

// ancestry returns the parents that git is told of: the graph's, then the tips.
// With skip, it passes over commits that did not change the file: less for git
// to walk.
func (v *versions) ancestry(skip bool) [][]int {
	if v.tips == nil {
		states := make([]bool, len(v.graph.nodes))
		for at, n := range v.graph.nodes {
			states[at] = n.made
		}
		v.tips = tips(parentsOf(v.graph), states, v.graph.apart, v.contents())
	}
	nodes := v.graph.nodes
	all := make([][]int, len(nodes))
	to := make([]int, len(nodes)) // the oldest commit with the same file, by git's way there
	for at, n := range nodes {
		to[at] = at
		for _, p := range slices.Concat(n.parents, v.tips[at]) {
			if to[at] == at && skip && v.same(at, p) {
				to[at] = to[p]
			}
			if skip && !v.appears(at, p) {
				p = to[p]
			}
			if !slices.Contains(all[at], p) {
				all[at] = append(all[at], p)
			}
		}
	}
	return all
}

// reached returns the places that git may come to from one, which must be among
// them, by the parents that it is told of.
func reached(from int, parents [][]int) []bool {
	seen := make([]bool, len(parents))
	seen[from] = true
	for todo := []int{from}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range parents[at] {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return seen
}

// write writes the grafts file that gives git the parents, of those commits to
// which it may come.
func (q *question) write(path string, g *graph, parents [][]int) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriter(f)
	shallow, err := q.repo.Shallow()
	if err != nil {
		return err
	}
	for _, commit := range shallow {
		if at, ok := g.index[commit]; !ok || g.nodes[at].edge {
			fmt.Fprintln(w, commit)
		}
	}
	for at, may := range reached(g.index[q.commit], parents) {
		n := g.nodes[at]
		if n.edge || !may {
			continue
		}
		line := []string{n.hash.String()}
		for _, p := range parents[at] {
			line = append(line, g.nodes[p].hash.String())
		}
		fmt.Fprintln(w, strings.Join(line, " "))
	}
	return w.Flush()
}
