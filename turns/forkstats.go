package turns

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// A ForkStats is how much a fork has done since it began.
type ForkStats struct {
	Output int64         // tokens that the model wrote in the fork's own turns
	Size   *gitdiff.Size // of the changes; nil if unreadable or slow to compute
}

// Limits of what is read and compared for a list of forks.
const (
	maxGrown  = 100  // forks, the first of the list
	maxOwn    = 200  // turns of a fork
	maxGrowth = 2000 // paths that the turns of a fork changed
)

// StatsOfForks returns the stats of the first 100 forks in a list that have
// turns of their own. What can't be read is left out. The caller excludes
// untrusted forks, which may be made to take git long.
//
// Everything is read in batches over all forks, and one git compares it.
func StatsOfForks(ctx context.Context, repo *git.Repo, list []MissionLine) (map[record.ID]*ForkStats, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	reads := new(git.Reads)
	var all []*forkStats
	for _, l := range list {
		if !forked(l.Mission) || l.Last == nil || l.Last.Mission != l.ID || l.Turns-l.ForkedFrom.Turn >= maxOwn {
			continue
		}
		if len(all) == maxGrown {
			break
		}
		g := &forkStats{Reads: reads, line: l}
		g.Want(l.Tip, plumbing.CommitObject, git.MaxCommit, g.commit)
		all = append(all, g)
	}
	if err := reads.Run(objects); err != nil {
		return nil, err
	}
	for _, g := range all {
		g.wantTrees()
	}
	if err := reads.Run(objects); err != nil {
		return nil, err
	}
	grown := make(map[record.ID]*ForkStats)
	var sized []*ForkStats
	var pairs [][2]object.Hash
	for _, g := range all {
		grown[g.line.ID] = &g.growth
		if !slices.ContainsFunc(g.trees[:], object.Hash.IsZero) {
			pairs, sized = append(pairs, g.trees), append(sized, &g.growth)
		}
	}
	sizes, err := gitdiff.Sizes(ctx, repo, pairs)
	if ctx.Err() != nil {
		return nil, err
	}
	for i := range sizes {
		sized[i].Size = &sizes[i]
	}
	return grown, nil
}

type forkStats struct {
	*git.Reads
	line   MissionLine
	growth ForkStats
	files  int            // number of files that its turns changed
	code   object.Hash    // at the end of the last one
	trees  [2]object.Hash // at the fork point, and of code
}

func (g *forkStats) commit(content []byte, err error) {
	c, err := parseCommit(content, err)
	if err != nil {
		return
	}
	g.Want(c.Tree, plumbing.TreeObject, ledger.MaxTree, func(content []byte, err error) {
		if entries, err := g.Tree(content, err); err == nil && entries["turns"].Mode == filemode.Dir {
			g.Want(entries["turns"].Hash, plumbing.TreeObject, ledger.MaxTree, g.top)
		}
	})
}

const maxDirs = 3

func (g *forkStats) top(content []byte, err error) {
	entries, _ := g.Tree(content, err)
	dirs := ledger.NewestDirs(entries)
	for _, d := range dirs[:min(maxDirs, len(dirs))] {
		g.Want(d.Hash, plumbing.TreeObject, ledger.MaxTree, func(content []byte, err error) {
			entries, _ := g.Tree(content, err)
			for _, r := range ledger.NewestRecords(d.Number, entries) {
				if r.Number >= g.line.ForkedFrom.Turn { // a fork from before the turn has its own of that number
					g.Want(r.Hash, plumbing.BlobObject, ledger.MaxTurn, func(content []byte, err error) { g.record(r.Number, content, err) })
				}
			}
		})
	}
}

func (g *forkStats) record(number int, content []byte, err error) {
	if err != nil {
		return
	}
	t, err := parseAt(string(content), g.line.ID, g.line.Tip, number)
	if err != nil || t.Mission != g.line.ID {
		return
	}
	g.growth.Output += max(0, t.Output)
	g.files += max(0, t.Files)
	if number == g.line.Turns {
		g.code = t.Code
	}
}

// wantTrees reads the trees at the fork's two ends unless it changed too much.
func (g *forkStats) wantTrees() {
	point, err := PointOf(g.line.Mission)
	if err != nil || g.files > maxGrowth {
		return
	}
	for i, commit := range []object.Hash{point.Commit, g.code} {
		g.Want(commit, plumbing.CommitObject, git.MaxCommit, func(content []byte, err error) {
			if c, err := parseCommit(content, err); err == nil {
				g.trees[i] = c.Tree
			}
		})
	}
}
