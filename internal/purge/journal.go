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
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/archive"
	"gitagent/internal/erase"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/lock"
	"gitagent/internal/secret"
	"gitagent/internal/session"
	"gitagent/internal/transaction"
	"gitagent/internal/workspace"
)

// A journal is the work list of a purge, written when all new objects are there and before a ref moves. It has
// hashes and names, and not the secret: what that was, nobody has to know to finish.
type journal struct {
	V        int                     `json:"v"`
	Refs     []refMove               `json:"refs,omitempty"`
	Replaced map[string]git.Hex      `json:"replaced,omitempty"` // objects, by what takes their place; "" for nothing
	Own      map[ledger.ID]git.Hex   `json:"own,omitempty"`      // up to which this clone wrote the ledgers of missions
	Renamed  map[ledger.ID]ledger.ID `json:"renamed,omitempty"`
	Removed  []ledger.ID             `json:"removed,omitempty"`
	Index    []indexChange           `json:"index,omitempty"`
	Doomed   []git.Hex               `json:"doomed,omitempty"`
	Beside   []string                `json:"beside,omitempty"`
	Pushed   []refMove               `json:"pushed,omitempty"` // see [Report]
}

// A refMove is a [git.Update] in the journal.
type refMove struct {
	Ref string  `json:"ref"`
	Old git.Hex `json:"old,omitzero"`
	New git.Hex `json:"new,omitzero"`
}

const (
	journalV    = 1
	journalDir  = "purge"
	journalFile = journalDir + "/journal"
	purgeLock   = "purge"
)

// Unfinished reports whether a purge was begun and has not ended: it runs, or was killed.
func Unfinished(s session.Store) bool {
	_, err := s.Dir().Lstat(journalFile)
	return err == nil
}

// read returns the journal, nil if there is none.
func readJournal(s session.Store) (*journal, error) {
	data, err := s.Dir().ReadFile(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	j := new(journal)
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

func (j *journal) write(s session.Store) error {
	data, err := json.Marshal(j)
	if err == nil {
		err = replaceFile(s.Dir(), journalFile, data)
	}
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// journal is the plan's.
func (p *Plan) journal() *journal {
	j := &journal{
		V: journalV, Renamed: p.renamed, Removed: p.Target.Missions, Index: p.index, Beside: p.Beside,
		Replaced: make(map[string]git.Hex), Own: make(map[ledger.ID]git.Hex),
	}
	for _, u := range p.updates {
		j.Refs = append(j.Refs, refMove{u.Ref, git.Hex(u.Old), git.Hex(u.New)})
	}
	for _, u := range p.pushed() {
		j.Pushed = append(j.Pushed, refMove{u.Ref, git.Hex(u.Old), git.Hex(u.New)})
	}
	for from, to := range p.rewrite.Replaced() {
		j.Replaced[from.String()] = git.Hex(to)
	}
	for _, c := range p.chains {
		to := p.rewrite.Successor(c.Usable)
		if p.rewrite.Key == nil && !c.Usable.IsZero() && to != c.Usable && !to.IsZero() {
			j.Own[cmp.Or(p.renamed[c.ID], c.ID)] = git.Hex(to)
		}
	}
	for id, to := range p.carry {
		j.Own[id] = git.Hex(to)
	}
	for h := range p.doomed {
		j.Doomed = append(j.Doomed, git.Hex(h))
	}
	return j
}

// A Result says what a purge has done.
type Result struct {
	Refs     int
	Files    int // of ours, that were written anew
	Erased   erase.Report
	Stays    []Stay
	Pushed   []git.Update    // see [Report]
	Searched *erase.Searched // nil if there was nothing to search for

	roots []erase.Root // of Stays
}

// Do carries the plan out. If a turn was recorded meanwhile, or a ref has moved in any other way, the plan is
// made anew first. An error that comes when refs have moved leaves the journal, see [Complete].
func (p *Plan) Do(ctx context.Context) (*Result, error) {
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
		done, err := p.do(ctx, held)
		if err == nil {
			held.release() // a search may take longer than a hook waits
			err = forget(ctx, p.Workspace, p.Target.Missions)
			if err == nil {
				err = p.search(ctx, done)
			}
			return done, err
		}
		if !errors.Is(err, git.ErrConflict) || attempt == maxAttempts {
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

// maxAttempts is how often a purge is tried: in the end only what is not ours can move a ref, as all is locked.
const maxAttempts = 20

// besideOthers is how often the plan is made anew while others record: it takes as long as all objects take to be
// searched, and a hook does not wait for that.
const besideOthers = 3

func (p *Plan) do(ctx context.Context, held *holder) (*Result, error) {
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
	if err := p.unneeded(ctx, now); err != nil {
		return nil, err
	}
	// A session that runs says it again, and nobody knows later what to look for in files of ours.
	if err := p.remember(); err != nil {
		return nil, err
	}
	files, err := p.scrub().files(p.dirs())
	if err != nil {
		return nil, err
	}
	j := p.journal()
	if err := j.write(p.Store); err != nil {
		return nil, err
	}
	done, err := j.finish(ctx, p.Workspace, held)
	if errors.Is(err, git.ErrConflict) {
		switch begun, e := j.begun(ctx, p.Repo); {
		case e != nil:
			return nil, e
		case begun: // git was killed among them
			return j.complete(ctx, p.Workspace, held)
		}
		return nil, errors.Join(err, p.Store.Dir().Remove(journalFile))
	}
	if err != nil {
		return nil, err
	}
	done.Files = files
	return done, nil
}

// search says what keeps what was purged, and looks whether it is anywhere yet.
func (p *Purge) search(ctx context.Context, done *Result) (err error) {
	if done.Stays, err = p.staysIn(ctx, done.roots); err != nil {
		return err
	}
	if has := p.has(); has != nil {
		done.Searched, err = erase.Search(ctx, p.Repo, has)
	}
	return err
}

// unneeded dooms what only the old values of refs lead to, if more is to go than a text: of a turn or a mission
// no object stays. What the user's logs, stashes and indexes need, is kept later.
func (p *Plan) unneeded(ctx context.Context, now map[string]plumbing.Hash) error {
	t := p.Target
	if len(p.updates) == 0 || len(t.Turns)+len(t.Missions)+len(t.Paths.Specs)+len(p.Known) == 0 {
		return nil
	}
	now = maps.Clone(now)
	var old, kept []plumbing.Hash
	for _, u := range p.updates {
		if !u.Old.IsZero() && !strings.HasPrefix(u.Ref, archive.SeenRefs) { // others' missions
			old = append(old, u.Old)
		}
		if now[u.Ref] = u.New; u.New.IsZero() {
			delete(now, u.Ref)
		}
	}
	worktrees, err := p.Repo.Worktrees(ctx)
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
	stays, err := p.reach(ctx, kept, "--objects", "--no-object-names") // rev-list with both leaves out only what the newest commits have in common
	if err != nil {
		return err
	}
	for h := range stays {
		delete(goes, h)
		delete(commits, h)
	}
	err = p.unlost(ctx, goes, commits)
	maps.Copy(p.doomed, goes)
	return err
}

// reach are the commits that some lead to, or all objects.
func (p *Plan) reach(ctx context.Context, from []plumbing.Hash, args ...string) (map[plumbing.Hash]bool, error) {
	var in strings.Builder
	for _, h := range from {
		fmt.Fprintln(&in, h)
	}
	out, err := p.Repo.Output(ctx, strings.NewReader(in.String()), append([]string{"rev-list", "--stdin"}, args...)...)
	found := make(map[plumbing.Hash]bool)
	for line := range strings.Lines(string(out)) {
		found[plumbing.NewHash(strings.TrimSpace(line))] = true
	}
	return found, err
}

// remember notes what was found, by keyed hashes, so that it is not recorded again.
func (p *Plan) remember() error {
	if len(p.secrets) == 0 && len(p.rewrite.prompts) == 0 {
		return nil
	}
	m, err := secret.ReadMemory(p.Store.Dir())
	if err != nil {
		return err
	}
	if m == nil {
		m = new(secret.Memory)
	}
	m.Add(p.secrets...)
	m.AddPrompts(p.rewrite.prompts...)
	if err := m.Write(p.Store.Dir()); err != nil {
		return fmt.Errorf("remember what is purged: %w", err)
	}
	return nil
}

// Complete ends a purge that was killed; if there is none, the result is nil. What was recorded since on what
// the purge replaces, or says again what the clone remembers, is rewritten as well.
func Complete(ctx context.Context, w *workspace.Workspace) (*Result, error) {
	if !Unfinished(w.Store) {
		return nil, nil
	}
	held, err := hold(ctx, w)
	if err != nil {
		return nil, err
	}
	defer held.release()
	j, err := readJournal(w.Store)
	if err != nil || j == nil { // the other process was not dead, and has ended
		return nil, err
	}
	done, err := j.complete(ctx, w, held)
	for attempt := 1; errors.Is(err, git.ErrConflict) && attempt < maxAttempts; attempt++ { // there were locks of the dead
		done, err = j.complete(ctx, w, held)
	}
	if err != nil {
		return nil, fmt.Errorf("complete a purge that was begun: %w", err)
	}
	held.release()
	if err := forget(ctx, w, j.Removed); err != nil {
		return nil, err
	}
	p, err := remembered(w, j.Beside)
	if err == nil {
		err = p.search(ctx, done)
	}
	if err != nil || done.Searched == nil || len(done.Searched.Found) == 0 {
		return done, err
	}
	plan, err := p.Plan(ctx) // a session that ran may have said it once more, after another purge
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	return plan.Do(ctx)
}

// remembered is a purge of what the clone remembers.
func remembered(w *workspace.Workspace, beside []string) (*Purge, error) {
	p := &Purge{Workspace: w, Beside: beside}
	m, err := secret.ReadMemory(w.Store.Dir())
	if m.Finds() {
		p.Target.Finder = m.Finder()
	}
	return p, err
}

// forget drops the states of sessions that recorded to missions which are gone. Their locks must be free.
func forget(ctx context.Context, w *workspace.Workspace, missions []ledger.ID) error {
	for _, id := range missions {
		if err := w.Store.Forget(ctx, string(id)); err != nil {
			return err
		}
	}
	return nil
}

// collected forgets successors that are not here: no ref had moved to them, and a `git gc` has taken them. What
// the clone remembers is rewritten anew; of the rest it is said that it stays.
func (j *journal) collected(objects *git.Objects) {
	gone := func(h git.Hex) bool { return !h.IsZero() && objects.Has(h.Hash()) != nil }
	maps.DeleteFunc(j.Replaced, func(_ string, to git.Hex) bool { return gone(to) })
	maps.DeleteFunc(j.Own, func(_ ledger.ID, tip git.Hex) bool { return gone(tip) })
	j.Index = slices.DeleteFunc(j.Index, func(c indexChange) bool {
		what, _, _ := strings.Cut(c.Line, "\t")
		_, hash, _ := strings.Cut(what, " ")
		h, err := git.ParseHash(hash)
		return err == nil && gone(git.Hex(h))
	})
}

func (j *journal) complete(ctx context.Context, w *workspace.Workspace, held *holder) (*Result, error) {
	purge, err := remembered(w, j.Beside) // a turn that came in between may have said it again
	if err != nil {
		return nil, err
	}
	purge.Target.Missions = j.Removed
	p := &Plan{Purge: purge, objects: w.Repo.Objects(ctx)}
	defer p.Close()
	j.collected(p.objects)
	for _, r := range j.Refs {
		if r.Ref == MapRef && p.objects.Has(r.New.Hash()) == nil { // it may be of others, who were fetched
			m, err := ReadMap(p.objects, r.New.Hash())
			if err != nil {
				return nil, err
			}
			p.Map = m
		}
	}
	p.renamed = j.Renamed
	known := make(map[plumbing.Hash]plumbing.Hash)
	for from, to := range j.Replaced {
		known[plumbing.NewHash(from)] = to.Hash()
	}
	if err := p.rewriteAll(ctx, nil, known); err != nil {
		return nil, err
	}
	p.index, p.doomed = j.Index, make(map[plumbing.Hash]bool)
	for from := range p.rewrite.Replaced() {
		p.doomed[from] = true
	}
	for _, h := range j.Doomed {
		p.doomed[h.Hash()] = true
	}
	if err := p.objects.Flush(); err != nil {
		return nil, err
	}
	now := p.journal()
	maps.Copy(now.Own, j.Own)
	for from, to := range j.Replaced {
		now.Replaced[from] = to
	}
	for _, r := range j.Pushed {
		if !slices.ContainsFunc(now.Pushed, func(n refMove) bool { return n.Ref == r.Ref }) {
			now.Pushed = append(now.Pushed, r)
		}
	}
	if err := now.write(w.Store); err != nil {
		return nil, err
	}
	return now.finish(ctx, w, held)
}

// A holder has every mission and session to itself.
type holder struct {
	purge *lock.Lock
	all   []*lock.Lock
}

// hold waits until no other process of ours records or purges. It removes the locks that the git of a dead
// purge left.
func hold(ctx context.Context, w *workspace.Workspace) (*holder, error) {
	purge, err := w.Store.Lock(ctx, purgeLock)
	if err != nil {
		return nil, err
	}
	h := &holder{purge: purge}
	if h.all, err = w.Store.LockAll(ctx); err == nil && purge.Left().Words != nil {
		if err = git.DropLeftLocks(ctx, purge.Left()); err == nil {
			err = purge.Done()
		}
	}
	if err != nil {
		h.release()
		return nil, fmt.Errorf("keep others from recording: %w", err)
	}
	return h, nil
}

func (h *holder) release() {
	for _, l := range h.all {
		l.Release()
	}
	if h.purge != nil {
		h.purge.Release()
	}
	*h = holder{}
}

// locking runs do, in which git locks files: what it leaves there if it is killed, hold removes.
func (h *holder) locking(files []string, do func() error) error {
	return h.purge.With(lock.Note{At: time.Now(), Words: files}, do)
}

// repo is a repository whose gits hold the locks as well.
func (h *holder) repo(r *git.Repo) *git.Repo {
	r = r.Holding(h.purge.File())
	for _, l := range h.all {
		r = r.Holding(l.File())
	}
	return r
}

// finish does what is in the journal, from wherever it stands: each step is done, or can be done again.
func (j *journal) finish(ctx context.Context, w *workspace.Workspace, held *holder) (*Result, error) {
	done := &Result{Refs: len(j.Refs)}
	for _, r := range j.Pushed {
		done.Pushed = append(done.Pushed, git.Update{Ref: r.Ref, Old: r.Old.Hash(), New: r.New.Hash()})
	}
	err := j.trust(w)
	if err == nil {
		err = j.move(ctx, w, held)
	}
	if err == nil {
		err = j.files(w)
	}
	if err == nil {
		err = j.indexes(ctx, w, held)
	}
	if err == nil {
		err = j.erase(ctx, w, held, done)
	}
	if err == nil {
		err = w.Store.Dir().Remove(journalFile)
	}
	return done, err
}

// successor is what takes the place of an object: itself if it stays.
func (j *journal) successor(h plumbing.Hash) plumbing.Hash {
	if to, ok := j.Replaced[h.String()]; ok {
		return to.Hash()
	}
	return h
}

// trust notes of the new events, before a ref leads to them, what was known of the old ones.
func (j *journal) trust(w *workspace.Workspace) error {
	for _, r := range j.Refs {
		id, err := ledger.ParseID(r.Ref[strings.LastIndexByte(r.Ref, '/')+1:])
		if err != nil || r.Ref != id.Ref() || r.Old.IsZero() {
			continue
		}
		if err := w.Trust.Follow(cmp.Or(j.Renamed[id], id), id, j.successor); err != nil {
			return err
		}
	}
	for id, tip := range j.Own {
		if err := w.Trust.Own(id, tip.Hash(), plumbing.ZeroHash); err != nil {
			return err
		}
	}
	return nil
}

// begun reports whether a ref has moved.
func (j *journal) begun(ctx context.Context, repo *git.Repo) (bool, error) {
	now, err := repo.Refs(ctx, "refs/")
	return slices.ContainsFunc(j.Refs, func(r refMove) bool { return r.New != r.Old && now[r.Ref] == r.New.Hash() }), err
}

// move moves the refs, all together.
func (j *journal) move(ctx context.Context, w *workspace.Workspace, held *holder) error {
	if len(j.Refs) == 0 {
		return nil
	}
	var updates []git.Update
	for _, r := range j.Refs {
		updates = append(updates, git.Update{Ref: r.Ref, Old: r.Old.Hash(), New: r.New.Hash()})
	}
	proc, err := held.repo(w.Repo).BeginRefs(ctx, "agent: purge")
	if err != nil {
		return err
	}
	return transaction.MoveRefs(ctx, w.Repo, held.purge, proc, updates)
}

// files lets the files of ours follow.
func (j *journal) files(w *workspace.Workspace) error {
	s := &scrub{successor: j.successor, renamed: j.Renamed}
	if _, err := s.files(append(stateDirs(w.Repo), j.Beside...)); err != nil {
		return fmt.Errorf("change local state: %w", err)
	}
	for _, id := range j.Removed {
		if err := w.Trust.Forget(id); err != nil {
			return err
		}
	}
	for _, dir := range unsearched {
		if err := os.RemoveAll(w.Store.Dir().Path(dir)); err != nil {
			return err
		}
	}
	return nil
}

// indexes lets the users' indexes follow. Git forgets the flags of an entry that is written anew.
func (j *journal) indexes(ctx context.Context, w *workspace.Workspace, held *holder) error {
	changes := make(map[string][]indexChange)
	for _, c := range j.Index {
		changes[c.Worktree] = append(changes[c.Worktree], c)
	}
	for worktree, list := range changes {
		repo, err := git.Find(worktree)
		if err != nil {
			continue // it is gone
		}
		var lines, sparse, unlooked strings.Builder
		for _, c := range list {
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
			_, err := w.Repo.Others().Output(ctx, strings.NewReader(text), append([]string{"-C", worktree, "update-index", "-z"}, args...)...)
			return err
		}
		err = held.locking([]string{filepath.Join(repo.GitDir, "index")}, func() error {
			err := update(lines.String(), "--index-info")
			if err == nil {
				err = update(sparse.String(), "--skip-worktree", "--stdin")
			}
			if err == nil {
				err = update(unlooked.String(), "--assume-unchanged", "--stdin")
			}
			return err
		})
		if err != nil {
			return w.Repo.Locked(fmt.Errorf("change the index of %s: %w", worktree, err), "index")
		}
	}
	return nil
}

// erase lets the objects go, but for what the user's own refs, stashes and indexes need.
func (j *journal) erase(ctx context.Context, w *workspace.Workspace, held *holder, done *Result) error {
	doomed := make(map[plumbing.Hash]bool)
	for _, h := range j.Doomed {
		doomed[h.Hash()] = true
	}
	leading, err := erase.Lead(ctx, w.Repo, doomed)
	if err != nil {
		return err
	}
	roots, err := leading.Roots(ctx, w.Repo, nil)
	if err != nil {
		return err
	}
	replaced := func(h plumbing.Hash) bool { _, ok := j.Replaced[h.String()]; return ok }
	mine := func(r erase.Root) bool { return own(w.Repo, r, replaced) }
	logs := make(map[string][]erase.Root) // by ref
	for _, r := range roots {
		switch {
		case !mine(r):
			done.roots = append(done.roots, r)
		case r.Kind == erase.Log:
			logs[r.Ref] = append(logs[r.Ref], r)
		case noted[filepath.Base(r.Path)]:
			if err := os.Remove(r.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for ref, entries := range logs {
		name := filepath.FromSlash(ref)
		file, log := filepath.Join(w.Repo.CommonDir, name), filepath.Join(w.Repo.CommonDir, "logs", name)
		if filepath.Base(file) == "HEAD" { // of any worktree
			log = filepath.Join(filepath.Dir(file), "logs", "HEAD")
		}
		err := held.locking([]string{file, log}, func() error { return erase.Forget(ctx, w.Repo, entries) })
		if err != nil {
			return err
		}
	}
	done.Erased, err = erase.Objects(ctx, w.Repo, leading.Without(done.roots), mine)
	done.roots = append(done.roots, done.Erased.Taken...)
	return err
}
