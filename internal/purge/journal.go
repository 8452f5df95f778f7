package purge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/objectpurge"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// A worklist is the journal of a purge, written when all new objects exist and
// before a ref moves. It never has the secret, which finishing does not need.
type worklist struct {
	V        int                       `json:"v"`
	Refs     []refMove                 `json:"refs,omitempty"`
	Replaced map[string]object.Hash    `json:"replaced,omitempty"` // objects, by their successors; "" for none
	Own      map[record.ID]object.Hash `json:"own,omitempty"`      // up to which this clone wrote missions' ledgers
	Renamed  map[record.ID]record.ID   `json:"renamed,omitempty"`
	Removed  []record.ID               `json:"removed,omitempty"`
	Index    []indexChange             `json:"index,omitempty"`
	Doomed   []object.Hash             `json:"doomed,omitempty"`
	Beside   []string                  `json:"beside,omitempty"`
	Pushed   []refMove                 `json:"pushed,omitempty"` // see [Report]
}

type refMove struct {
	Ref string      `json:"ref"`
	Old object.Hash `json:"old,omitzero"`
	New object.Hash `json:"new,omitzero"`
}

const (
	journalV    = 1
	journalDir  = "purge"
	journalFile = journalDir + "/journal"
)

// Unfinished reports whether a purge runs or was killed.
func Unfinished(s session.Store) bool {
	_, err := s.Dir().Lstat(journalFile)
	return err == nil
}

func readJournal(s session.Store) (*worklist, error) {
	data, err := s.Dir().ReadFile(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	j := new(worklist)
	if err == nil {
		err = json.Unmarshal(data, j)
	}
	if err == nil && j.V != journalV {
		err = fmt.Errorf("its version is %d", j.V)
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of a purge that was begun: %w", err)
	}
	return j, nil
}

func (j *worklist) write(s session.Store) error {
	data, err := json.Marshal(j)
	if err == nil {
		err = replaceFile(s.Dir(), journalFile, data)
	}
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

func (p *Plan) worklist() *worklist {
	j := &worklist{
		V: journalV, Renamed: p.renamed, Removed: p.Target.Missions, Index: p.index, Beside: p.Beside,
		Replaced: make(map[string]object.Hash), Own: make(map[record.ID]object.Hash),
	}
	for _, u := range p.updates {
		j.Refs = append(j.Refs, refMove{u.Ref, u.Old, u.New})
	}
	for _, u := range p.pushed() {
		j.Pushed = append(j.Pushed, refMove{u.Ref, u.Old, u.New})
	}
	for from, to := range p.rewrite.Replaced() {
		j.Replaced[from.String()] = to
	}
	for _, c := range p.chains {
		to := p.rewrite.Successor(c.Usable)
		if p.rewrite.Key == nil && !c.Usable.IsZero() && to != c.Usable && !to.IsZero() {
			j.Own[cmp.Or(p.renamed[c.ID], c.ID)] = to
		}
	}
	for id, to := range p.carry {
		j.Own[id] = to
	}
	for h := range p.doomed {
		j.Doomed = append(j.Doomed, h)
	}
	return j
}

// finish does what is in the journal. Each step can be repeated.
func (j *worklist) finish(ctx context.Context, w *workspace.Workspace, held *holder) (*Result, error) {
	done := &Result{Refs: len(j.Refs)}
	for _, r := range j.Pushed {
		done.Pushed = append(done.Pushed, git.Update{Ref: r.Ref, Old: r.Old, New: r.New})
	}
	err := j.trust(w)
	if err == nil { // before the branch: a commit in between would bring back what goes
		err = j.indexes(ctx, w, held)
	}
	if err == nil {
		err = j.move(ctx, w, held)
	}
	if err == nil {
		err = moved(w)
	}
	if err == nil {
		err = w.KeepAll(ctx, held.purge)
	}
	if err == nil {
		err = j.files(w)
	}
	if err == nil {
		err = j.erase(ctx, w, held, done)
	}
	if err == nil && len(done.roots) > 0 { // a keeper of what stays may be among what led to the rest
		err = w.KeepAll(ctx, held.purge)
	}
	if err == nil {
		err = w.Store.Dir().Remove(journalFile)
	}
	return done, err
}

// successor returns what replaces an object, itself if it stays.
func (j *worklist) successor(h object.Hash) object.Hash {
	if to, ok := j.Replaced[h.String()]; ok {
		return to
	}
	return h
}

// trust gives new events the trust of the old ones, before a ref moves.
func (j *worklist) trust(w *workspace.Workspace) error {
	own := maps.Clone(j.Own)
	for _, id := range w.Trust.Missions() { // of those that are archived no ref moves
		to := cmp.Or(j.Renamed[id], id)
		if err := w.Trust.Follow(to, id, j.successor, own[to]); err != nil {
			return err
		}
		delete(own, to)
	}
	for _, id := range j.Removed {
		if err := w.GiveUp(id); err != nil {
			return err
		}
	}
	for id, tip := range own {
		if err := w.Trust.Own(id, tip, object.Hash{}); err != nil {
			return err
		}
	}
	return nil
}

// moved notes that the refs have moved.
func moved(w *workspace.Workspace) error {
	for _, id := range w.Trust.Missions() {
		if err := w.Trust.Followed(id); err != nil {
			return err
		}
	}
	return nil
}

func (j *worklist) begun(ctx context.Context, repo *git.Repo) (bool, error) {
	now, err := repo.Refs(ctx, "refs/")
	return slices.ContainsFunc(j.Refs, func(r refMove) bool { return r.New != r.Old && now[r.Ref] == r.New }), err
}

func (j *worklist) move(ctx context.Context, w *workspace.Workspace, held *holder) error {
	if len(j.Refs) == 0 {
		return nil
	}
	var updates []git.Update
	for _, r := range j.Refs {
		updates = append(updates, git.Update{Ref: r.Ref, Old: r.Old, New: r.New})
		if r.Ref == ledger.ArchiveRef && r.New.IsZero() {
			if err := w.GiveUpArchive(ctx, held.purge); err != nil {
				return err
			}
		}
	}
	proc, err := held.repo(w.Repo).BeginRefs(ctx, "agent: purge")
	if err != nil {
		return err
	}
	return git.MoveRefs(ctx, w.Repo, held.purge, proc, updates)
}

func (j *worklist) files(w *workspace.Workspace) error {
	s := &fileScrub{successor: j.successor, renamed: j.Renamed}
	if _, err := s.files(withBeside(stateDirs(w.Repo), j.Beside)); err != nil {
		return fmt.Errorf("change local state: %w", err)
	}
	for _, id := range j.Removed {
		if err := w.Trust.Forget(id); err != nil {
			return err
		}
		if err := Release(w.Store, id); err != nil {
			return err
		}
	}
	return os.RemoveAll(w.Store.Dir().Path(unsearched))
}

// indexes changes users' indexes ahead of the branches that move under them.
func (j *worklist) indexes(ctx context.Context, w *workspace.Workspace, held *holder) error {
	changes := make(map[string][]indexChange)
	for _, c := range j.Index {
		changes[c.Worktree] = append(changes[c.Worktree], c)
	}
	for worktree, list := range changes {
		repo, err := git.Find(worktree)
		if err != nil {
			continue // it is gone
		}
		index := filepath.Join(repo.GitDir, "index")
		err = held.locking([]string{index}, func() error { return changeIndex(ctx, repo, list) })
		if err != nil {
			return w.Repo.Locked(fmt.Errorf("change the index of %s: %w", worktree, err), "index")
		}
	}
	return nil
}

// changeIndex changes a worktree's index, but for what was staged since. It
// restores the flags, which git forgets of an entry that is written.
func changeIndex(ctx context.Context, repo *git.Repo, list []indexChange) error {
	staged, err := stagedIn(ctx, repo)
	if err != nil {
		return err
	}
	var lines, sparse, unlooked strings.Builder
	for _, c := range list {
		if c.Was != "" && entryLine(staged[c.path()].Entry, repo.Format()) != c.Was { // older journals don't say
			continue
		}
		lines.WriteString(c.Line + "\x00")
		if strings.ContainsAny(c.Flags, "Ss") {
			sparse.WriteString(c.path() + "\x00")
		}
		if strings.ContainsAny(c.Flags, "hs") {
			unlooked.WriteString(c.path() + "\x00")
		}
	}
	update := func(text string, args ...string) error {
		if text == "" {
			return nil
		}
		_, err := repo.With(git.Others).Output(ctx, strings.NewReader(text), append([]string{"-C", repo.Top, "update-index", "-z"}, args...)...)
		return err
	}
	err = update(lines.String(), "--index-info")
	if err == nil {
		err = update(sparse.String(), "--skip-worktree", "--stdin")
	}
	if err == nil {
		err = update(unlooked.String(), "--assume-unchanged", "--stdin")
	}
	return err
}

// erase deletes doomed objects that nothing of the user's needs.
func (j *worklist) erase(ctx context.Context, w *workspace.Workspace, held *holder, done *Result) error {
	doomed := make(map[object.Hash]bool)
	for _, h := range j.Doomed {
		doomed[h] = true
	}
	leading, err := objectpurge.FindReferrers(ctx, w.Repo, doomed)
	if err != nil {
		return err
	}
	roots, err := leading.Roots(ctx, w.Repo, nil)
	if err != nil {
		return err
	}
	replaced := func(h object.Hash) bool { _, ok := j.Replaced[h.String()]; return ok }
	mine := func(r objectpurge.Root) bool { return own(w.Repo, r, replaced) }
	logs := make(map[string][]objectpurge.Root) // by ref
	for _, r := range roots {
		switch {
		case !mine(r):
			done.roots = append(done.roots, r)
		case r.Kind == objectpurge.Log:
			logs[r.Ref] = append(logs[r.Ref], r)
		case r.Kind == objectpurge.Ref:
			err := held.locking(objectpurge.Tables(w.Repo), func() error {
				return objectpurge.Unset(ctx, w.Repo, r)
			})
			if err != nil {
				return err
			}
		case noted[filepath.Base(r.Path)]:
			if err := os.Remove(r.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for ref, entries := range logs {
		name := filepath.FromSlash(ref)
		file, log := filepath.Join(w.Repo.RefsDir(), name), filepath.Join(w.Repo.RefsDir(), "logs", name)
		if filepath.Base(file) == "HEAD" { // of any worktree
			log = filepath.Join(filepath.Dir(file), "logs", "HEAD")
		}
		files := append(objectpurge.Tables(w.Repo), file, log)
		err := held.locking(files, func() error { return objectpurge.Forget(ctx, w.Repo, entries) })
		if err != nil {
			return err
		}
	}
	done.Erased, err = objectpurge.Objects(ctx, w.Repo, leading.Without(done.roots), mine)
	done.roots = append(done.roots, done.Erased.Taken...)
	return err
}
