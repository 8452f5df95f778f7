package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
)

// Do removes what the plan says. The objects stay until git collects garbage.
func (p *Plan) Do(ctx context.Context) error {
	for _, gone := range p.Work {
		if gone.Worktree == "" {
			continue
		}
		if err := missionstore.RemoveWorktree(ctx, p.w, gone.Worktree, p.force); err != nil {
			return fmt.Errorf("remove mission %s: %w", gone.ID, err)
		}
	}
	// A push that rests in the background ends when there is nothing to push.
	if err := p.w.Store.Dir().RemoveAll("push"); err != nil {
		return err
	}
	held, err := p.w.Store.LockOut(ctx)
	if err != nil {
		return err
	}
	err = p.alone(ctx, held)
	for _, l := range held {
		l.Release()
	}
	if err != nil {
		return err
	}
	// Some systems keep an open file, so the locks go once they are released.
	return p.w.Store.Dir().RemoveAll(".")
}

// alone does what needs all others locked out.
func (p *Plan) alone(ctx context.Context, held []*statedir.Lock) error {
	if err := recording(ctx, p.w); err != nil { // it may have been switched on meanwhile
		return err
	}
	if err := p.unkeep(ctx, held[0]); err != nil {
		return err
	}
	if err := p.removeRefs(ctx, held[0]); err != nil {
		return err
	}
	if err := removeRefFiles(p.w.Repo.RefsDir(), path.Dir(p.w.Branch("x"))); err != nil {
		return err
	}
	if err := p.unset(ctx, held[0]); err != nil {
		return err
	}
	// A git that was killed while it removed a worktree has left some of its
	// files. Those without gitdir belong to none; git prunes nothing else then.
	if _, err := p.w.Repo.Output(ctx, nil, "worktree", "prune", "--expire=never"); err != nil {
		return fmt.Errorf("remove what is left of worktrees: %w", err)
	}
	for _, dir := range p.w.Repo.Glob("worktrees/*") {
		if err := statedir.Of(dir).RemoveAll("."); err != nil {
			return err
		}
	}
	return p.w.Store.Clear()
}

// unkeep deletes what keeps missions whose refs others move.
func (p *Plan) unkeep(ctx context.Context, held *statedir.Lock) error {
	numbers, err := p.w.Repo.Kept(ctx)
	for _, n := range numbers {
		if err == nil {
			err = p.w.Repo.Keeper(n).Move(ctx, held, object.Hash{})
		}
	}
	return err
}

// removeRefs deletes all refs, those that say which missions there are last.
func (p *Plan) removeRefs(ctx context.Context, held *statedir.Lock) error {
	for _, choose := range []func() ([]git.Update, error){
		func() ([]git.Update, error) { return p.branches(ctx) },
		func() ([]git.Update, error) { return p.ours(ctx, func(ref string) bool { return !tells(ref) }) },
		func() ([]git.Update, error) { return p.ours(ctx, tells) },
	} {
		if err := ledgertx.Alone(ctx, p.w.Repo, held, "remove all", choose); err != nil {
			return fmt.Errorf("remove refs: %w", err)
		}
	}
	return nil
}

// tells reports whether a ref tells which missions there are.
func tells(ref string) bool {
	return strings.HasPrefix(ref, record.ID("").Ref()) || ref == ledger.ArchiveRef
}

// branches deletes the missions' branches if none has moved since Look.
func (p *Plan) branches(ctx context.Context) (updates []git.Update, err error) {
	now, err := p.w.Repo.Refs(ctx, p.w.Branch(""), "refs/remotes/")
	for ref, tip := range p.refs {
		switch at, ok := now[ref]; {
		case !ok || err != nil:
		case at != tip:
			return nil, fmt.Errorf("%s has moved meanwhile", ref)
		default:
			updates = append(updates, git.Update{Ref: ref, Old: tip})
		}
	}
	return updates, err
}

// ours deletes chosen refs of ours; broken ones are left to [removeRefFiles].
func (p *Plan) ours(ctx context.Context, choose func(ref string) bool) (updates []git.Update, err error) {
	refs, err := p.w.Repo.Refs(ctx, agentRefs, notesRefs)
	for ref, tip := range refs {
		if !tip.IsZero() && choose(ref) {
			updates = append(updates, git.Update{Ref: ref, Old: tip})
		}
	}
	return updates, err
}

// removeRefFiles removes the directories, locks and logs that git leaves of
// refs, but no directory of branches that is not empty. Reftables have none.
func removeRefFiles(refsDir, branches string) error {
	root, err := os.OpenRoot(refsDir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, logs := range []string{"", "logs"} {
		for _, refs := range []string{agentRefs, notesRefs} {
			if err := root.RemoveAll(filepath.Join(logs, filepath.FromSlash(refs))); err != nil {
				return fmt.Errorf("remove refs: %w", err)
			}
		}
		_ = root.Remove(filepath.Join(logs, "refs", "notes")) // if the user has no notes
		for dir := branches; dir != "refs/heads"; dir = path.Dir(dir) {
			_ = root.Remove(filepath.Join(logs, filepath.FromSlash(dir)))
		}
	}
	return nil
}

// unset takes our settings out of the repository's configuration.
func (p *Plan) unset(ctx context.Context, held *statedir.Lock) error {
	commands, err := settings(ctx, p.w.Repo)
	if err != nil || len(commands) == 0 {
		return err
	}
	files := slices.DeleteFunc(configFiles(p.w.Repo), func(file string) bool {
		_, err := os.Lstat(file + ".lock")
		return !errors.Is(err, fs.ErrNotExist) // it is not ours
	})
	return p.w.Repo.Locking(ctx, held, statedir.Note{Words: files}, func(repo *git.Repo) error {
		for _, args := range commands {
			if err := repo.Configure(ctx, args...); err != nil {
				return fmt.Errorf("take what is ours out of the configuration: %w", p.w.Repo.Locked(err, "config"))
			}
		}
		return nil
	})
}
