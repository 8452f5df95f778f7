package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// An unfinished mission, and what is to be known of it to finish it.
type unfinished struct {
	mission  *record.Mission
	attached bool
	branch   string   // full name; empty if it has none, or none any more
	tip      git.Hash // of the branch, or the last turn's commit; zero for a passive mission
	head     git.Head
	finished bool // it was, and went on since
	foreign  bool // a stranger recorded it, and the user has accepted it
	last     int  // the last turn, 0 if there is none
	at       time.Time
	turns    []worked // since the mission was finished last, the oldest first
	squashed squashed // what HEAD has of it
	missing  error    // that the work of its last turns is on another branch; nil if it is not
	before   git.Hash // the commit that holds the state before these; zero if that is not known
}

// A worked is what is needed of a turn.
type worked struct {
	number     int
	at         time.Time
	prompt     string
	changed    bool
	again      bool // it was recorded again since the mission was finished with it
	committed  bool // by the trailers of a commit: the mission was to be several, and not all were made
	elsewhere  bool // what it changed is not in what is to be committed
	dropped    bool // nor will it be: the branch was reset to what was there before it
	branch     string
	base, code git.Hash
}

// omitted reports whether what is to be committed has nothing of the turn.
func (t *worked) omitted() bool { return t.elsewhere || t.dropped }

// A squashed is a commit that has all that another one has, as git can't know.
type squashed struct{ commit, of git.Hash }

// unfinished reads what is left of a mission. If the user may not rely on all of it, the error wraps
// [workspace.ErrStranger].
func (r *Recorder) unfinished(ctx context.Context, objects *git.Objects, id record.ID) (*unfinished, error) {
	branch := r.Branch(id)
	refs, err := r.Repo.Refs(ctx, branch)
	if err != nil {
		return nil, err
	}
	tip, err := ledger.Tip(ctx, r.Repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return nil, missing(ctx, r.Repo, "mission "+string(id), string(id))
	}
	if err != nil {
		return nil, err
	}
	standing, err := r.TrustLevel(ctx, objects, id, tip)
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
	k := &unfinished{mission: l.Mission, foreign: standing.By == trust.Unknown, before: git.NewHash(l.Mission.Base)}
	if k.head, err = r.Repo.Head(ctx); err != nil {
		return nil, err
	}
	if at, ok := refs[branch]; ok {
		k.branch, k.tip = branch, at
	}
	k.attached = k.branch != "" || l.Mission.Branch != ""
	after := 0
	if k.finished, err = r.stillFinished(ctx, l.Mission.Finished, k.head); k.finished {
		after = l.Mission.Finished.Turn
		k.squashed = squashed{l.Mission.Finished.Commit, l.Mission.Finished.Tip}
	} else if err == nil {
		after, k.squashed, err = r.inherited(ctx, objects, l.Mission, k.head)
	}
	if err == nil {
		err = k.read(ctx, l, after)
	}
	return k, err
}

// read reads the turns after one of them.
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
		t, err := readTurn(l, n)
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
		k.add(t, after)
	}
	return nil
}

// add adds the next turn: it is left to be finished if it came after the last one that is done, or if that
// was recorded again since.
func (k *unfinished) add(t *Turn, after int) {
	k.last, k.at = t.Turn, t.At
	again := k.finished && t.Turn == after && t.At.After(k.mission.Finished.At)
	if t.Turn <= after && !again {
		k.before = t.Code
		return
	}
	k.turns = append(k.turns, worked{
		number: t.Turn, at: t.At, prompt: ledger.Head(firstLine(t.Prompt), maxSubject), changed: t.Files > 0, again: again, branch: t.Branch,
		base: t.Before().Commit, code: t.Code,
	})
	if k.attached && k.branch == "" {
		k.tip = t.Code
	}
}

// stillFinished reports whether HEAD or some branch has the commit that a mission was finished with.
func (r *Recorder) stillFinished(ctx context.Context, f *record.Finish, head git.Head) (bool, error) {
	if f == nil {
		return false, nil
	}
	lost, err := Lost(ctx, r.Repo, f.Commit)
	return err == nil && (len(lost) == 0 || r.beforeHead(ctx, f.Commit, head)), err
}

// beforeHead reports whether a commit, which may not be here, is before HEAD.
func (r *Recorder) beforeHead(ctx context.Context, commit git.Hash, head git.Head) bool {
	if commit.IsZero() || head.Commit.IsZero() {
		return false
	}
	is, err := r.Repo.IsAncestor(ctx, commit, head.Commit)
	return err == nil && is
}

// inherited is the last turn that a fork has from its source, if HEAD has the work of that.
func (r *Recorder) inherited(ctx context.Context, objects *git.Objects, m *record.Mission, head git.Head) (int, squashed, error) {
	after, has := inherited(m, func() *record.Finish {
		source, err := ledger.Open(ctx, r.Repo, objects, m.ForkedFrom.Mission)
		if err != nil { // it may be gone
			return nil
		}
		return source.Mission.Finished
	}, func(commit git.Hash) bool { return r.beforeHead(ctx, commit, head) })
	return after, has, ctx.Err()
}

// inherited tells that of the finish of the source, nil if there is none, and whether HEAD has a commit.
func inherited(m *record.Mission, finished func() *record.Finish, inHead func(git.Hash) bool) (after int, has squashed) {
	from, base := m.ForkedFrom, git.NewHash(m.Base)
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

// withSquash is a git that knows of a commit that it has what another one has, as if that had been merged there:
// what comes after the first squash of a branch would otherwise conflict with it. There is a file until done
// is called.
func (r *Recorder) withSquash(ctx context.Context, g *git.Repo, k *unfinished) (knows *git.Repo, done func(), err error) {
	s := k.squashed
	if s.of.IsZero() || !r.beforeHead(ctx, s.commit, k.head) {
		return g, func() {}, nil
	}
	objects := r.Repo.Objects(ctx)
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
	file, done, err := r.given(graft + "\n")
	if err != nil {
		return nil, nil, err
	}
	return g.With("GIT_GRAFT_FILE=" + file), done, nil
}

// changed reports whether any of the turns has changed something that was not dropped.
func (k *unfinished) changed() bool {
	return slices.ContainsFunc(k.turns, func(t worked) bool { return t.changed && !t.dropped })
}

// end leaves out what came after a turn, at which the branch was at tip.
func (k *unfinished) end(turn int, tip git.Hash) {
	k.turns = slices.DeleteFunc(k.turns, func(t worked) bool { return t.number > turn })
	k.last, k.tip, k.at = turn, tip, time.Time{}
	if n := len(k.turns); n > 0 {
		k.at = k.turns[n-1].at
	}
}

// numbers are those of the turns that are to be committed.
func (k *unfinished) numbers() ledger.Ranges {
	var list []int
	for _, t := range k.turns {
		if !t.committed && !t.omitted() {
			list = append(list, t.number)
		}
	}
	return ledger.RangesOf(list...)
}

// committed returns the newest commit before HEAD that has the work, by its trailers: all turns that changed
// something are in such commits. Zero if there is none, or not all of it; then it notes what is.
func (r *Recorder) committed(ctx context.Context, k *unfinished) (git.Hash, error) {
	if k.head.Commit.IsZero() {
		return git.Hash{}, nil
	}
	newest, have, err := trailers(ctx, r.Repo, k.mission.ID, "HEAD", k.mission.Base)
	if err != nil || newest.IsZero() {
		return git.Hash{}, err
	}
	switch k.claim(newest, have, readBegun(r.Store, k.mission.ID)) {
	case unproved:
		return git.Hash{}, nil
	case proved:
		return newest, nil
	}
	merged, err := mergedTree(ctx, r.Repo, newest, k.tip)
	if err != nil || merged.IsZero() {
		return git.Hash{}, err
	}
	tree, err := r.treeOf(ctx, newest)
	if err != nil || tree != merged {
		return git.Hash{}, err
	}
	return newest, nil
}

// A proof is how far trailers show that commits have the work of a mission.
type proof int

const (
	unproved proof = iota // not, or not all of it
	proved                // all of it
	byMerge               // all of it, if the branch merges into the newest of them and changes nothing
)

// claim notes which turns are in commits, and what the newest of these has, as their trailers say.
//
// Anybody can write trailers. They count for the turns that were being finished in this clone, or were finished
// once, as the ledger says: the commit may have been amended since, or have resolved conflicts. For others, the
// commit must have what the branch has.
func (k *unfinished) claim(newest git.Hash, have ledger.Ranges, b *begun) proof {
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
	case !k.attached: // what the paths of its turns are in HEAD will tell
		return unproved
	// The branch may have more than its turns.
	case covers && (b != nil && b.Tip == k.tip || len(k.turns) > 0 && k.turns[len(k.turns)-1].code == k.tip):
		return proved
	}
	return byMerge
}

// trailers returns the newest commit, of those from one that lack another, that says that it has work of a
// mission, and the turns that they say.
func trailers(ctx context.Context, repo *git.Repo, id record.ID, from, without string) (newest git.Hash, have ledger.Ranges, err error) {
	format := "--format=%H"
	for _, key := range []string{ledger.TrailerMission, ledger.TrailerTurns} {
		format += "%n%(trailers:key=" + key + ",valueonly,separator=%x20)"
	}
	args := []string{"log", "-z", "--no-show-signature", "--encoding=UTF-8", "--fixed-strings", "--grep=" + ledger.TrailerMission + ": " + string(id), format, from}
	if without != "" {
		if _, err := repo.Resolve(ctx, without); err == nil {
			args = append(args, "^"+without)
		}
	}
	out, err := repo.Wary().Output(ctx, nil, append(args, "--")...)
	if err != nil {
		return newest, nil, err
	}
	var all ledger.Ranges // joined once: anybody may have written hundreds of thousands of them into one commit
	for record := range strings.SplitSeq(string(out), "\x00") {
		lines := strings.SplitN(record, "\n", 3)
		if len(lines) < 3 || !slices.Contains(strings.Fields(lines[1]), string(id)) {
			continue
		}
		for text := range strings.FieldsSeq(lines[2]) {
			if ranges, err := ledger.ParseRanges(text); err == nil {
				all = append(all, ranges...)
				if newest.IsZero() {
					newest = git.NewHash(lines[0])
				}
			}
		}
	}
	return newest, have.With(all), nil
}
