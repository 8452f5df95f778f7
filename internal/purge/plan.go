package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/archive"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// A Purge is what a person asks for.
type Purge struct {
	*workspace.Workspace
	Target Target
	// Theirs says that commits of the user's own, on branches, which hold it or come after one that does, are
	// written anew as well.
	Theirs bool
	// Beside are directories of ours outside of the repository: copies of handoffs, logs of terminals.
	Beside []string

	// Of a map that is applied, see [Apply]:
	Known   map[git.Hash]git.Hash // commits whose successors are known
	Landing string                // refs to what was just fetched, which is rewritten as well; "" for none
	Map     *Map                  // united with the one that is here; nil for that one alone
}

// A Plan is everything that a purge will do, as far as the refs stay as they are.
type Plan struct {
	*Purge
	Report

	rewrite   *Rewrite
	secrets   [][]byte // that were found
	objects   *git.Objects
	refs      map[string]git.Hash // all of the repository but symbolic ones, as they were read
	chains    []Chain
	archive   *archive.Index
	archived  map[record.ID]archive.Entry // that are here and have no refs
	besides   map[record.ID]archive.Entry // of missions that have refs
	inArchive []record.ID                 // whose entries there change
	renamed   map[record.ID]record.ID
	carry     map[record.ID]git.Hash // see carried
	updates   []git.Update
	index     []indexChange
	staged    map[string]map[git.Hash]bool // what else is staged in the indexes that follow, by their paths
	doomed    map[git.Hash]bool            // what is replaced, and all that holds the secret
	goes      map[git.Hash]bool            // of it, and of what leads to it, all that nothing of the user's needs
}

// Plan looks for what is to be purged, and computes what takes its place. Nothing is changed. The caller
// closes the plan.
func (p *Purge) Plan(ctx context.Context) (*Plan, error) {
	if err := p.free(ctx); err != nil {
		return nil, err
	}
	plan, err := p.plan(ctx, nil)
	if err != nil || !p.Theirs || len(plan.Commits) == 0 {
		return plan, err
	}
	defer plan.Close() // what the user's commits become depends on all of them
	return p.plan(ctx, plan.Commits)
}

func (p *Purge) plan(ctx context.Context, theirs []RewrittenCommit) (*Plan, error) {
	plan := &Plan{Purge: p, objects: p.Repo.Objects(ctx)}
	err := plan.rewriteAll(ctx, theirs, p.Known)
	if err == nil {
		plan.index, err = plan.indexChanges(ctx)
	}
	if err == nil {
		plan.doomed = make(map[git.Hash]bool)
		for from := range plan.rewrite.Replaced() {
			plan.doomed[from] = true
		}
		err = plan.report(ctx)
	}
	if err != nil {
		plan.Close()
		return nil, fmt.Errorf("plan the purge: %w", err)
	}
	return plan, nil
}

// Close ends the plan. What was not done is forgotten.
func (p *Plan) Close() { p.objects.Close() }

// rewriteAll computes what takes the place of everything, and which refs move. known are objects whose
// successors are known already.
func (p *Plan) rewriteAll(ctx context.Context, theirs []RewrittenCommit, known map[git.Hash]git.Hash) error {
	var err error
	if p.refs, err = p.Repo.OwnRefs(ctx); err != nil {
		return err
	}
	if err := p.readArchive(); err != nil {
		return err
	}
	if p.chains, err = p.ledgers(ctx); err != nil {
		return err
	}
	p.rewrite = NewRewrite(p.Repo, p.objects, p.Target, p.Trust.Keys().Own, known)
	p.rewrite.Theirs = make(map[git.Hash]bool)
	for _, t := range theirs {
		p.rewrite.Theirs[t.Hash] = true
	}
	if err := p.rewrite.Ledgers(ctx, p.chains); err != nil {
		return err
	}
	more, err := p.more(ctx)
	if err == nil && len(more) > 0 {
		err = p.rewrite.Ledgers(ctx, more)
	}
	if err != nil {
		return err
	}
	p.renamed = p.rewrite.Renamed()
	if p.carry, err = p.carried(ctx); err != nil {
		return err
	}
	p.updates, err = p.moves(ctx)
	return err
}

// ErrCheckedOut reports a mission that can't go because a worktree has its branch.
var ErrCheckedOut = errors.New("its branch is checked out")

// free makes sure that no worktree is on the branch of a mission that goes.
func (p *Purge) free(ctx context.Context) error {
	for _, id := range p.Target.Missions {
		if _, err := ledger.Tip(ctx, p.Repo, id); err != nil {
			return fmt.Errorf("mission %s: %w", id, err)
		}
		path, err := p.Repo.WorktreeOf(ctx, p.Branch(id))
		if err == nil && path != "" {
			err = fmt.Errorf("mission %s: %w in %s", id, ErrCheckedOut, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ledgers are those of all missions, each with how much of it the user may rely on.
func (p *Plan) ledgers(ctx context.Context) ([]Chain, error) {
	var list []Chain
	for _, id := range slices.Concat(missions(p.refs), slices.Sorted(maps.Keys(p.archived))) {
		tip := p.tip(id)
		s, err := p.TrustLevel(ctx, p.objects, id, tip)
		if err != nil {
			return nil, err
		}
		list = append(list, Chain{ID: id, Tip: tip, Usable: s.Commit})
	}
	return list, nil
}

// tip is where the ledger of a mission ends; zero if it is not here.
func (p *Plan) tip(id record.ID) git.Hash {
	if tip, ok := p.refs[id.Ref()]; ok {
		return tip
	}
	return p.archived[id].Ledger
}

// missions are those that have a ledger among the refs, in order.
func missions(refs map[string]git.Hash) []record.ID {
	var ids []record.ID
	for ref := range refs {
		id, err := record.ParseID(ref[strings.LastIndexByte(ref, '/')+1:])
		if err == nil && id.Ref() == ref {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// moves are the refs that move, in order of their names: those of missions, which may get new names, our
// branches and what a remote had of them, and with Theirs the user's branches. A fetch that was killed leaves
// refs of its own: they go.
func (p *Plan) moves(ctx context.Context) ([]git.Update, error) {
	var list []git.Update
	move := func(ref, name string, to git.Hash) {
		from := p.refs[ref]
		switch {
		case ref != name && !to.IsZero():
			list = append(list, git.Update{Ref: ref, Old: from}, git.Update{Ref: name, New: to, Old: p.refs[name]})
		case from != to:
			list = append(list, git.Update{Ref: ref, New: to, Old: from})
		}
	}
	for ref, tip := range p.refs {
		to := p.rewrite.Successor(tip)
		id, err := record.ParseID(ref[strings.LastIndexByte(ref, '/')+1:])
		name := id
		if fresh, ok := p.renamed[id]; ok {
			name = fresh
		}
		switch _, branch := p.MissionOf(ref); {
		case err == nil && ref == id.Ref():
			move(ref, name.Ref(), to)
		case err == nil && ref == id.NotesRef():
			if slices.Contains(p.Target.Missions, id) {
				to = git.Hash{}
			} else if to, err = p.rewrite.Notes(ctx, id, tip); err != nil {
				return nil, err
			}
			move(ref, name.NotesRef(), to)
		case branch:
			if slices.Contains(p.Target.Missions, id) && p.rewrite.Ours()[tip] {
				to = git.Hash{}
			}
			move(ref, p.Branch(name), to)
		case strings.HasPrefix(ref, "refs/heads/"), strings.HasPrefix(ref, "refs/remotes/"):
			if mine, err := p.mine(ref, tip); err != nil {
				return nil, err
			} else if !mine {
				move(ref, ref, to)
			}
		case p.Landing != "" && strings.HasPrefix(ref, p.Landing):
			if to, err = p.landedMove(ctx, ref, tip); err != nil {
				return nil, err
			}
			move(ref, ref, to)
		case strings.HasPrefix(ref, "refs/agent/remotes/") && p.replaced(tip), strings.HasPrefix(ref, archive.SeenRefs) && p.spoiled(ref):
			move(ref, ref, git.Hash{})
		}
	}
	kept, err := p.archiveMoves(ctx)
	if err != nil {
		return nil, err
	}
	list = append(list, kept...)
	if u, err := p.mapMove(); err != nil {
		return nil, err
	} else if u != nil {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b git.Update) int { return strings.Compare(a.Ref, b.Ref) })
	return list, nil
}

// mine reports whether a ref is a branch of the user's, or what a remote had of one, that ends in a commit of his
// own. Others can have purged that commit, as a ledger keeps those that turns began and ended with. He has not said
// that his branches may move.
func (p *Plan) mine(ref string, tip git.Hash) (bool, error) {
	if _, known := p.Known[tip]; !known || p.Theirs || strings.Contains(ref, strings.TrimPrefix(p.Branch(""), "refs/heads")) {
		return false, nil
	}
	c, err := p.objects.Commit(tip)
	if err != nil {
		return false, err
	}
	return !isOurs(c.Message), nil
}

// replaced reports whether a commit is.
func (p *Plan) replaced(commit git.Hash) bool { return p.rewrite.Successor(commit) != commit }

// An indexChange is an entry of a user's index that follows the branch which moves under it.
type indexChange struct {
	Worktree string `json:"worktree"`
	Was      string `json:"was"`  // the entry that it takes the place of, mode and hash: any other is the user's
	Line     string `json:"line"` // for `git update-index --index-info`
	// Flags is the letter of `git ls-files -v`, if it says that a file is left out of a sparse checkout (S), is
	// not to be looked at (h), or both (s).
	Flags string `json:"flags,omitempty"`
}

// entryLine is how git names what an index has at a path.
func entryLine(e git.Entry, format git.Format) string {
	return fmt.Sprintf("%o %s", uint32(e.Mode), format.Text(e.Hash))
}

// path is that of the entry.
func (c indexChange) path() string {
	_, path, _ := strings.Cut(c.Line, "\t")
	return path
}

// indexChanges are the entries of indexes that are as HEAD has them, where HEAD is rewritten. Whatever else is
// staged is the user's, and stays.
func (p *Plan) indexChanges(ctx context.Context) ([]indexChange, error) {
	list, err := p.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var changes []indexChange
	p.staged = make(map[string]map[git.Hash]bool)
	for _, w := range list {
		to := p.rewrite.Successor(w.Head)
		if w.Head.IsZero() || to == w.Head || to.IsZero() || !p.moved(w.Branch) {
			continue
		}
		repo, err := git.Find(w.Path)
		if err != nil {
			continue // its directory is gone
		}
		was, err := p.objects.TreeOf(w.Head)
		if err != nil {
			return nil, err
		}
		is, err := p.objects.TreeOf(to)
		if err != nil {
			return nil, err
		}
		differ, whole, err := p.objects.Differences(was, []git.Hash{is}, maxDiffer)
		if err == nil && !whole {
			err = fmt.Errorf("%s and %s differ in more than %d files", w.Head, to, maxDiffer)
		}
		if err != nil {
			return nil, err
		}
		staged, err := stagedIn(ctx, repo)
		if err != nil {
			return nil, err
		}
		for _, d := range differ {
			if e := staged[d.Path]; e.Entry == d.Old {
				changes = append(changes, indexChange{w.Path, entryLine(d.Old, repo.Format()), entryLine(d.New, repo.Format()) + "\t" + d.Path, strings.Trim(e.flags, "H")})
				delete(staged, d.Path)
			}
		}
		left := make(map[git.Hash]bool)
		for _, e := range staged {
			left[e.Hash] = true
		}
		p.staged[filepath.Join(repo.GitDir, "index")] = left
	}
	return changes, nil
}

// maxDiffer bounds in how many files a rewritten state differs from what it was.
const maxDiffer = 1_000_000

func (p *Plan) moved(ref string) bool {
	return slices.ContainsFunc(p.updates, func(u git.Update) bool { return u.Ref == ref && !u.New.IsZero() })
}

// A stagedEntry is an entry of an index, with the letter of `git ls-files -v`.
type stagedEntry struct {
	git.Entry
	flags string
}

// stagedIn is what a worktree's index holds, by path; of a conflict, with the number of the side.
func stagedIn(ctx context.Context, repo *git.Repo) (map[string]stagedEntry, error) {
	out, err := repo.Others().Output(ctx, nil, "-C", repo.Top, "ls-files", "-z", "--stage", "-v")
	if err != nil {
		return nil, err
	}
	found := make(map[string]stagedEntry)
	for line := range bytes.SplitSeq(out, []byte{0}) {
		what, path, ok := strings.Cut(string(line), "\t")
		var e stagedEntry
		var hash string
		var stage int
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(what, "%s %o %s %d", &e.flags, &e.Mode, &hash, &stage); err != nil {
			return nil, fmt.Errorf("read the index of %s: %w", repo.Top, err)
		}
		if e.Hash = git.NewHash(hash); stage > 0 {
			path += fmt.Sprintf("\x00%d", stage) // no path of a tree's
		}
		found[path] = e
	}
	return found, nil
}

// scrub is what becomes of files of ours before anything else does: nobody knows later what to look for.
func (p *Plan) scrub() *fileScrub { return &fileScrub{finder: p.Target.Finder, prompts: p.rewrite} }

// dirs are the directories with files of ours.
func (p *Purge) dirs() []string { return append(stateDirs(p.Repo), p.Beside...) }
