package finisher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// An unfinished is a mission to be finished.
type unfinished struct {
	mission  *record.Mission
	attached bool
	branch   string      // full name; empty if it has none now
	tip      object.Hash // of the branch, or the last turn's commit; zero for a passive mission
	head     git.Head
	finished bool // it was finished, and went on since
	foreign  bool // it is untrusted, and the user has accepted it
	last     int  // the last turn, 0 if there is none
	at       time.Time
	turns    []worked    // since the last finish, oldest first
	squashed squashed    // what HEAD has of it
	missing  error       // the last turns' work is on another branch; else nil
	before   object.Hash // the commit of the state before turns; zero if unknown
	mixed    bool        // others changed the same files of a passive mission: what is its own is taken by lines
}

// A worked is what a finish needs of a turn.
type worked struct {
	number     int
	started    time.Time
	at         time.Time
	prompt     string
	changed    bool
	again      bool // it was recorded again since the finish that has it
	assistants []string
	committed  bool // by a commit's trailers: not all of several commits were made
	elsewhere  bool // what is to be committed lacks its changes
	dropped    bool // the branch was reset to a state before it
	branch     string
	checks     string   // what is known of its checks, for people
	tests      []string // the commands of those that passed, if nothing is open
	base, code object.Hash
	// own is where its own change begins: base if nobody else worked here, and
	// for a mission with a branch, whose work is all that is on it. sure is where
	// what is surely its own begins.
	own, sure object.Hash
}

func (t *worked) omitted() bool { return t.elsewhere || t.dropped }

// A squashed is a commit with all the work of another one, unknown to git.
type squashed struct{ commit, of object.Hash }

// readUnfinished reads what is left of a mission. If not all of it is trusted,
// the error wraps [workspace.ErrUntrusted].
func readUnfinished(ctx context.Context, w *workspace.Workspace, objects *git.Objects, id record.ID) (*unfinished, error) {
	branch := w.Branch(id)
	refs, err := w.Repo.Refs(ctx, branch)
	if err != nil {
		return nil, err
	}
	tip, err := ledger.Tip(ctx, w.Repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return nil, turns.Missing(ctx, w.Repo, "mission "+string(id), string(id))
	}
	if err != nil {
		return nil, err
	}
	standing, err := w.TrustLevel(ctx, objects, id, tip)
	if err == nil && !standing.Whole {
		err = fmt.Errorf("mission %s: %w", id, workspace.ErrUntrusted)
	}
	if err != nil {
		return nil, err
	}
	l, err := ledger.At(objects, id, tip)
	if err != nil {
		return nil, err
	}
	k := &unfinished{mission: l.Mission, foreign: standing.By == trust.Unknown, before: object.NewHash(l.Mission.Base)}
	if k.head, err = w.Repo.Head(ctx); err != nil {
		return nil, err
	}
	if at, ok := refs[branch]; ok {
		k.branch, k.tip = branch, at
	}
	k.attached = k.branch != "" || l.Mission.Branch != ""
	after := 0
	if k.finished, err = stillFinished(ctx, w, l.Mission.Finished, k.head); k.finished {
		after = l.Mission.Finished.Turn
		k.squashed = squashed{l.Mission.Finished.Commit, l.Mission.Finished.Tip}
	} else if err == nil {
		after, k.squashed, err = inheritedOf(ctx, w, objects, l.Mission, k.head)
	}
	if err == nil {
		err = k.read(ctx, l, after)
	}
	return k, err
}

func (k *unfinished) read(ctx context.Context, l *ledger.Ledger, after int) error {
	var numbers []int
	for r, err := range l.Turns() {
		if err != nil {
			return err
		}
		numbers = append(numbers, r.Number)
		if r.Number <= after {
			break
		}
	}
	for _, n := range slices.Backward(numbers) {
		t, err := turns.ReadIn(l, n)
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
		k.add(t, after)
	}
	return nil
}

// add adds the next turn, which is to be finished if it came after the last
// finished one, or is that one, recorded again since.
func (k *unfinished) add(t *turns.Turn, after int) {
	k.last, k.at = t.Turn, t.At
	again := k.finished && t.Turn == after && t.At.After(k.mission.Finished.At)
	if t.Turn <= after && !again {
		k.before = t.Code
		return
	}
	next := worked{
		number: t.Turn, started: t.Before().At, at: t.At, prompt: ledger.Head(turns.FirstLine(t.Prompt), turns.MaxSubject), changed: t.Files > 0, again: again, branch: t.Branch, assistants: assistants(t),
		checks: t.CheckedText(), tests: t.Passed(),
		base: t.Before().Commit, code: t.Code, own: t.Before().Commit, sure: t.Before().Commit,
	}
	if c := t.Change(); !k.attached {
		next.own, next.sure, next.changed = c.From, c.Sure, c.Files > 0 || c.Unsure()
	}
	k.turns = append(k.turns, next)
	if k.attached && k.branch == "" {
		k.tip = t.Code
	}
}

// stillFinished reports whether HEAD or a branch has the finish's commit.
func stillFinished(ctx context.Context, w *workspace.Workspace, f *record.Finish, head git.Head) (bool, error) {
	if f == nil {
		return false, nil
	}
	lost, err := turns.Lost(ctx, w.Repo, f.Commit)
	return err == nil && (len(lost) == 0 || turns.BeforeHead(ctx, w, f.Commit, head)), err
}

// inheritedOf returns the last turn that HEAD has through a fork's source.
func inheritedOf(ctx context.Context, w *workspace.Workspace, objects *git.Objects, m *record.Mission, head git.Head) (int, squashed, error) {
	after, has := inherited(m, func() *record.Finish {
		source, err := ledger.Open(ctx, w.Repo, objects, m.ForkedFrom.Mission)
		if err != nil { // it may be gone
			return nil
		}
		return source.Mission.Finished
	}, func(commit object.Hash) bool { return turns.BeforeHead(ctx, w, commit, head) })
	return after, has, ctx.Err()
}

// inherited is the rule for that. finished returns the source's finish or nil.
func inherited(m *record.Mission, finished func() *record.Finish, inHead func(object.Hash) bool) (after int, has squashed) {
	from, base := m.ForkedFrom, object.NewHash(m.Base)
	switch {
	case from == nil:
		return 0, squashed{}
	case inHead(base):
		return from.Turn, squashed{}
	}
	if f := finished(); f != nil && f.Turn >= from.Turn && inHead(f.Commit) {
		return from.Turn, squashed{f.Commit, base}
	}
	return 0, squashed{}
}

// withSquash returns a git in which the squash commit counts as a merge of the
// branch (GIT_GRAFT_FILE), so that a second squash does not conflict with it.
// done removes the file.
func withSquash(ctx context.Context, w *workspace.Workspace, g *git.Repo, k *unfinished) (knows *git.Repo, done func(), err error) {
	s := k.squashed
	if s.of.IsZero() || !turns.BeforeHead(ctx, w, s.commit, k.head) {
		return g, func() {}, nil
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	parents, err := objects.Parents(s.commit)
	if err == nil {
		err = objects.Has(s.of)
	}
	if ledger.Missing(err) {
		return g, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	graft := s.commit.String()
	for _, p := range append(parents, s.of) {
		graft += " " + p.String()
	}
	file, done, err := given(w, graft+"\n")
	if err != nil {
		return nil, nil, err
	}
	return g.With(git.Env("GIT_GRAFT_FILE=" + file)), done, nil
}

// changed reports whether any turn made changes that were not dropped.
func (k *unfinished) changed() bool {
	return slices.ContainsFunc(k.turns, func(t worked) bool { return t.changed && !t.dropped })
}

// end drops the turns after one, at which the branch was at tip.
func (k *unfinished) end(turn int, tip object.Hash) {
	k.turns = slices.DeleteFunc(k.turns, func(t worked) bool { return t.number > turn })
	k.last, k.tip, k.at = turn, tip, time.Time{}
	if n := len(k.turns); n > 0 {
		k.at = k.turns[n-1].at
	}
}

func (k *unfinished) numbers() ledger.Ranges {
	var list []int
	for _, t := range k.turns {
		if !t.committed && !t.omitted() {
			list = append(list, t.number)
		}
	}
	return ledger.RangesOf(list...)
}

// committed returns the newest commit before HEAD that, by trailers, completes
// the work: such commits have all turns with changes. Otherwise it returns zero
// and marks the turns that they have.
func committed(ctx context.Context, w *workspace.Workspace, k *unfinished) (object.Hash, error) {
	if k.head.Commit.IsZero() {
		return object.Hash{}, nil
	}
	newest, have, err := trailers(ctx, w.Repo, k.mission.ID, "HEAD", k.mission.Base)
	if err != nil || newest.IsZero() {
		return object.Hash{}, err
	}
	switch k.claim(newest, have, readBegun(w.Store, k.mission.ID)) {
	case unproved:
		return object.Hash{}, nil
	case proved:
		return newest, nil
	}
	merged, err := mergedTree(ctx, w.Repo, newest, k.tip)
	if err != nil || merged.IsZero() {
		return object.Hash{}, err
	}
	tree, err := treeOf(ctx, w, newest)
	if err != nil || tree != merged {
		return object.Hash{}, err
	}
	return newest, nil
}

// A proof is how far trailers show that commits have a mission's work.
type proof int

const (
	unproved proof = iota // not, or not all of it
	proved                // all of it
	byMerge               // all, if merging the branch into the newest changes nothing
)

// claim marks the turns that trailers name, and what the newest commit has.
//
// Trailers are untrusted. They count for turns that this clone was finishing or
// that the ledger calls finished: such a commit may have been amended, or have
// resolved conflicts. For others, the commit must have what the branch has.
func (k *unfinished) claim(newest object.Hash, have ledger.Ranges, b *begun) proof {
	believed := 0 // up to which turn
	if b != nil {
		believed = b.Turn
	}
	if f := k.mission.Finished; f != nil {
		believed = max(believed, f.Turn)
	}
	said, covers := k.changed() || have.Has(k.last), k.last <= believed || k.changed()
	for i, t := range k.turns {
		in := have.Has(t.number) && !t.again
		k.turns[i].committed = in && t.number <= believed
		said = said && (!t.changed || in)
		covers = covers && (!t.changed || k.turns[i].committed)
	}
	for _, t := range k.turns {
		if !t.committed {
			break
		}
		k.squashed = squashed{newest, t.code}
		if b != nil && b.Turn == t.number && !b.Tip.IsZero() {
			k.squashed.of = b.Tip
		}
	}
	switch {
	case !said:
		return unproved
	case covers && !k.attached:
		return proved
	case !k.attached: // HEAD's state of the turns' paths will tell
		return unproved
	// The branch may have more than its turns.
	case covers && (b != nil && b.Tip == k.tip || len(k.turns) > 0 && k.turns[len(k.turns)-1].code == k.tip):
		return proved
	}
	return byMerge
}

// trailers returns the newest commit in from, but not in without, whose
// trailers name the mission, and the turns that all such trailers name.
func trailers(ctx context.Context, repo *git.Repo, id record.ID, from, without string) (newest object.Hash, have ledger.Ranges, err error) {
	format := "--format=%H"
	for _, key := range []string{ledger.TrailerMission, ledger.TrailerTurns} {
		format += "%n%(trailers:key=" + key + ",valueonly,separator=%x20)"
	}
	args := []string{"log", "-z", "--fixed-strings", "--grep=" + ledger.TrailerMission + ": " + string(id), format, from}
	if without != "" {
		if _, err := repo.Resolve(ctx, without); err == nil {
			args = append(args, "^"+without)
		}
	}
	out, err := repo.With(git.Wary).Output(ctx, nil, append(args, "--")...)
	if err != nil {
		return newest, nil, err
	}
	var all ledger.Ranges // joined once: one commit may have hundreds of thousands
	for record := range strings.SplitSeq(string(out), "\x00") {
		lines := strings.SplitN(record, "\n", 3)
		if len(lines) < 3 || !slices.Contains(strings.Fields(lines[1]), string(id)) {
			continue
		}
		for text := range strings.FieldsSeq(lines[2]) {
			if ranges, err := ledger.ParseRanges(text); err == nil {
				all = append(all, ranges...)
				if newest.IsZero() {
					newest = object.NewHash(lines[0])
				}
			}
		}
	}
	return newest, have.With(all), nil
}
