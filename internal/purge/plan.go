// Package purge takes a secret out of all that git-agent has recorded: what
// holds it is rewritten ([gitagent/internal/purgerewrite]), refs move together,
// and the old objects are deleted ([gitagent/internal/objectpurge]). Other
// clones learn of it by a map ([gitagent/internal/purgemap]), which is applied
// here as well.
//
//	plan.go         all that a purge will do; report.go what was found
//	archived.go     archived missions
//	landing.go      what was just fetched, and the map
//	seen.go         what a search of all objects tells of it
//	execute.go      a plan carried out; lockall.go its locks
//	files.go        local state
//	journal.go      the work list; complete.go ends a killed purge
//	unreachable.go  the user's commits that nothing refers to
//	apply.go        a map from a remote, applied here
//	held.go         what of it waits for a person; unasked.go what did not
//	removed.go      which commits the missions had that the user has let go
//	filter.go       missions follow a filter of the user's; filtermap.go what it did
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

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/purgemap"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// A Purge is what a person asks for.
type Purge struct {
	*workspace.Workspace
	Target purgerewrite.Target
	// Theirs says that commits on the user's branches that hold it, or descend
	// from one that does, are rewritten too.
	Theirs bool
	// Beside are our directories outside the repository: handoffs, terminal
	// logs.
	Beside []string

	// For a map that is applied, see [Apply]:
	Known   map[object.Hash]object.Hash // commits whose successors are known
	Landing string                      // refs to what was just fetched, which is rewritten as well; "" for none
	Map     *purgemap.Map               // united with the one that is here; nil for that one alone
	Given   map[object.Hash]object.Hash // files of ledgers whose successors are known
	Lacks   map[object.Hash][]string    // what goes of fetched states besides, see [purgerewrite.Rewrite]
	Agreed  map[object.Hash]object.Hash // what a person has accepted of it, which the user's key signs as well
}

// A Plan is all that a purge will do, provided that no ref moves.
type Plan struct {
	*Purge
	Report

	seen      *seen // what a search found; nil if nothing was searched for
	rewrite   *purgerewrite.Rewrite
	secrets   [][]byte // that were found
	objects   *git.Objects
	refs      map[string]object.Hash // all of the repository but symbolic ones, as they were read
	checkouts []git.Worktree         // as they were then
	chains    []purgerewrite.Chain
	archive   *ledger.Archive
	archived  map[record.ID]ledger.ArchiveEntry // that are here and have no refs
	besides   map[record.ID]ledger.ArchiveEntry // archived, of missions that also have refs
	inArchive []record.ID                       // whose entries there change
	renamed   map[record.ID]record.ID
	carry     map[record.ID]object.Hash // see carried
	updates   []git.Update
	index     []indexChange
	staged    map[string]map[object.Hash]bool // what else is staged in the indexes that follow, by their paths
	doomed    map[object.Hash]bool            // what is replaced, and all that holds the secret
	goes      map[object.Hash]bool            // what of doomed, and of what leads to it, the user does not need
}

// Plan computes the purge and changes nothing. The caller closes the plan.
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
		plan.doomed = make(map[object.Hash]bool)
		for from := range plan.rewrite.Replaced() {
			plan.doomed[from] = true
		}
		err = plan.report(ctx)
	}
	plan.seen = nil // it has all that refers to something
	if err != nil {
		plan.Close()
		return nil, fmt.Errorf("plan the purge: %w", err)
	}
	return plan, nil
}

// Close ends the plan, and forgets what was not executed.
func (p *Plan) Close() { p.objects.Close() }

// rewriteAll computes replacements and ref moves, given known successors.
func (p *Plan) rewriteAll(ctx context.Context, theirs []RewrittenCommit, known map[object.Hash]object.Hash) error {
	var err error
	if p.refs, err = p.Repo.OwnRefs(ctx); err != nil {
		return err
	}
	if p.checkouts, err = p.Repo.Worktrees(ctx); err != nil {
		return err
	}
	if err := p.readArchive(); err != nil {
		return err
	}
	if p.chains, err = p.ledgers(ctx); err != nil {
		return err
	}
	// After the refs are read: what they lead to was there before the search.
	if err := p.see(ctx); err != nil {
		return err
	}
	p.rewrite = purgerewrite.New(p.Repo, p.objects, p.Target, p.Trust.Keys().Own, known)
	p.rewrite.Given, p.rewrite.Lacks = p.Given, p.Lacks
	p.rewrite.Seen = p.seen.tells(p.Purge)
	p.rewrite.AllNotes = p.notes()
	p.rewrite.Theirs = make(map[object.Hash]bool)
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
	if gone, in := p.rewrite.GoesOn(); gone != "" && p.Map == nil {
		return &GoesOnError{gone, in}
	}
	p.renamed = p.rewrite.Renamed()
	if p.carry, err = p.carried(ctx); err != nil {
		return err
	}
	p.updates, err = p.moves(ctx)
	return err
}

// ErrCheckedOut reports a mission whose branch a worktree has, so it can't go.
var ErrCheckedOut = errors.New("its branch is checked out")

// A GoesOnError reports a mission of which another one has all, as a fork of its
// newest turn: nothing of it would go.
type GoesOnError struct{ Mission, In record.ID }

func (e *GoesOnError) Error() string {
	return fmt.Sprintf("mission %s: mission %s goes on from its newest turn, and has all of it", e.Mission, e.In)
}

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

// ledgers returns the ledgers of all missions, with how far they are usable.
func (p *Plan) ledgers(ctx context.Context) ([]purgerewrite.Chain, error) {
	ids := slices.Concat(missions(p.refs), slices.Sorted(maps.Keys(p.archived)))
	tips := make(map[record.ID]object.Hash)
	for _, id := range ids {
		tips[id] = p.tip(id)
	}
	relied := p.TrustCache(ctx, p.objects)
	if err := relied.Look(tips); err != nil {
		return nil, err
	}
	var list []purgerewrite.Chain
	for _, id := range ids {
		s, err := relied.Ask(id, tips[id])
		if err != nil {
			return nil, err
		}
		list = append(list, purgerewrite.Chain{ID: id, Tip: tips[id], Usable: s.Commit})
	}
	return list, nil
}

// notes returns the tips of all notes that may be rewritten.
func (p *Plan) notes() map[object.Hash]bool {
	tips := make(map[object.Hash]bool)
	for ref, tip := range p.refs {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		id, err := record.ParseID(name)
		if err == nil && (ref == id.NotesRef() || p.Landing != "" && ref == p.Landing+"notes/"+name) {
			tips[tip] = true
		}
	}
	for _, entries := range []map[record.ID]ledger.ArchiveEntry{p.archived, p.besides} {
		for _, e := range entries {
			tips[e.Notes] = true
		}
	}
	delete(tips, object.Hash{})
	return tips
}

func (p *Plan) tip(id record.ID) object.Hash {
	if tip, ok := p.refs[id.Ref()]; ok {
		return tip
	}
	return p.archived[id].Ledger
}

func missions(refs map[string]object.Hash) []record.ID {
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

// moves returns the ordered moves of refs: missions', which may get new names,
// our branches, what remotes had of them, and with Theirs the user's branches.
// Leftover landing refs go.
func (p *Plan) moves(ctx context.Context) ([]git.Update, error) {
	var list []git.Update
	move := func(ref, name string, to object.Hash) {
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
				to = object.Hash{}
			} else if to, err = p.rewrite.Notes(ctx, id, tip); err != nil {
				return nil, err
			}
			move(ref, name.NotesRef(), to)
		case branch:
			if slices.Contains(p.Target.Missions, id) && p.rewrite.Ours()[tip] {
				to = object.Hash{}
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
		case strings.HasPrefix(ref, "refs/agent/remotes/") && p.replaced(tip), strings.HasPrefix(ref, ledger.SeenArchives) && p.spoiled(ref):
			move(ref, ref, object.Hash{})
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

// mine reports whether a ref is the user's branch, or a remote's copy, ending
// in their own commit. Ledgers keep such commits, so others can have purged
// them, but these branches move only with Theirs.
func (p *Plan) mine(ref string, tip object.Hash) (bool, error) {
	if _, known := p.Known[tip]; !known || p.Theirs || strings.Contains(ref, strings.TrimPrefix(p.Branch(""), "refs/heads")) {
		return false, nil
	}
	c, err := p.objects.Commit(tip)
	if err != nil {
		return false, err
	}
	return !purgerewrite.IsOurs(c.Message), nil
}

func (p *Plan) replaced(commit object.Hash) bool { return p.rewrite.Successor(commit) != commit }

// An indexChange is an entry of a user's index that follows its branch.
type indexChange struct {
	Worktree string `json:"worktree"`
	Was      string `json:"was"`  // the mode and hash that it replaces: any other entry is the user's
	Line     string `json:"line"` // for `git update-index --index-info`
	// Flags is the letter of `git ls-files -v`: left out of a sparse checkout
	// (S), assumed unchanged (h), or both (s).
	Flags string `json:"flags,omitempty"`
}

func entryLine(e object.Entry, format object.Format) string {
	return fmt.Sprintf("%o %s", uint32(e.Mode), format.Text(e.Hash))
}

func (c indexChange) path() string {
	_, path, _ := strings.Cut(c.Line, "\t")
	return path
}

// indexChanges returns the entries of indexes that are as in a HEAD that is
// rewritten. Anything else that is staged is the user's, and stays.
func (p *Plan) indexChanges(ctx context.Context) ([]indexChange, error) {
	var changes []indexChange
	p.staged = make(map[string]map[object.Hash]bool)
	for _, w := range p.checkouts {
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
		differ, whole, err := gitdiff.Differences(p.objects, was, []object.Hash{is}, maxDiffer)
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
		left := make(map[object.Hash]bool)
		for _, e := range staged {
			left[e.Hash] = true
		}
		p.staged[filepath.Join(repo.GitDir, "index")] = left
	}
	return changes, nil
}

// maxDiffer bounds the files in which a rewritten state may differ.
const maxDiffer = 1_000_000

func (p *Plan) moved(ref string) bool {
	return slices.ContainsFunc(p.updates, func(u git.Update) bool { return u.Ref == ref && !u.New.IsZero() })
}

type stagedEntry struct {
	object.Entry
	flags string
}

// stagedIn returns a worktree's index by path, in a conflict with the stage.
func stagedIn(ctx context.Context, repo *git.Repo) (map[string]stagedEntry, error) {
	out, err := repo.With(git.Others).Output(ctx, nil, "-C", repo.Top, "ls-files", "-z", "--stage", "-v")
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
		if e.Hash = object.NewHash(hash); stage > 0 {
			path += fmt.Sprintf("\x00%d", stage) // no path of a tree's
		}
		found[path] = e
	}
	return found, nil
}

// scrub returns what is done to our files first, as it is unknown later.
func (p *Plan) scrub() *fileScrub { return &fileScrub{finder: p.Target.Finder, prompts: p.rewrite} }

func (p *Purge) dirs() []*statedir.Dir { return withBeside(stateDirs(p.Repo), p.Beside) }
