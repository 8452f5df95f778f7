//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"strings"
)

// tree returns the tree of a commit.
func (r *rig) tree(commit string) string {
	r.t.Helper()
	return r.repo.Git("rev-parse", "--verify", commit+"^{tree}")
}

// recordPath is where the ledger keeps the record of a turn.
func recordPath(turn int) string { return fmt.Sprintf("turns/%04d/%06d.json", turn/100, turn) }

// changes says how two trees differ, for messages.
// The witness throws its objects away, so a tree may not be there any more.
func (r *rig) changes(from, to string) string {
	out, err := r.repo.Try("diff-tree", "-r", "--name-status", from, to)
	if err != nil {
		out, _ = r.repo.Try("ls-tree", "-r", to)
	}
	return out
}

// diffstat counts files and lines between two commits.
func (r *rig) diffstat(from, to string) (files, insertions, deletions int) {
	r.t.Helper()
	for line := range strings.Lines(r.repo.Git("diff-tree", "-r", "-M", "--numstat", from, to)) {
		fields := strings.Fields(line)
		files++
		i, _ := strconv.Atoi(fields[0]) // "-" for a binary file
		d, _ := strconv.Atoi(fields[1])
		insertions += i
		deletions += d
	}
	return files, insertions, deletions
}

// visible is what a user sees of a repository beside the files of the worktree.
func (r *rig) visible() string {
	r.t.Helper()
	var b strings.Builder
	for _, args := range [][]string{
		{"rev-parse", "--symbolic-full-name", "HEAD"},
		{"for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"},
		{"reflog", "HEAD"},
		{"reflog", "refs/heads/main"},
		{"ls-files", "--stage"},
		{"branch", "-a"},
		{"log", "--format=%H"},
		{"stash", "list"},
		{"config", "--local", "--list"},
	} {
		out, err := r.repo.Try(args...)
		fmt.Fprintln(&b, args, out, err)
	}
	return b.String()
}

// firstDifference is the offset of the first byte in which a and b differ.
func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// around quotes both sides of the first difference.
func around(want, got string) string {
	at := firstDifference(want, got)
	cut := func(s string) string { return s[max(0, at-80):min(len(s), at+80)] }
	return fmt.Sprintf("got %q, want %q", cut(got), cut(want))
}
