package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A session's tools and sub-agents may work in other worktrees of the
// repository than the one in which its turns are recorded. What these hold is
// looked at while they are there: when a sub-agent stops, before a command or a
// tool that removes one, and at the turn's end. The turn has it beside its own
// change. Until then local state refers to what was seen, and what keeps the
// session's mission does to what may be removed.

// Beside looks at the worktrees in which a batch of calls may have worked,
// beside the session's own, and notes what they hold. repo is that of the
// agent's directory. When it returns, all objects are written. leaves says that
// what was looked at may be gone next, so git has to keep it, and all to look at
// every worktree that the session is known to work in.
func Beside(ctx context.Context, repo *git.Repo, open func() *workspace.Workspace, b Batch, leaves, all bool) error {
	if _, err := os.Stat(filepath.Join(repo.CommonDir, "worktrees")); err != nil {
		return nil
	}
	store := session.Open(repo.CommonDir)
	known := store.Load(b.Session)
	list := store.LoadBeside(b.Session)
	look := b.named(ctx, repo)
	for _, e := range list {
		if other := worktreeOf(ctx, repo, e.GitDir); all && other != nil {
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
		if since := seer.at.UnixMilli() - e.At; !leaves && since >= 0 && since < restOfLooks*e.Cost {
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
	if leaves && known.Mission != "" && !kept.IsZero() {
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

// named returns the repositories in which a batch may have written: that of the
// agent's directory, and those that it names, by a path in it or, in a command, a worktree by its path or the name of its
// directory. To remove a worktree is not to work in it.
func (b Batch) named(ctx context.Context, repo *git.Repo) []*git.Repo {
	var list []*git.Repo
	here := func() {
		if other, err := git.Find(cmp.Or(b.Cwd, repo.Top)); err == nil {
			list = append(list, other)
		}
	}
	if len(b.Calls) == 0 { // a sub-agent has ended
		here()
	}
	for _, call := range b.Calls {
		if call.Effect == hooks.Reads || call.Command != "" && !call.Cut && deedOf(call.Command).idle {
			continue
		}
		here()
		for _, path := range b.paths(call) {
			if other, err := git.Find(path); err == nil {
				list = append(list, other)
			}
		}
		if call.Command == "" {
			continue
		}
		names, _ := os.ReadDir(filepath.Join(repo.CommonDir, "worktrees"))
		dirs := []string{repo.CommonDir}
		for _, name := range names {
			dirs = append(dirs, filepath.Join(repo.CommonDir, "worktrees", name.Name()))
		}
		for _, dir := range dirs {
			if top := topOf(ctx, repo, dir); top != "" && worksIn(call.Command, top, func(path string) bool { return b.isElsewhere(dir, path) }) {
				if other := worktreeOf(ctx, repo, dir); other != nil {
					list = append(list, other)
				}
			}
		}
	}
	return list
}

// In reports whether a batch may have worked in a worktree, by its directory and
// what it names.
func (b Batch) In(ctx context.Context, repo *git.Repo) bool {
	return slices.ContainsFunc(b.named(ctx, repo), func(other *git.Repo) bool { return other.GitDir == repo.GitDir })
}

// paths returns those that a call names, and of a command those that are there:
// where one is gone, nothing says which worktree it was in.
func (b Batch) paths(call hooks.Call) []string {
	if RemovesWorktree(call.Command) {
		return nil
	}
	home, _ := os.UserHomeDir()
	return slices.DeleteFunc(Named(b.Cwd, home, []hooks.Call{call}), func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil && call.Command != ""
	})
}

// isElsewhere reports whether something is there at a path that a call names, and
// is not of the worktree with a git directory: as one within it is.
func (b Batch) isElsewhere(gitDir, path string) bool {
	path = absolute(b.Cwd, path)
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	other, err := git.Find(path)
	return err == nil && other.GitDir != gitDir
}

// worksIn reports whether a command may work in a directory: a part of it that
// does not remove a worktree has its path, or a relative one with its name, which
// is not of something elsewhere.
func worksIn(command, top string, elsewhere func(path string) bool) bool {
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return strings.ContainsRune(";&|\n", r) }) {
		if RemovesWorktree(part) {
			continue
		}
		for _, rest := range strings.Split(part, top)[1:] {
			if i := strings.IndexFunc(rest, endsWord); i >= 0 {
				rest = rest[:i]
			}
			if (rest == "" || rest[0] == '/') && !elsewhere(top+rest) {
				return true
			}
		}
		for _, w := range wordsOf(part) {
			if !strings.HasPrefix(w, "/") && slices.Contains(strings.Split(w, "/"), filepath.Base(top)) && !elsewhere(w) {
				return true
			}
		}
	}
	return false
}

func wordsOf(command string) []string { return strings.FieldsFunc(command, endsWord) }

func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`\'"=;&|()<>`, r) }

// RemovesWorktree reports whether a call may remove a worktree with git.
func RemovesWorktree(command string) bool {
	words := wordsOf(command)
	return slices.Contains(words, "worktree") && slices.Contains(words, "remove")
}

// topOf returns the top of the worktree that has a git directory, as that says,
// or "".
func topOf(ctx context.Context, repo *git.Repo, gitDir string) string {
	if gitDir == repo.CommonDir {
		return repo.Main(ctx)
	}
	b, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return ""
	}
	path := filepath.FromSlash(strings.TrimRight(string(b), "\r\n"))
	if !filepath.IsAbs(path) {
		path = filepath.Join(gitDir, path)
	}
	return filepath.Dir(path)
}

// worktreeOf returns the worktree of a repository that has a git directory, or
// nil if it is gone.
func worktreeOf(ctx context.Context, repo *git.Repo, gitDir string) *git.Repo {
	other, err := git.Find(topOf(ctx, repo, gitDir))
	if err != nil || other.GitDir != gitDir || other.CommonDir != repo.CommonDir {
		return nil
	}
	return other
}

// Taken reports whether another session works in a worktree: its turns have what
// it holds.
func Taken(repo *git.Repo, name string) bool {
	others, err := session.PresenceIn(repo.GitDir).Others(name)
	return err == nil && len(others) > 0
}

// A seer makes commits of worktrees' states.
type seer struct {
	*workspace.Workspace
	objects *git.Objects
	conf    git.Config
	mission record.ID
	session string
	at      time.Time
}

// see notes the state of a worktree and, at the first time, where it began: at
// the commit that it was made with, if that was in the turn, else as it is.
func (s *seer) see(ctx context.Context, repo *git.Repo, e *session.Beside, known *session.Known) error {
	held, err := s.Store.LockWorktree(ctx, repo.GitDir)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	began := time.Now()
	snap, err := snapshot.Take(ctx, repo, s.objects, snapshot.Options{Policy: s.Policy(), Config: func() (git.Config, error) { return s.conf, nil }})
	if err != nil {
		return err
	}
	e.At, e.Cost = began.UnixMilli(), max(1, time.Since(began).Milliseconds())
	if s.objects.Has(e.Base) != nil { // a purge or a git gc has taken it
		e.Base = object.Hash{}
	}
	e.Name, e.Branch = nameOf(repo), valid(strings.TrimPrefix(snap.Head.Branch, "refs/heads/"))
	if e.Code, err = s.commit(snap.Head.Commit, snap.Tree, e.Code); err != nil || !e.Base.IsZero() {
		return err
	}
	// A sub-agent outlives the turn that called it, and may be seen late.
	its := e.Agent != "" && strings.Contains(e.Name, e.Agent)
	if made := madeWith(repo); (its || !time.Unix(0, e.Made).Before(since(known).Add(-tick))) && !made.IsZero() && s.objects.Has(made) == nil {
		e.Base = made
		return nil
	}
	e.Base, err = s.found(repo, snap, since(known))
	return err
}

// since returns when the session's running turn began, or the last one.
func since(known *session.Known) time.Time {
	switch {
	case known.Open != nil:
		return known.Open.Started
	case known.Last != nil:
		return known.Last.Started
	}
	return time.Time{}
}

// found returns the commit of a state that a worktree had at a time, as far as
// what is there tells: HEAD then, and the files that were written before.
func (s *seer) found(repo *git.Repo, snap *snapshot.Snapshot, at time.Time) (object.Hash, error) {
	head, err := headAt(s.objects, repo, snap.Head.Commit, object.Hash{}, at)
	if err != nil {
		return head, err
	}
	tree, err := s.objects.TreeOf(head)
	if err == nil && head.IsZero() {
		tree, err = s.objects.EmptyTree()
	}
	if err == nil {
		tree, _, err = touchedBefore(s.objects, repo, tree, snap.Tree, at)
	}
	if err != nil {
		return head, err
	}
	return s.commit(head, tree, object.Hash{})
}

// commit returns HEAD or the commit before if they have the state, else a new one.
func (s *seer) commit(head, state, before object.Hash) (object.Hash, error) {
	var parents []object.Hash
	if !head.IsZero() {
		if tree, err := s.objects.TreeOf(head); err != nil || tree == state {
			return head, err
		}
		parents = append(parents, head)
	}
	if tree, err := s.objects.TreeOf(before); err == nil && !before.IsZero() && tree == state {
		if of, err := s.objects.Parents(before); err == nil && slices.Equal(of, parents) {
			return before, nil
		}
	}
	message := "a worktree of the session\n"
	if s.mission != "" {
		message = ledger.CodeMessage("a worktree of the session", s.mission, 0, s.session)
	}
	return s.objects.CommitTree(state, parents, s.conf.Author(s.at), s.conf.Committer(s.at), message)
}

// madeAt returns when a linked worktree was made, in nanoseconds, or zero.
func madeAt(gitDir string) int64 {
	info, err := os.Stat(filepath.Join(gitDir, "commondir")) // written once, and the main worktree has none
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// madeWith returns the commit that a linked worktree was made with, as the first
// line of its reflog says; zero if that is not known.
func madeWith(repo *git.Repo) object.Hash {
	b, err := os.ReadFile(filepath.Join(repo.GitDir, "logs", "HEAD"))
	fields := strings.Fields(string(b[:min(len(b), 200)]))
	if err != nil || repo.GitDir == repo.CommonDir || len(fields) < 2 {
		return object.Hash{}
	}
	return object.NewHash(fields[1])
}

// nameOf returns the name of a worktree's directory, as states are named by it.
func nameOf(repo *git.Repo) string {
	name := strings.Map(func(r rune) rune {
		if turns.IsWorktreeName(string(r)) {
			return r
		}
		return '-'
	}, filepath.Base(repo.Top))
	name = strings.ReplaceAll(name, "..", "--") // else it is a range
	return name[:min(len(name), record.MaxWorktreeName)]
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
