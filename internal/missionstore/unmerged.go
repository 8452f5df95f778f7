package missionstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrUnmerged reports commits of the user's that only a mission's branch has.
var ErrUnmerged = errors.New("in no other branch")

const (
	// maxOthers is how many branches one process searches for copies of
	// commits: HEAD's and the newest, since a copy is newer than the commit.
	// maxMerges is how many are searched for a squash, at a process each.
	maxOthers = 20
	maxMerges = 5
	// maxNamed is how many of the commits an error names.
	maxNamed = 3
)

// A branchCommit is a commit that only the mission's branch reaches.
type branchCommit struct {
	hash    string
	merge   bool
	turn    bool // by its message
	subject string
}

// unmerged returns an error wrapping [ErrUnmerged] if a mission's branch has
// commits that would be lost with it. Turns and states before them don't count,
// nor do the user's commits that another branch, a tag or another worktree
// reaches, whose patch another branch has, that change nothing if merged into
// one, or that are merges which git would repeat.
func unmerged(ctx context.Context, w *workspace.Workspace, branch string, tip, ledgerTip object.Hash) error {
	own, err := ownCommits(ctx, w, branch, tip, ledgerTip)
	if err != nil || len(own) == 0 {
		return err
	}
	others, err := newestBranches(ctx, w, branch)
	if err != nil {
		return err
	}
	if own, err = withoutCopies(ctx, w, own, tip, others); err != nil {
		return err
	}
	if own, err = withoutCleanMerges(ctx, w, own); err != nil || len(own) == 0 {
		return err
	}
	for _, o := range others[:min(len(others), maxMerges)] {
		out, err := w.Repo.Output(ctx, nil, "merge-tree", "--write-tree", "--no-messages", o.hash, tip.String())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && strings.TrimSpace(string(out)) == o.tree { // else it conflicts, or there is no common commit
			return nil
		}
	}
	return unmergedError(branch, own)
}

func unmergedError(branch string, own []branchCommit) error {
	noun := "commits"
	if len(own) == 1 {
		noun = "commit"
	}
	var named []string
	for _, c := range own[:min(len(own), maxNamed)] {
		named = append(named, c.hash[:7]+" "+ledger.Head(c.subject, turns.MaxSubject))
	}
	list := strings.Join(named, ", ")
	if more := len(own) - len(named); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("branch %s has %d %s of yours %w: %s", strings.TrimPrefix(branch, "refs/heads/"), len(own), noun, ErrUnmerged, list)
}

// ownCommits lists, newest first, the commits that no other branch, tag or
// worktree reaches and that the ledger does not keep.
func ownCommits(ctx context.Context, w *workspace.Workspace, branch string, tip, ledgerTip object.Hash) ([]branchCommit, error) {
	args := []string{
		"log", "-z", "--format=%H %P%n%(trailers:key=" + ledger.TrailerMission + ",valueonly,separator=%x20)%n%s",
		tip.String(), "--not", "--exclude=" + strings.TrimPrefix(branch, "refs/heads/"), "--branches", "--remotes", "--tags",
	}
	worktrees, err := w.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, tree := range worktrees {
		if tree.Branch == "" && !tree.Head.IsZero() {
			args = append(args, tree.Head.String())
		}
	}
	out, err := w.Repo.Output(ctx, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var list []branchCommit
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		lines := strings.SplitN(entry, "\n", 3)
		if hashes := strings.Fields(lines[0]); len(hashes) > 0 && len(lines) == 3 {
			list = append(list, branchCommit{hash: hashes[0], merge: len(hashes) > 2, turn: lines[1] != "", subject: lines[2]})
		}
	}
	if !slices.ContainsFunc(list, func(c branchCommit) bool { return c.turn }) {
		return list, nil
	}
	kept, err := ledgerCommits(ctx, w, ledgerTip)
	return slices.DeleteFunc(list, func(c branchCommit) bool { return c.turn && kept[c.hash] }), err
}

func ledgerCommits(ctx context.Context, w *workspace.Workspace, ledgerTip object.Hash) (map[string]bool, error) {
	kept := make(map[string]bool)
	for e, err := range ledger.Links(ctx, w.Repo, ledgerTip) {
		if err != nil {
			return nil, err
		}
		for _, commit := range e.Keeps {
			kept[commit.String()] = true
		}
	}
	return kept, nil
}

type branchTip struct{ hash, tree string }

// newestBranches returns other branches' tips: HEAD's, then the newest.
func newestBranches(ctx context.Context, w *workspace.Workspace, branch string) ([]branchTip, error) {
	out, err := w.Repo.Output(ctx, nil, "for-each-ref", "--sort=-committerdate", "--sort=-HEAD", "--format=%(objectname) %(tree) %(refname)", "refs/heads/", "refs/remotes/")
	if err != nil {
		return nil, err
	}
	var tips []branchTip
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] == branch || slices.Contains(tips, branchTip{fields[0], fields[1]}) {
			continue
		}
		if tips = append(tips, branchTip{fields[0], fields[1]}); len(tips) == maxOthers {
			break
		}
	}
	return tips, nil
}

// withoutCopies drops commits whose patch another branch has after a rebase or
// cherry-pick. Merges have no patch.
func withoutCopies(ctx context.Context, w *workspace.Workspace, own []branchCommit, tip object.Hash, others []branchTip) ([]branchCommit, error) {
	if len(others) == 0 {
		return own, nil
	}
	args := []string{"rev-list", "--cherry-mark", "--right-only", "--no-merges"}
	for _, o := range others {
		args = append(args, o.hash+"..."+tip.String())
	}
	out, err := w.Repo.Output(ctx, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	copied := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		if hash, ok := strings.CutPrefix(strings.TrimSpace(line), "="); ok {
			copied[hash] = true
		}
	}
	return slices.DeleteFunc(own, func(c branchCommit) bool { return copied[c.hash] }), nil
}

// withoutCleanMerges drops the merges that git would repeat by itself.
func withoutCleanMerges(ctx context.Context, w *workspace.Workspace, own []branchCommit) ([]branchCommit, error) {
	var merges strings.Builder
	for _, c := range own {
		if c.merge {
			merges.WriteString(c.hash + "\n")
		}
	}
	if merges.Len() == 0 {
		return own, nil
	}
	out, err := w.Repo.Output(ctx, strings.NewReader(merges.String()), "log", "--no-walk", "--stdin", "--remerge-diff", "--name-only", "--format=%x00%H")
	if err != nil {
		return nil, err
	}
	clean := make(map[string]bool)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		hash, changes, _ := strings.Cut(entry, "\n")
		clean[hash] = strings.TrimSpace(changes) == ""
	}
	return slices.DeleteFunc(own, func(c branchCommit) bool { return c.merge && clean[c.hash] }), nil
}
