package purge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/objectpurge"
	"gitagent/internal/scrub"
)

// A Result is what a purge has done.
type Result struct {
	Refs     int
	Files    int // of ours, that were rewritten
	Erased   objectpurge.Result
	Stays    []Stay
	Pushed   []git.Update          // see [Report]
	Searched *objectpurge.Searched // nil if there was nothing to search for

	roots []objectpurge.Root // of Stays
}

// Execute carries the plan out. If any ref moved meanwhile, it plans again. An
// error after refs have moved leaves the journal, see [Complete].
func (p *Plan) Execute(ctx context.Context) (*Result, error) {
	held := new(holder)
	defer func() { held.release() }()
	for attempt := 1; ; attempt++ {
		if held.purge == nil {
			fresh, err := hold(ctx, p.Workspace)
			if err != nil {
				return nil, err
			}
			held = fresh
		}
		done, err := p.execute(ctx, held)
		if err == nil {
			held.release() // a search may take longer than a hook waits
			err = forget(ctx, p.Workspace, p.Target.Missions)
			if err == nil {
				err = p.search(ctx, done)
			}
			return done, err
		}
		if !errors.Is(err, git.ErrConflict) || attempt == git.MaxAttempts {
			return nil, err
		}
		if attempt <= besideOthers {
			held.release()
		}
		fresh, err := p.Purge.Plan(ctx)
		if err != nil {
			return nil, err
		}
		p.Close()
		*p = *fresh
	}
}

// besideOthers bounds the plans made while others record: hooks don't wait for
// long.
const besideOthers = 3

func (p *Plan) execute(ctx context.Context, held *holder) (*Result, error) {
	if j, err := readJournal(p.Store); err != nil {
		return nil, err
	} else if j != nil { // of a purge that was killed since, or it would never be erased
		known, err := remembered(p.Workspace, j.Beside)
		if err == nil {
			_, err = j.complete(ctx, *known, held)
		}
		return nil, cmp.Or(err, git.ErrConflict)
	}
	now, err := p.Repo.OwnRefs(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range p.updates {
		if now[u.Ref] != u.Old {
			return nil, fmt.Errorf("%s: %w", u.Ref, git.ErrConflict)
		}
	}
	for _, id := range missions(now) {
		if now[id.Ref()] != p.refs[id.Ref()] {
			return nil, fmt.Errorf("mission %s: %w", id, git.ErrConflict)
		}
	}
	if err := p.objects.Flush(); err != nil {
		return nil, err
	}
	if err := p.doomUnneeded(ctx, now); err != nil {
		return nil, err
	}
	// Later it is unknown what to look for, and a running session may say it
	// again.
	if err := p.remember(); err != nil {
		return nil, err
	}
	if err := p.noteRemoved(); err != nil {
		return nil, err
	}
	files, err := p.scrub().files(p.dirs())
	if err != nil {
		return nil, err
	}
	j := p.worklist()
	if err := j.write(p.Store); err != nil {
		return nil, err
	}
	done, err := j.finish(ctx, p.Workspace, held)
	if errors.Is(err, git.ErrConflict) {
		switch begun, e := j.begun(ctx, p.Repo); {
		case e != nil:
			return nil, e
		case begun: // git was killed while moving them
			known, err := remembered(p.Workspace, j.Beside)
			if err != nil {
				return nil, err
			}
			return j.complete(ctx, *known, held)
		}
		return nil, errors.Join(err, p.Store.Dir().Remove(journalFile))
	}
	if err != nil {
		return nil, err
	}
	done.Files = files
	return done, nil
}

// search finds what keeps what was purged, and whether it is anywhere still.
func (p *Purge) search(ctx context.Context, done *Result) (err error) {
	if done.Stays, err = p.staysIn(ctx, done.roots); err != nil {
		return err
	}
	if has := p.has(); has != nil {
		if done.Searched, err = objectpurge.Search(ctx, p.Repo, has); err != nil {
			return err
		}
		pages, err := p.Store.LeftPages() // of processes that died since, with what they had read before
		for _, path := range pages {
			done.Searched.Found = append(done.Searched.Found, objectpurge.Found{Path: path})
		}
		return err
	}
	return err
}

// doomUnneeded also dooms every object that only the old refs or the steps of
// turns reach. It applies
// when turns, paths or missions are purged, not for a mere text. Objects that
// the user's reflogs, stashes and indexes need are spared later.
func (p *Plan) doomUnneeded(ctx context.Context, now map[string]object.Hash) error {
	t := p.Target
	if len(p.updates) == 0 || len(t.Turns)+len(t.Missions)+len(t.Paths.Specs)+len(p.Known) == 0 {
		return nil
	}
	now = maps.Clone(now)
	var old, kept []object.Hash
	for _, u := range p.updates {
		if !u.Old.IsZero() && !strings.HasPrefix(u.Ref, ledger.SeenArchives) { // not others' missions
			old = append(old, u.Old)
		}
		if now[u.Ref] = u.New; u.New.IsZero() {
			delete(now, u.Ref)
		}
	}
	worktrees, err := p.Repo.Worktrees(ctx) // one may have been detached since
	if err != nil {
		return err
	}
	for _, w := range worktrees {
		if w.Branch == "" && !w.Head.IsZero() {
			kept = append(kept, w.Head)
		}
	}
	kept = slices.AppendSeq(kept, maps.Values(now))
	goes, err := p.reach(ctx, old, "--objects", "--no-object-names")
	if err != nil {
		return err
	}
	commits, err := p.reach(ctx, old)
	if err != nil {
		return err
	}
	if trees := steps(p.Repo); len(trees) > 0 { // git gc may have removed some
		within, err := p.reach(ctx, trees, "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any")
		if err != nil {
			return err
		}
		maps.Copy(goes, within)
	}
	stays, err := p.reach(ctx, kept, "--objects", "--no-object-names") // one rev-list of both would leave out less
	if err != nil {
		return err
	}
	for h := range stays {
		delete(goes, h)
		delete(commits, h)
	}
	empty, err := p.objects.EmptyTree() // what is made to keep others has it
	if err != nil {
		return err
	}
	delete(goes, empty)
	err = p.unlost(ctx, goes, commits)
	maps.Copy(p.doomed, goes)
	return err
}

// reach returns the commits that some lead to, or with --objects all objects.
func (p *Plan) reach(ctx context.Context, from []object.Hash, args ...string) (map[object.Hash]bool, error) {
	var in strings.Builder
	for _, h := range from {
		fmt.Fprintln(&in, p.Repo.Format().Text(h))
	}
	out, err := p.Repo.Output(ctx, strings.NewReader(in.String()), append([]string{"rev-list", "--stdin"}, args...)...)
	found := make(map[object.Hash]bool)
	for line := range strings.Lines(string(out)) {
		found[object.NewHash(strings.TrimSpace(line))] = true
	}
	return found, err
}

// remember notes finds, by keyed hashes, so that they are not recorded again.
func (p *Plan) remember() error {
	if len(p.secrets) == 0 && len(p.rewrite.Prompts()) == 0 {
		return nil
	}
	m, err := scrub.ReadMemory(p.Store.Dir())
	if err != nil {
		return err
	}
	if m == nil {
		m = new(scrub.Memory)
	}
	m.Add(p.secrets...)
	m.AddPrompts(p.rewrite.Prompts()...)
	if err := m.Write(p.Store.Dir()); err != nil {
		return fmt.Errorf("remember what is purged: %w", err)
	}
	return nil
}
