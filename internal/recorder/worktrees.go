package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A session's tools and sub-agents may work in other worktrees of the
// repository than the one in which its turns are recorded. What these hold is
// looked at while they are there: when a sub-agent stops, before a command or a
// tool that removes one, and at the turn's end. The turn has it beside its own
// change. Until then local state refers to what was seen, and what keeps the
// session's mission does to what may be removed.

// A Next is what may become next of worktrees that are looked at.
type Next int

// A removed one has nothing to look at later, so that git has to keep what it
// holds now.
const (
	Stay       Next = iota
	NamedMayGo      // those that the batch names may be removed
	AllMayGo        // so may every other that the session is known to work in
)

// Beside looks at the worktrees in which a batch of calls may have worked,
// beside the session's own, and notes what they hold. repo is that of the
// agent's directory. When it returns, all objects are written.
func Beside(ctx context.Context, repo *git.Repo, open func() *workspace.Workspace, b Batch, next Next) error {
	if _, err := os.Stat(filepath.Join(repo.CommonDir, "worktrees")); err != nil {
		return nil
	}
	store := session.Open(repo.CommonDir)
	known := store.Load(b.Session)
	list := store.LoadBeside(b.Session)
	look := b.named(ctx, repo)
	for _, e := range list {
		if other := worktreeOf(ctx, repo, e.GitDir); next == AllMayGo && other != nil {
			look = append(look, other)
		}
	}
	look = slices.DeleteFunc(look, func(other *git.Repo) bool {
		return other.CommonDir != repo.CommonDir || other.GitDir == known.Worktree || Taken(other, b.Session)
	})
	slices.SortFunc(look, func(a, b *git.Repo) int { return strings.Compare(a.GitDir, b.GitDir) })
	look = slices.CompactFunc(look, func(a, b *git.Repo) bool { return a.GitDir == b.GitDir })
	if known.Worktree == "" || len(look) == 0 {
		return nil
	}
	w := open()
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Look)
	defer cancel()
	objects := repo.Objects(ctx)
	defer objects.Close()
	conf, err := repo.Config(ctx)
	if err != nil {
		return err
	}
	seer := &seer{Workspace: w, objects: objects, conf: conf, mission: known.Mission, session: b.Session, at: time.Now()}
	var seen, news []session.Beside // those to look at; of them those to note
	for _, other := range look {
		e := session.Beside{GitDir: other.GitDir, Made: madeAt(other.GitDir), Name: nameOf(other), Agent: b.Agent}
		if i := slices.IndexFunc(list, e.Same); i >= 0 {
			e = list[i]
		} else {
			news = append(news, e)
		}
		seen = append(seen, e)
	}
	if len(news) > 0 { // should this process be killed, the turn's end looks there
		if err := noteBeside(ctx, store, b.Session, news); err != nil {
			return err
		}
	}
	var keep []object.Hash
	var errs []error
	news = nil
	for i, e := range seen {
		if since := seer.at.UnixMilli() - e.At; next == Stay && since >= 0 && since < restOfLooks*e.Cost {
			continue // it is looked at again before it goes
		}
		if err := seer.see(ctx, look[i], &e, known); err != nil {
			errs = append(errs, err)
			continue
		}
		news, keep = append(news, e), append(keep, e.Base, e.Code)
	}
	kept, err := ledger.KeepingAll(objects, keep)
	if err == nil {
		err = objects.Flush()
	}
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	errs = append(errs, noteBeside(ctx, store, b.Session, news))
	if next != Stay && known.Mission != "" && !kept.IsZero() {
		errs = append(errs, w.KeepAlso(ctx, known.Mission, kept))
	}
	return errors.Join(errs...)
}

// noteBeside adds worktrees to a session's list, or what was seen of them. Each
// keeps its beginning.
func noteBeside(ctx context.Context, store session.Store, id string, seen []session.Beside) error {
	return store.UpdateBeside(ctx, id, func(list []session.Beside) []session.Beside {
		for _, e := range seen {
			if i := slices.IndexFunc(list, e.Same); i >= 0 {
				base := list[i].Base
				if list[i] = e; !base.IsZero() {
					list[i].Base = base
				}
			} else if len(list) < session.MaxBeside {
				list = append(list, e)
			}
		}
		return list
	})
}

// beside returns what the session's other worktrees hold at the end of a turn,
// and the commits to keep.
func (r *recording) beside(ctx context.Context, t, old *turns.Turn) (keep []object.Hash) {
	if r.Session == "" {
		return nil
	}
	list := r.Store.LoadBeside(r.Session)
	list = slices.DeleteFunc(list, func(e session.Beside) bool { return e.GitDir == r.Repo.GitDir })
	if o := r.state.Open; o != nil && r.elsewhere() && !slices.ContainsFunc(list, func(e session.Beside) bool { return e.GitDir == r.state.Worktree }) {
		list = append(list, session.Beside{GitDir: r.state.Worktree, Made: madeAt(r.state.Worktree), Base: o.Base}) // the turn began there
	}
	if len(list) == 0 && (old == nil || len(old.Worktrees) == 0) {
		return nil
	}
	before := 0 // how many the turn had when it was recorded first
	if old != nil {
		t.Worktrees, before = slices.Clone(old.Worktrees), len(old.Worktrees)
		for i := range t.Worktrees {
			keep = append(keep, t.Worktrees[i].Base, t.Worktrees[i].Code)
		}
	}
	conf, err := r.tx.Config()
	if err != nil {
		return keep
	}
	seer := &seer{Workspace: r.Workspace, objects: r.tx.Objects, conf: conf, mission: r.id, session: r.Session, at: r.tx.At}
	last, _ := turns.ReadIn(r.tx.Ledger, t.Turn-1) // its writer may have died before it noted what that has taken
	for _, e := range list {
		if last != nil && e.Made <= last.At.UnixNano() {
			for _, w := range last.Worktrees {
				if w.Base == e.Base && w.Agent == e.Agent && strings.HasPrefix(w.Name, e.Name) {
					e.Base = w.Code
				}
			}
		}
		there := worktreeOf(ctx, r.Repo, e.GitDir)
		if there != nil && madeAt(e.GitDir) != e.Made { // another one has its name
			there = nil
		}
		if there != nil && !Taken(there, r.Session) {
			if err := seer.see(ctx, there, &e, &r.state); err != nil {
				r.warn("turn %s has worktree %s as it was seen last: %v", t.ID(), e.Name, err)
			}
		}
		if e.Code.IsZero() || r.alike(e.Base, e.Code) || len(t.Worktrees) >= session.MaxBeside {
			continue
		}
		wt := record.Worktree{Name: e.Name, Agent: e.Agent, Branch: e.Branch, Base: e.Base, Code: e.Code, Removed: there == nil}
		if j := slices.IndexFunc(t.Worktrees[:before], func(w record.Worktree) bool {
			return w.Code == e.Base && w.Agent == e.Agent && strings.HasPrefix(w.Name, e.Name)
		}); j >= 0 {
			wt.Base, wt.Name, before = t.Worktrees[j].Base, t.Worktrees[j].Name, before-1
			t.Worktrees = slices.Delete(t.Worktrees, j, j+1)
		}
		for n, name := 2, wt.Name; slices.ContainsFunc(t.Worktrees, func(w record.Worktree) bool { return w.Name == wt.Name }); n++ {
			wt.Name = fmt.Sprintf("%s-%d", name, n)
		}
		if err := r.measure(ctx, t, &wt); err != nil {
			r.warn("turn %s lacks worktree %s: %v", t.ID(), e.Name, err)
			continue
		}
		t.Worktrees = append(t.Worktrees, wt)
		keep = append(keep, wt.Base, wt.Code)
		r.seen = append(r.seen, e)
	}
	return keep
}

// alike reports whether two commits have one tree.
func (r *recording) alike(a, b object.Hash) bool {
	one, err := r.tx.Objects.TreeOf(a)
	other, e := r.tx.Objects.TreeOf(b)
	return err == nil && e == nil && one == other
}

// measure counts what changed in a worktree.
func (r *recording) measure(ctx context.Context, t *turns.Turn, wt *record.Worktree) error {
	from, err := r.tx.Objects.TreeOf(wt.Base)
	if err != nil {
		return err
	}
	to, err := r.tx.Objects.TreeOf(wt.Code)
	if err != nil || from == to {
		return err
	}
	stats, err := r.lines(ctx, t, from, to)
	wt.Files, wt.Insertions, wt.Deletions, wt.Paths = count(stats)
	return err
}

// tookBeside notes what a turn has taken: the next one goes on from there.
func (r *recording) tookBeside(ctx context.Context) {
	if len(r.seen) == 0 {
		return
	}
	err := r.Store.UpdateBeside(ctx, r.Session, func(list []session.Beside) []session.Beside {
		for _, e := range r.seen {
			if i := slices.IndexFunc(list, e.Same); i >= 0 {
				if list[i].At < e.At {
					list[i] = e
				}
				list[i].Base = e.Code
			}
		}
		return slices.DeleteFunc(list, func(e session.Beside) bool {
			return e.Code == e.Base && worktreeOf(ctx, r.Repo, e.GitDir) == nil
		})
	})
	if err != nil {
		r.warn("%v", err)
	}
}
