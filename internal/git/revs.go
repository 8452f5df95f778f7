package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gitagent/internal/git/object"
)

// Revs resolves a typed rev or range (a..b, a...b) to "<hash>" and "^<hash>".
// The error may wrap [ErrNotFound].
func (r *Repo) Revs(ctx context.Context, text string) ([]string, error) {
	out, err := r.Output(ctx, nil, "rev-parse", "--quiet", "--revs-only", "--end-of-options", text)
	if err != nil && Status(err) != 1 && Status(err) != 128 { // 128 for what only looks like one
		return nil, err
	}
	var revs []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if _, err := object.ParseHash(strings.TrimPrefix(line, "^")); err == nil {
			revs = append(revs, line)
		}
	}
	if err != nil || len(revs) == 0 {
		return nil, fmt.Errorf("resolve %q: %w", text, ErrNotFound)
	}
	return revs, nil
}

const maxNames = 1000

// Branches returns short names of branches and tags, the latest first.
func (r *Repo) Branches(ctx context.Context) ([]string, error) {
	out, err := r.Output(ctx, nil, "for-each-ref", fmt.Sprintf("--count=%d", maxNames), "--sort=-creatordate", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// Upstream returns the full names of HEAD's branch and its upstream, or "".
func (r *Repo) Upstream(ctx context.Context) (branch, upstream string, err error) {
	if branch, err = r.HeadRef(ctx); err != nil || branch == "" {
		return "", "", err
	}
	out, err := r.Output(ctx, nil, "for-each-ref", "--format=%(upstream)", branch)
	return branch, strings.TrimSpace(string(out)), err
}

// MergeBase returns the best common ancestor of two commits, or zero.
func (r *Repo) MergeBase(ctx context.Context, a, b object.Hash) (object.Hash, error) {
	out, err := r.Output(ctx, nil, "merge-base", a.String(), b.String())
	if Status(err) == 1 {
		return object.Hash{}, nil
	}
	if err != nil {
		return object.Hash{}, err
	}
	hash, err := object.ParseHash(strings.TrimSpace(string(out)))
	return hash, err
}

// Count returns how many commits are in since..commit.
func (r *Repo) Count(ctx context.Context, since, commit object.Hash) (int, error) {
	out, err := r.Output(ctx, nil, "rev-list", "--count", commit.String(), "^"+since.String(), "--")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// Abbreviate returns commits as git abbreviates them for people.
func (r *Repo) Abbreviate(ctx context.Context, commits []object.Hash) (map[object.Hash]string, error) {
	short := make(map[object.Hash]string)
	var in strings.Builder
	var list []object.Hash
	for _, commit := range commits {
		if _, known := short[commit]; !known {
			short[commit] = commit.String()
			list = append(list, commit)
			in.WriteString(commit.String() + "\n")
		}
	}
	if len(list) == 0 {
		return short, nil
	}
	out, err := r.Output(ctx, strings.NewReader(in.String()), "rev-list", "--no-walk=unsorted", "--abbrev-commit", "--stdin")
	if err != nil {
		return nil, err
	}
	for i, name := range strings.Fields(string(out)) {
		if i < len(list) && strings.HasPrefix(list[i].String(), name) {
			short[list[i]] = name
		}
	}
	return short, nil
}

// Shallow returns the commits at which a shallow clone ends.
func (r *Repo) Shallow() ([]object.Hash, error) {
	return HashesIn(filepath.Join(r.CommonDir, "shallow"))
}

// HashesIn reads a git file with one hash a line; none if there is no file.
func HashesIn(file string) ([]object.Hash, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var hashes []object.Hash
	for line := range strings.Lines(string(data)) {
		hash, err := object.ParseHash(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Base(file), err)
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}
