package blame

import (
	"bytes"
	"context"
	"maps"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// A real is a commit as git has it.
type real struct {
	hash, tree object.Hash
	date       int64
	parents    []object.Hash
	edge       bool // it is where the graph ends
}

// revisions returns the commits of a graph, and a chart that has them.
func (h *History) revisions(ctx context.Context, objects *git.Objects, commit object.Hash, list []*pastTurn) ([]real, *chart, error) {
	wanted := map[object.Hash]bool{commit: false} // whether it is told of even where it is left out
	want := func(commit object.Hash) {            // and the states before it: git would know the ancestors of others, and may find a circle
		for !commit.IsZero() && !wanted[commit] {
			wanted[commit] = true
			s := h.states[commit]
			if s == nil || !s.made {
				return
			}
			commit = s.chain
		}
	}
	if s := h.states[commit]; s != nil && s.made { // its turn may not be among them
		want(s.chain)
	}
	missions := make(map[record.ID]bool)
	for _, t := range list {
		want(t.code)
		want(t.base)
		want(t.head)
		missions[t.id.Mission] = true
	}
	for commit, s := range h.states {
		if s.made && missions[s.mission] {
			want(commit)
		}
	}
	var without []object.Hash
	if len(list) > 0 {
		oldest := list[0].base
		if s := h.states[oldest]; s != nil && s.made {
			parents, err := h.objects.Parents(oldest)
			if err == nil {
				without = parents
			}
		} else if !oldest.IsZero() {
			without = []object.Hash{oldest}
		}
	}
	if commits, chart := h.charted(objects, wanted, without); chart != nil {
		return commits, chart, nil
	}
	_, repo := objects.Of()
	commits, err := listed(ctx, repo, wanted, without)
	if err != nil {
		return nil, nil, err
	}
	chart := newChart(without, commits)
	if repo == h.w.Repo && (h.chart == nil || len(chart.list) > len(h.chart.list)) && h.whole() && chart.closed() {
		h.chart = chart
	}
	return commits, chart, nil
}

// listed asks git for the commits that some reach and others do not, those at
// the boundary, and those that are wanted anyway.
func listed(ctx context.Context, repo *git.Repo, wanted map[object.Hash]bool, without []object.Hash) ([]real, error) {
	var revs strings.Builder
	for commit := range wanted {
		revs.WriteString(commit.String() + "\n")
	}
	for _, commit := range without {
		revs.WriteString("^" + commit.String() + "\n")
	}
	commits, err := revList(ctx, repo, revs.String(), "--boundary")
	rest := maps.Clone(wanted)
	maps.DeleteFunc(rest, func(_ object.Hash, anyway bool) bool { return !anyway })
	for _, c := range commits {
		delete(rest, c.hash)
	}
	if err != nil || len(rest) == 0 {
		return commits, err
	}
	revs.Reset() // those that what is left out reaches
	for commit := range rest {
		revs.WriteString(commit.String() + "\n")
	}
	older, err := revList(ctx, repo, revs.String(), "--no-walk")
	for i := range older {
		older[i].edge = true
	}
	return append(commits, older...), err
}

func revList(ctx context.Context, repo *git.Repo, revs, how string) ([]real, error) {
	out, err := repo.Output(ctx, strings.NewReader(revs), "rev-list", "--ignore-missing", how, "--no-commit-header", "--format=%m%ct %H %T %P", "--stdin")
	if err != nil {
		return nil, err
	}
	var commits []real
	for text := range bytes.Lines(out) {
		line, edge := strings.CutPrefix(string(text), "-")
		at, hashes, err := object.ParseRevision(strings.TrimPrefix(line, ">"))
		if err != nil {
			return nil, err
		}
		commits = append(commits, real{hash: hashes[0], tree: hashes[1], date: at.Unix(), parents: hashes[2:], edge: edge})
	}
	return commits, nil
}
