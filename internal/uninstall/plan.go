// Package uninstall takes all that is git-agent's out of a repository: missions
// with their worktrees, branches and notes, archived ones too; refs of fetches
// and purges; our settings; local state. Commits on the user's branches, their
// notes and worktrees stay. Remotes are not asked.
//
// [Look] says what goes and what is in the way; then [Plan.Do] does it. If it
// is killed, the next one completes it, because what tells what is ours goes
// last: worktrees first, then branches, refs (the ledgers' last), the
// configuration, and the local state with its notes of dead processes.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrRecording reports that recording is on: the next hook would record again.
var ErrRecording = errors.New("recording is switched on here")

// A Plan is what goes.
type Plan struct {
	Missions int
	Turns    int // recorded in them, not inherited by forks
	Work     []*missionstore.Removed
	Stays    []error // why some of Work can't go, so that nothing can
	Nothing  bool    // there is nothing of ours

	w     *workspace.Workspace
	force bool
	tips  map[record.ID]object.Hash // of the ledgers
	refs  map[string]object.Hash    // the missions' branches, and those that remotes had, as last seen
}

// The namespaces of our refs.
const (
	agentRefs = "refs/agent/"
	notesRefs = "refs/notes/agent/"
)

// Look plans to remove everything. With force even uncommitted changes and the
// user's commits on missions' branches go.
func Look(ctx context.Context, w *workspace.Workspace, force bool) (*Plan, error) {
	if err := recording(ctx, w); err != nil {
		return nil, err
	}
	p := &Plan{w: w, force: force, refs: make(map[string]object.Hash)}
	refs, err := w.Repo.Refs(ctx, agentRefs, notesRefs, w.Branch(""))
	if err != nil {
		return nil, err
	}
	archived, err := p.count(ctx)
	if err == nil {
		err = p.look(ctx, refs)
	}
	if err == nil {
		err = p.lookTracked(ctx)
	}
	if err == nil {
		err = p.lookArchived(ctx, archived)
	}
	if err != nil {
		return nil, err
	}
	p.Nothing, err = nothing(ctx, w)
	for ref := range refs {
		p.Nothing = p.Nothing && strings.HasPrefix(ref, "refs/heads/")
	}
	return p, err
}

func recording(ctx context.Context, w *workspace.Workspace) error {
	on, err := w.Enabled(ctx)
	if err == nil && on {
		err = ErrRecording
	}
	return err
}

// count counts missions and turns that are readable, and returns the archived.
func (p *Plan) count(ctx context.Context) (archived []record.ID, err error) {
	tips, err := ledger.List(ctx, p.w.Repo)
	if err != nil {
		return nil, err
	}
	p.tips = tips
	entries, err := ledger.ListArchived(ctx, p.w.Repo)
	if err != nil && !unread(err) {
		return nil, err
	}
	for _, e := range entries {
		archived = append(archived, e.ID)
		tips[e.ID] = e.Ledger
	}
	p.Missions = len(tips)
	lines, err := turns.Lines(ctx, p.w.Repo, tips)
	if err != nil && !unread(err) {
		return nil, err
	}
	for _, l := range lines {
		p.Turns += l.Turns
		if l.ForkedFrom != nil {
			p.Turns -= min(l.ForkedFrom.Turn, l.Turns)
		}
	}
	return archived, nil
}

func unread(err error) bool { return git.Lost(err) || errors.As(err, new(*ledger.UnreadError)) }

func (p *Plan) look(ctx context.Context, refs map[string]object.Hash) error {
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		id, ok := p.w.MissionOf(ref)
		if _, live := refs[id.Ref()]; !ok || !live {
			continue // presumably the user's
		}
		p.refs[ref] = refs[ref]
		gone, err := missionstore.Removal(ctx, p.w, id, refs, p.force)
		if err == nil && gone.Worktree != "" && isLocked(gone.Worktree) {
			err = fmt.Errorf("mission %s: git has locked %s: %w", id, gone.Worktree, missionstore.ErrInUse)
		}
		if err := p.add(gone, err); err != nil {
			return err
		}
	}
	return nil
}

// lookTracked finds missions' branches as git has noted them of remotes.
func (p *Plan) lookTracked(ctx context.Context) error {
	refs, err := p.w.Repo.Refs(ctx, "refs/remotes/")
	for ref, tip := range refs {
		at := strings.LastIndex(ref, "/"+p.w.BranchName(""))
		if at < 0 {
			continue
		}
		id, _ := p.w.MissionOf("refs/heads" + ref[at:])
		if _, ok := p.tips[id]; ok {
			p.refs[ref] = tip
		}
	}
	return err
}

func isLocked(worktree string) bool {
	at, err := git.Find(worktree)
	if err != nil {
		return false // it is gone
	}
	_, err = os.Lstat(filepath.Join(at.GitDir, "locked"))
	return err == nil
}

// lookArchived looks at archived missions, whose branches may have more.
func (p *Plan) lookArchived(ctx context.Context, ids []record.ID) error {
	if p.force || len(ids) == 0 {
		return nil
	}
	_, left, err := missionstore.RemoveArchived(ctx, p.w, ids, false, true)
	p.Stays = append(p.Stays, left...)
	return err
}

func (p *Plan) add(gone *missionstore.Removed, err error) error {
	switch {
	case err == nil:
		p.Work = append(p.Work, gone)
	case errors.Is(err, missionstore.ErrInUse), errors.Is(err, missionstore.ErrUnmerged):
		p.Stays = append(p.Stays, err)
	default:
		return err
	}
	return nil
}

// nothing reports whether there is nothing of ours but refs.
func nothing(ctx context.Context, w *workspace.Workspace) (bool, error) {
	settings, err := settings(ctx, w.Repo)
	if err != nil || len(settings) > 0 {
		return false, err
	}
	for _, dir := range append(w.Repo.Glob("worktrees/*/agent"), w.Store.Dir().Path(".")) {
		if _, err := os.Lstat(dir); err == nil {
			return false, nil
		}
	}
	return true, nil
}

// configFiles returns the configuration files of the repository and its
// worktrees.
func configFiles(repo *git.Repo) []string {
	return slices.Concat(repo.Glob("config"), repo.Glob("config.worktree"), repo.Glob("worktrees/*/config.worktree"))
}

// settings returns arguments by which git config takes out our settings:
// consent, and which notes git copies when it rewrites commits.
func settings(ctx context.Context, repo *git.Repo) (commands [][]string, err error) {
	for _, file := range configFiles(repo) {
		conf, err := repo.ConfigFile(ctx, file)
		if err != nil {
			return nil, err
		}
		for key := range conf {
			if remote.IsConsent(key) {
				commands = append(commands, []string{"--file", file, "--unset-all", key})
			}
		}
		const rewriteRef = "notes.rewriteref"
		for _, ref := range slices.Compact(slices.Sorted(slices.Values(conf[rewriteRef]))) {
			if strings.HasPrefix(ref, notesRefs) {
				commands = append(commands, []string{"--file", file, "--fixed-value", "--unset-all", rewriteRef, ref})
			}
		}
	}
	return commands, nil
}
