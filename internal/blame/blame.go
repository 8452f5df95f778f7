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
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/turns"
)

// Blame returns the file's lines in order, each with its origin.
func (h *History) Blame(ctx context.Context, r Request) ([]Line, error) {
	repo, objects := h.w.Repo, h.objects
	commit, uncommitted := r.Commit, false
	if commit.IsZero() {
		scratch, err := gitdiff.NewUncommitted(ctx, repo, r.Path)
		if err != nil {
			return nil, fmt.Errorf("blame %q: %w", r.Path, err)
		}
		defer scratch.Close()
		commit, uncommitted = scratch.Commit, scratch.Made
		if uncommitted {
			repo = scratch.Repo
			objects = repo.Objects(ctx)
			defer objects.Close()
		}
	}
	q := &question{h: h, repo: repo, objects: objects, r: r, commit: commit}
	lines, err := q.answer(ctx)
	if err != nil {
		return nil, fmt.Errorf("blame %q: %w", r.Path, err)
	}
	if uncommitted {
		for i := range lines {
			if lines[i].Blame.Commit == commit {
				lines[i].Blame.Commit = object.Hash{}
			}
		}
		q.run(lines)
	}
	return lines, nil
}

// run sets the lines that turns running in this worktree may have written.
func (q *question) run(lines []Line) {
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
		for i := range lines {
			if l := &lines[i]; l.Turn == nil && l.Running == nil && l.Blame.Commit.IsZero() && !began[l.Blame.Text] {
				l.Running = &live
			}
		}
	}
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
}

func (q *question) blame(since object.Hash, ranges []string, parents string) gitdiff.BlameOptions {
	return gitdiff.BlameOptions{Commit: q.commit, Path: q.r.Path, Ranges: ranges, Since: since, Options: q.r.Options, Parents: parents}
}

// ErrTimeout reports a blame that took too long.
var ErrTimeout = errors.New("it takes too long")

func (q *question) answer(ctx context.Context) ([]Line, error) {
	began := time.Now()
	names := []string{q.r.Path}
	lookUp := ledgertx.Async(func() (*versions, error) { return q.versions(ctx, names) })
	if q.h.promisor != "" {
		_, _ = lookUp() // fetches at once what git blame would fetch one by one
	}
	blamed, err := gitdiff.Blame(ctx, q.repo, q.blame(q.r.Since, q.r.Ranges, ""))
	v, failed := lookUp()
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
	if err := q.attribute(limited, v, names, lines); err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			err = fmt.Errorf("%w: more than %v", ErrTimeout, most.Round(time.Second))
		}
		return nil, err
	}
	return lines, nil
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
		g, err := q.h.graph(ctx, q.repo, q.commit, list)
		if err != nil {
			return nil, err
		}
		v = newVersions(q.repo, q.objects, q.h, g)
	}
	return v, v.add(ctx, names...)
}

// maxNames limits the rounds in which newly found names are looked up.
const maxNames = 4

// attribute sets the turns that wrote the lines, from the known names.
func (q *question) attribute(ctx context.Context, v *versions, names []string, lines []Line) (err error) {
	var answer []gitdiff.Blamed
	moved := false
	for round := 0; round <= maxNames; round++ {
		if v == nil || !v.graph.holds(q.h.touching(names)) {
			if v, err = q.versions(ctx, names); err != nil {
				return err
			}
		}
		if v != nil {
			if err := v.add(ctx, names...); err != nil {
				return err
			}
			if by := ahead(v.graph, v.contents()); len(by) > 0 {
				v = v.reordered(v.graph.corrected(by))
			}
			if answer, err = q.over(ctx, v, lines); err != nil {
				return err
			}
			for _, b := range answer {
				names = appendNew(names, b.Path, b.PreviousPath)
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
			return err
		}
		if len(before) == len(names) {
			break
		}
		names = before
	}
	if v == nil {
		return nil
	}
	return v.name(answer, lines)
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

// name sets the turns that wrote the lines, by the commits in git's answer.
func (v *versions) name(answer []gitdiff.Blamed, lines []Line) error {
	ran := make(map[int][]*pastTurn) // by place
	writers, unsure := make([][]*pastTurn, len(lines)), make([]bool, len(lines))
	wanted := make(map[*pastTurn]*turns.Turn)
	for i, b := range answer {
		at, ok := v.graph.index[b.Commit]
		if !ok {
			continue
		}
		n := v.graph.nodes[at]
		if _, known := ran[at]; !known {
			ran[at] = v.graph.ran(n)
		}
		unsure[i] = n.unsure
		for _, t := range n.writers {
			theirs, perhaps := v.besides(t, b.Text)
			if n.made || !theirs {
				writers[i], unsure[i] = append(writers[i], t), unsure[i] || !n.made && perhaps
			}
		}
		for _, t := range ran[at] {
			if slices.Contains(n.writers, t) || !v.wrote(t, b.Text) {
				continue
			}
			if theirs, perhaps := v.besides(t, b.Text); !theirs {
				writers[i], unsure[i] = append(writers[i], t), unsure[i] || perhaps
			}
		}
		// Present when another turn began, and removed before this one ended.
		if len(writers[i]) == 0 && n.made && !n.elsewhere {
			for _, t := range ran[at] {
				if theirs, _ := v.besides(t, b.Text); !theirs && n.during(t) && v.lacked(t, b.Text) {
					writers[i], unsure[i] = append(writers[i], t), unsure[i] || !t.others.IsZero()
				}
			}
		}
		for _, t := range writers[i] {
			wanted[t] = nil
		}
	}
	if err := v.records(wanted); err != nil {
		return err
	}
	for i, b := range answer {
		lines[i].Unsure = len(writers[i]) > 1 || len(writers[i]) == 1 && unsure[i]
		for j, t := range writers[i] {
			if j == 0 {
				lines[i].Turn, lines[i].State, lines[i].Path, lines[i].Number = wanted[t], b.Commit, b.Path, b.Line
			} else {
				lines[i].Others = append(lines[i].Others, wanted[t])
			}
		}
	}
	return nil
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
func (q *question) over(ctx context.Context, v *versions, lines []Line) ([]gitdiff.Blamed, error) {
	answer := make([]gitdiff.Blamed, len(lines))
	places := make(map[int]int) // by line number: places of lines that may be a turn's
	var young []Line
	for i, l := range lines {
		answer[i] = l.Blame
		if at, ok := v.graph.index[l.Blame.Commit]; ok && !v.graph.nodes[at].edge { // else it is older than all states
			places[l.Blame.Number] = i
			young = append(young, l)
		}
	}
	if len(young) == 0 {
		return answer, nil
	}
	dir, err := os.MkdirTemp("", "git-agent-blame-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for temporary files, where TMPDIR says: %w", err)
	}
	defer os.RemoveAll(dir)
	file, err := filepath.Abs(filepath.Join(dir, "parents")) // TMPDIR may be relative, and git runs at the top
	if err != nil {
		return nil, err
	}
	if err := q.write(file, v.graph, v.ancestry(len(q.r.Options) == 0)); err != nil {
		return nil, err
	}
	asked := q.r.Ranges
	if len(q.r.Options) == 0 { // with -C git would not find copies that are split
		asked = ranges(young)
	}
	again, err := gitdiff.Blame(ctx, q.repo, q.blame(object.Hash{}, asked, file))
	if err != nil {
		return nil, err
	}
	for _, b := range again {
		if i, ok := places[b.Number]; ok {
			answer[i] = b
			delete(places, b.Number)
		}
	}
	if len(places) > 0 {
		return nil, fmt.Errorf("%d lines are missing in the answer of git", len(places))
	}
	return answer, nil
}

// maxRanges is the most ranges that git is asked for, instead of all lines.
const maxRanges = 100

// ranges returns git's -L ranges for the lines; nil means all lines.
func ranges(lines []Line) []string {
	var list []string
	for i := 0; i < len(lines); {
		first := lines[i].Blame.Number
		last := first
		for i++; i < len(lines) && lines[i].Blame.Number == last+1; i++ {
			last++
		}
		list = append(list, fmt.Sprintf("%d,%d", first, last))
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

// write writes the grafts file that gives git the parents.
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
	for at, n := range g.nodes {
		if n.edge {
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
