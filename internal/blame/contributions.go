package blame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

// A Landing asks which turns contributed to the user's commits.
type Landing struct {
	Commit object.Hash
	// Since leaves out the commits that it reaches, as in git's Since..Commit;
	// zero for none of them.
	Since object.Hash
	// Base is the commit from which files have changed: a merge base, or Since.
	// Zero is an empty tree.
	Base object.Hash
	// Own leaves out what a merge has from one of its parents.
	Own bool
	// Many tells that questions about other commits follow. What they are likely
	// to be about is looked up with what this one is.
	Many bool
	// Only are the paths that count.
	Only gitdiff.Paths
	// Files is of how many git is asked at most, as turns alone don't say
	// enough; 0 for any number.
	Files int
	// Looked is told how many files of how many were looked at; nil for nobody.
	Looked func(n, of int)
}

// Contributions counts the origins of the lines that commits brought.
type Contributions struct {
	Turns   []*Contribution // in order of their starts
	Lines   int             // that the commits brought
	Hand    int             // written by no known turn
	Removed int             // lines that were there before
	Files   int             // changed
	Binary  int             // of them without lines: binary, submodules
	Unseen  int             // of them not looked at: too many, or too slow
}

// A Contribution is one turn's part in the commits.
type Contribution struct {
	Turn     *turns.Turn
	Lines    int // written by the turn
	Removed  int // lines that it removed, in files that are as it left them
	Files    int // with either, or that are as it left them
	Evidence Evidence

	past  *pastTurn // nil if it is not known
	order int       // among those that are
	files map[string]bool
}

func (c *Contribution) file(path string) {
	c.files[path] = true
	c.Files = len(c.files)
}

// Evidence lists what connects a turn with a commit.
type Evidence struct {
	Commit  bool // the commit was made for the turn, or by its agent
	Trailer bool // the commit names the turn, which anyone can write
	Content bool // the commit contains what the turn wrote
}

// Words returns the names of the fields that are set.
func (e Evidence) Words() []string {
	var list []string
	for _, word := range []struct {
		is   bool
		name string
	}{{e.Commit, "commit"}, {e.Trailer, "trailer"}, {e.Content, "content"}} {
		if word.is {
			list = append(list, word.name)
		}
	}
	return list
}

// Of returns the question about one commit. For a merge it is about all that
// was merged into its first parent, or with own about what no parent has.
func (h *History) Of(commit object.Hash, own bool) (Landing, *object.Commit, error) {
	l := Landing{Commit: commit}
	c, err := h.objects.Commit(commit)
	if err != nil {
		return l, nil, err
	}
	shallow, err := h.w.Repo.Shallow()
	if err != nil {
		return l, nil, err
	}
	if len(c.Parents) > 0 && !slices.Contains(shallow, commit) {
		l.Since = c.Parents[0]
		l.Base = l.Since
		l.Own = own && len(c.Parents) > 1
	}
	return l, c, nil
}

// Contributions returns the turns' contributions, in order of their starts.
func (h *History) Contributions(ctx context.Context, l Landing) (*Contributions, error) {
	a := &landing{h: h, Landing: l, sum: new(Contributions), of: make(map[recorded]*Contribution), made: make(map[*pastTurn]bool)}
	if err := a.answer(ctx); err != nil {
		return nil, fmt.Errorf("contributions to %s: %w", l.Commit, err)
	}
	return a.sum, nil
}

type landing struct {
	Landing
	h       *History
	sum     *Contributions
	of      map[recorded]*Contribution
	commits map[object.Hash]time.Time // those that are asked about: when they were committed
	names   map[record.TurnID]bool    // the turns that one of the commits names
	made    map[*pastTurn]bool        // whether one of them was made in it
	asked   int                       // of how many files git was asked
}

func (a *landing) answer(ctx context.Context) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	changes, err := a.changes(ctx)
	if err != nil {
		return err
	}
	a.sum.Files = len(changes)
	files, err := a.look(ctx, changes)
	if err != nil {
		return err
	}
	if a.h.next, err = a.next(files); err != nil {
		return err
	}
	for i, c := range changes {
		a.sum.Removed += c.Deletions
		if lineless(c) {
			a.sum.Binary++
		}
		if a.Looked != nil {
			a.Looked(i, len(changes))
		}
		if err := a.file(ctx, files[i]); err != nil {
			return err
		}
	}
	if err := a.named(); err != nil {
		return err
	}
	for _, c := range a.of {
		a.sum.Turns = append(a.sum.Turns, c)
	}
	slices.SortFunc(a.sum.Turns, func(x, y *Contribution) int { return cmp.Compare(x.order, y.order) })
	return nil
}

// lineless reports whether a change has no lines to count.
func lineless(c gitdiff.Change) bool {
	return c.Binary || c.Old.Mode == filemode.Submodule || c.New.Mode == filemode.Submodule
}

// maxCommits limits the commits that are read for the turns they name.
const maxCommits = 10_000

func (a *landing) list(ctx context.Context) error {
	a.commits, a.names = make(map[object.Hash]time.Time), make(map[record.TurnID]bool)
	tip, err := a.h.objects.Commit(a.Commit)
	if err != nil {
		return err
	}
	a.add(a.Commit, tip)
	alone := a.Own || a.Since.IsZero() || len(tip.Parents) == 1 && tip.Parents[0] == a.Since
	if alone {
		return nil
	}
	out, err := a.h.w.Repo.Output(ctx, nil, "rev-list", fmt.Sprintf("--max-count=%d", maxCommits), a.Commit.String(), "^"+a.Since.String(), "--")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		hash, err := object.ParseHash(strings.TrimSpace(line))
		if err != nil {
			return err
		}
		commit, err := a.h.objects.Commit(hash)
		if err != nil {
			return err
		}
		a.add(hash, commit)
	}
	return nil
}

// add notes what is needed of a commit. Messages are not kept: in a small pack
// may be thousands of megabytes.
func (a *landing) add(hash object.Hash, c *object.Commit) {
	a.commits[hash] = c.Committer.When
	for _, id := range ledger.ReadTrailers(c.Message) {
		if a.h.recorded(id) {
			a.names[id] = true
		}
	}
}

func (a *landing) changes(ctx context.Context) ([]gitdiff.Change, error) {
	list, err := gitdiff.Changes(ctx, a.h.w.Repo, a.Base, a.Commit, a.Only)
	if err != nil || !a.Own {
		return list, err
	}
	parents, err := a.h.objects.Parents(a.Commit)
	if err != nil {
		return nil, err
	}
	for _, p := range parents[min(1, len(parents)):] {
		changed, err := gitdiff.Changed(ctx, a.h.w.Repo, p, a.Commit, a.Only)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(c gitdiff.Change) bool {
			_, ok := changed[c.Path]
			return !ok
		})
	}
	return list, nil
}

func (a *landing) file(ctx context.Context, f *file) error {
	c := f.c
	if f.lines != nil {
		return a.exact(ctx, f)
	}
	if err := a.lines(ctx, c); err != nil {
		return err
	}
	if lineless(c) || c.Insertions == 0 || c.Deletions > 0 {
		return a.whole(ctx, f)
	}
	return nil
}

func (a *landing) lines(ctx context.Context, c gitdiff.Change) error {
	if lineless(c) || c.Insertions == 0 {
		return nil
	}
	// Former names are unknown if the file appeared in between, or in a merge.
	known := !a.Own && (len(a.commits) == 1 || !c.Old.Hash.IsZero())
	if known && (a.early() || len(a.h.touching([]string{c.Path, c.From})) == 0) {
		a.sum.Lines += c.Insertions
		a.sum.Hand += c.Insertions
		return nil
	}
	if a.asked++; a.Files > 0 && a.asked > a.Files {
		a.sum.Unseen++
		return nil
	}
	answer, err := a.h.Ask(ctx, Request{Commit: a.Commit, Path: c.Path, Since: a.Since})
	if errors.Is(err, ErrTimeout) {
		a.sum.Unseen++
		return nil
	}
	if err != nil {
		return err
	}
	defer answer.Close()
	for _, run := range answer.Runs {
		if a.Own && run.Blame.Commit != a.Commit {
			continue
		}
		a.sum.Lines += run.Blame.Lines
		if run.Turn == nil {
			a.sum.Hand += run.Blame.Lines
			continue
		}
		t := a.contribution(run.Turn)
		t.Lines += run.Blame.Lines
		if _, among := a.commits[run.State]; among && (t.past == nil || a.h.by(t.past, run.State)) {
			t.Evidence.Commit = true
		} else {
			t.Evidence.Content = true
		}
		t.file(c.Path)
	}
	return nil
}

func (a *landing) early() bool { return a.h.early(a.committed()) }

// early reports whether a commit of that time is older than all turns, by more
// than clocks may differ.
func (h *History) early(committed time.Time) bool {
	return len(h.turns) == 0 || committed.Add(maxSkew).Before(h.turns[0].started)
}

func (a *landing) contribution(t *turns.Turn) *Contribution {
	key := recorded{t.ID(), t.At, t.Code}
	c := a.of[key]
	if c == nil {
		c = &Contribution{Turn: t, files: make(map[string]bool)}
		if c.order = a.h.place(key); c.order >= 0 {
			c.past = a.h.turns[c.order]
		}
		a.of[key] = c
	}
	return c
}

// key tells the record from others.
func (t *pastTurn) key() recorded { return recorded{t.id, t.at, t.code} }

// recorded reports whether there is a turn of that name.
func (h *History) recorded(id record.TurnID) bool {
	if h.ids == nil {
		h.ids = make(map[record.TurnID]bool, len(h.turns))
		for _, t := range h.turns {
			h.ids[t.id] = true
		}
	}
	return h.ids[id]
}

// place returns where a turn is in h.turns, -1 if it is not there.
func (h *History) place(of recorded) int {
	if h.places == nil {
		h.places = make(map[recorded]int, len(h.turns))
		for at, t := range h.turns {
			h.places[t.key()] = at
		}
	}
	if at, ok := h.places[of]; ok {
		return at
	}
	return -1
}

// named adds the turns that the commits' messages name.
func (a *landing) named() error {
	for _, t := range a.h.turns {
		if len(a.names) == 0 || !a.names[t.id] {
			continue
		}
		record, err := t.record()
		if err != nil {
			return err
		}
		a.contribution(record).Evidence.Trailer = true
	}
	return nil
}

// committed is when the last of the commits was committed that are asked about.
func (a *landing) committed() time.Time { return a.commits[a.Commit] }

func (a *landing) wrote(ctx context.Context, t *pastTurn, path string, lines int) error {
	if lines == 0 {
		return nil
	}
	c, err := a.from(ctx, t)
	if err != nil {
		return err
	}
	c.Lines += lines
	c.file(path)
	return nil
}

// from returns a turn's contribution. madeIn is the evidence of a new one.
func (a *landing) from(ctx context.Context, t *pastTurn) (*Contribution, error) {
	if c := a.of[t.key()]; c != nil {
		return c, nil
	}
	record, err := t.record()
	if err != nil {
		return nil, err
	}
	made, err := a.madeIn(ctx, t)
	if err != nil {
		return nil, err
	}
	c := a.contribution(record)
	if made {
		made = slices.ContainsFunc(slices.Collect(maps.Keys(a.commits)), func(commit object.Hash) bool { return a.h.by(t, commit) })
	}
	c.Evidence.Commit, c.Evidence.Content = made, !made
	return c, nil
}
