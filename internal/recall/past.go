package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/evidence"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A Past is what turns, and others between them, changed in files. It is not
// safe for concurrent use.
type Past struct {
	Unread error // what could not be read and was left out; nil if nothing

	ctx     context.Context
	w       *workspace.Workspace
	objects *git.Objects
	ledgers map[record.ID]*ledger.Ledger // as far as the user may rely on them
	writers map[record.ID]*trust.Writers // of those that were asked about
	files   map[string][]step            // by path, in order of time
}

// Open reads what the missions that the user may rely on changed in some files,
// or in all if none are named.
func Open(ctx context.Context, w *workspace.Workspace, paths ...string) (*Past, error) {
	p := newPast(ctx, w)
	chosen, err := p.open()
	if err == nil {
		err = p.read(paths, chosen)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("read what was tried: %w", err)
	}
	return p, nil
}

func newPast(ctx context.Context, w *workspace.Workspace) *Past {
	return &Past{ctx: ctx, w: w, objects: w.Repo.Objects(ctx), ledgers: make(map[record.ID]*ledger.Ledger), writers: make(map[record.ID]*trust.Writers), files: make(map[string][]step)}
}

// Close ends the git processes.
func (p *Past) Close() { p.objects.Close() }

// turn reads the record of a turn.
func (p *Past) turn(id record.TurnID) (*turns.Turn, error) {
	l := p.ledgers[id.Mission]
	if l == nil {
		return nil, fmt.Errorf("mission %s: %w", id.Mission, git.ErrNotFound)
	}
	return turns.ReadIn(l, id.Turn)
}

// A link is a change from one state of a mission's worktree to the next.
type link struct {
	from, to object.Hash // commits
	step
}

// read reads the changes of the missions that are open.
func (p *Past) read(paths []string, chosen chosenForks) error {
	var unread ledger.ReadErrors
	unread.Add(p.Unread)
	var links []link
	for _, id := range slices.Sorted(maps.Keys(p.ledgers)) {
		line, err := p.line(p.ledgers[id], paths, chosen)
		unread.Add(err)
		links = append(links, line...)
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	p.Unread = unread.Err()
	return p.compare(links, paths)
}

// open opens the usable parts of all missions, and returns which were chosen
// among the forks of a turn.
func (p *Past) open() (chosen chosenForks, err error) {
	tips, err := ledger.ListAll(p.ctx, p.w.Repo)
	if tips == nil && err != nil {
		return nil, err
	}
	var unread ledger.ReadErrors
	unread.Add(err)
	relied := p.w.TrustCache(p.ctx, p.objects)
	if err := relied.Look(tips); err != nil {
		return nil, err
	}
	unsure := make(map[record.ID]bool)
	for id, tip := range tips {
		level := relied.Level(id, tip)
		if level.Commit.IsZero() {
			continue
		}
		l, err := ledger.At(p.objects, id, level.Commit)
		if err != nil {
			unread.Add(ledger.Unreadable(id, err))
			continue
		}
		if p.ledgers[id] = l; !level.Here {
			unsure[id] = true
		}
	}
	if err := p.leaveElsewhere(unsure); err != nil {
		return nil, err
	}
	chosen = make(chosenForks)
	for id, l := range p.ledgers {
		if m := l.Mission; m.ForkedFrom != nil && (m.Finished != nil || m.Adopted != nil && !m.Adopted.Undone) {
			chosen[*m.ForkedFrom] = append(chosen[*m.ForkedFrom], id)
		}
	}
	p.Unread = unread.Err()
	return chosen, nil
}

// line returns the changes of a mission, without what it inherited; none if it
// is known to have changed none of the paths.
func (p *Past) line(l *ledger.Ledger, paths []string, chosen chosenForks) ([]link, error) {
	asked := make(map[string]bool, len(paths)) // as records have them
	for _, path := range paths {
		asked[strings.ToValidUTF8(path, "\uFFFD")] = true
	}
	var own []*turns.Turn
	touches := len(paths) == 0
	err := turns.EachIn(p.objects, l, func(t *turns.Turn) error {
		if t.Mission == l.ID && t.CodeKnown() == nil {
			own = append(own, t)
			touches = touches || t.Files > len(t.Paths) || slices.ContainsFunc(t.Paths, func(p string) bool { return asked[p] })
		}
		return nil
	})
	if len(own) == 0 || !touches {
		return nil, err
	}
	last := own[0]
	given := givenUp(l.Mission, last.Turn, last.At, chosen)
	var links []link
	var at time.Time // clocks may be set back
	add := func(from, to object.Hash, t *turns.Turn, turn int, then time.Time) {
		if from.IsZero() || from == to {
			return
		}
		if then.Before(at) {
			then = at
		}
		at = then
		given, until := given, time.Time{}
		if given == "" && turn > 0 && t.Evidence() == evidence.Failing {
			given, until = Failed, tested(own, turn)
		}
		links = append(links, link{from, to, step{
			of: record.TurnID{Mission: l.ID, Turn: turn}, in: l.ID, branch: strings.Clone(t.Branch), at: then, session: strings.Clone(t.Session), given: given, until: until,
		}})
	}
	var before object.Hash
	for _, t := range slices.Backward(own) {
		c := t.Change()
		if !t.Base.IsZero() {
			add(before, t.Base, t, 0, t.Before().At)
			add(t.Base, c.Sure, t, 0, t.Before().At)
			add(c.Sure, c.To, t, t.Turn, t.At)
		}
		before = t.Code
	}
	for _, after := range p.after(l, last) {
		add(before, after, last, 0, last.At)
		before = after
	}
	return links, err
}

// tested returns when the first turn behind another one ended that is tested, the
// zero time if none is. The newest turn comes first.
func tested(own []*turns.Turn, turn int) (at time.Time) {
	for _, t := range own {
		if t.Turn <= turn {
			break
		}
		if t.Evidence() == evidence.Tested {
			at = t.At
		}
	}
	return at
}

// maxAfter is how many events after a mission's last turn are looked at.
const maxAfter = 20

// after returns the states that a restore, a revert or an undo has made of the
// worktree since a mission's last turn. Of a mission that was finished or adopted
// they may be of another worktree.
func (p *Past) after(l *ledger.Ledger, last *turns.Turn) (states []object.Hash) {
	if l.Mission.Finished != nil || l.Mission.Adopted != nil {
		return nil
	}
	for e, err := range ledger.Events(p.ctx, p.w.Repo.With(git.Wary), p.objects, l.Tip, maxAfter) {
		if err != nil {
			break
		}
		its := slices.Contains(e.Keeps, last.Code)
		if its && slices.Contains(e.Keeps, last.Base) {
			break // where the turn was recorded; its code may be HEAD, on which its base is
		}
		if len(e.Keeps) == 2 {
			if on, err := p.objects.Parents(e.Keeps[1]); err == nil && len(on) == 1 && on[0] == e.Keeps[0] && e.Keeps[1] != last.Code {
				states = append(states, e.Keeps[1], e.Keeps[0])
				continue
			}
		}
		if its {
			break
		}
	}
	slices.Reverse(states)
	return states
}

// maxPatch is the most bytes of a patch whose lines are compared.
const maxPatch = 256 << 10

// compare finds out which files the links changed, and how.
func (p *Past) compare(links []link, paths []string) error {
	trees, err := p.trees(links)
	if err != nil {
		return err
	}
	var differ []link
	var pairs [][2]object.Hash
	for _, l := range links {
		pair := [2]object.Hash{trees[l.from], trees[l.to]}
		if pair[0] != pair[1] && !pair[0].IsZero() && !pair[1].IsZero() {
			differ, pairs = append(differ, l), append(pairs, pair)
		}
	}
	only := gitdiff.Paths{}
	for _, path := range paths {
		only.Specs = append(only.Specs, gitdiff.FromTop(path))
	}
	files, err := gitdiff.Files(p.ctx, p.w.Repo, pairs, only)
	if err != nil {
		return err
	}
	for i, changed := range files {
		for path, v := range changed {
			if v.Old != v.New { // else its mode
				s := differ[i].step
				s.Versions, s.pair = v, i
				p.files[path] = append(p.files[path], s)
			}
		}
	}
	return p.lines(pairs, only)
}

// trees returns the trees of the links' commits, as far as they are here.
func (p *Past) trees(links []link) (map[object.Hash]object.Hash, error) {
	trees := make(map[object.Hash]object.Hash)
	var wanted []git.Wanted
	for _, l := range links {
		for _, commit := range []object.Hash{l.from, l.to} {
			if _, known := trees[commit]; !known {
				trees[commit] = object.Hash{}
				wanted = append(wanted, git.Wanted{Hash: commit, Most: git.MaxCommit})
			}
		}
	}
	err := p.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err == nil && obj.Type == plumbing.CommitObject {
			if c, err := object.ParseCommit(obj.Content); err == nil {
				trees[wanted[i].Hash] = c.Tree
			}
		}
		return nil
	})
	return trees, err
}

// lines compares the lines of the files that were changed more than once, and
// puts the changes of each file in order.
func (p *Past) lines(pairs [][2]object.Hash, only gitdiff.Paths) error {
	asked := make(map[int]bool)
	for _, steps := range p.files {
		for _, s := range steps {
			if len(steps) > 1 {
				asked[s.pair] = true
			}
		}
	}
	numbers := slices.Sorted(maps.Keys(asked))
	some := make([][2]object.Hash, len(numbers))
	for i, n := range numbers {
		some[i] = pairs[n]
	}
	deltas := make(map[int]map[gitdiff.Versions]delta)
	err := gitdiff.Patches(p.ctx, p.w.Repo, some, only, maxPatch, func(i int, patches map[gitdiff.Versions]*gitdiff.Patch) error {
		of := make(map[gitdiff.Versions]delta)
		for v, patch := range patches {
			if patch.Hunks != "" {
				of[v] = deltaOf(patch.Hunks)
			}
		}
		deltas[numbers[i]] = of
		return nil
	})
	for _, steps := range p.files {
		for i := range steps {
			steps[i].delta = deltas[steps[i].pair][steps[i].Versions]
		}
		slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
		p.outlive(steps)
	}
	return err
}
