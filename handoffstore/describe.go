package handoffstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

const maxPatch = 1 << 20 // bytes of a patch that are kept; Stash has all of it

// describe fills in recent commits, and changes from HEAD to the worktree.
func (w *writing) describe(ctx context.Context, h *Handoff, files map[string][]byte) error {
	var err error
	if h.Commits, err = w.commits(ctx, h.Head); err != nil || h.Stash.IsZero() {
		return err
	}
	if err := w.Objects.Flush(); err != nil { // git will read them
		return err
	}
	from, err := w.headTree()
	if err != nil {
		return err
	}
	stats, err := gitdiff.OfPaths(ctx, w.Repo, from, w.Snap.Tree)
	if err != nil {
		return err
	}
	h.Files = len(stats)
	for _, s := range stats[:min(len(stats), record.MaxPaths)] {
		h.Paths = append(h.Paths, strings.ToValidUTF8(s.Path, "\uFFFD"))
	}
	patch, cut, err := w.patch(ctx, from, w.Snap.Tree)
	if err != nil {
		return err
	}
	if cut {
		h.Truncated = append(h.Truncated, "patch")
	}
	files[patchFile], h.Patch = patch, ledger.HandoffPath(h.Number, patchFile)
	diff, cut := cutLines(patch, w.Settings.Handoff.MaxDiffBytes)
	if cut || len(h.Truncated) > 0 {
		h.Truncated = append(h.Truncated, "uncommitted_changes")
	}
	h.Diff = string(diff)
	return nil
}

func (w *writing) commits(ctx context.Context, head object.Hash) ([]record.Commit, error) {
	n := w.Settings.Handoff.RecentCommits
	if head.IsZero() || n == 0 {
		return nil, nil
	}
	out, err := w.Repo.Output(ctx, nil, "log", "-z", "--format=%H %s", "--max-count="+strconv.Itoa(n), head.String(), "--")
	if err != nil {
		return nil, err
	}
	var list []record.Commit
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, subject, _ := strings.Cut(entry, " ")
		hash, err := object.ParseHash(name)
		if err != nil {
			return nil, fmt.Errorf("list the commits of %s: %w", head, err)
		}
		list = append(list, record.Commit{Hash: hash, Subject: clean(w.Settings.Rules(), subject, record.MaxSubject)})
	}
	return list, nil
}

// patch returns the redacted diff of two trees, and whether it was cut.
func (w *writing) patch(ctx context.Context, from, to object.Hash) ([]byte, bool, error) {
	var out bounded
	err := w.Repo.Run(ctx, nil, &out, nil, "diff-tree", "-r", "-p", "--no-renames", from.String(), to.String())
	if err != nil && len(out) <= maxPatch {
		return nil, false, err
	}
	patch, cut := cutLines(out, maxPatch)
	return bytes.ToValidUTF8(w.Settings.Rules().Bytes(patch), []byte("\uFFFD")), cut, nil
}

// bounded keeps the beginning of a patch and one byte more, by which cutLines
// sees the cut. Its error then stops git.
type bounded []byte

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), maxPatch+1-len(*b))
	*b = append(*b, p[:n]...)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}
