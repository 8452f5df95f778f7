package snapshot

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// An entry is a path listed by status.
type entry struct {
	path      string // in bytes, from the worktree's top; a repository ends in a slash
	untracked bool
	ours      bool // untracked for the user, but in the private index
	conflict  bool

	// staged is the index's entry, zero if there is none, ours in a conflict.
	staged object.Entry
	// work is set if the worktree differs from the index; mode is the
	// worktree's, zero if the file is gone or untracked.
	work bool
	mode filemode.FileMode
	gone bool // nothing is at the path
	// dirty is set for a submodule with uncommitted changes.
	dirty bool

	info   fs.FileInfo // of the file, once examined
	marked []byte      // its content with marks; nil if nothing in it was purged
}

// parseStatus parses `git status --porcelain=v2 -z --branch`.
func parseStatus(out string) (git.Head, []entry, error) {
	var head git.Head
	var entries []entry
	for len(out) > 0 {
		line, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return head, nil, fmt.Errorf("read status: the last record is not complete")
		}
		out = rest
		kind, fields, _ := strings.Cut(line, " ")
		var e entry
		var err error
		switch kind {
		case "#":
			if err := parseHeader(fields, &head); err != nil {
				return head, nil, fmt.Errorf("read status: %w", err)
			}
			continue
		case "1":
			e, err = parseChanged(fields)
		case "u":
			e, err = parseUnmerged(fields)
		case "?":
			e = entry{path: fields, untracked: true, work: true}
		default:
			err = fmt.Errorf("unexpected record")
		}
		if err != nil {
			return head, nil, fmt.Errorf("read status: %q: %w", line, err)
		}
		entries = append(entries, e)
	}
	return head, entries, nil
}

func parseHeader(fields string, head *git.Head) (err error) {
	key, value, _ := strings.Cut(fields, " ")
	switch {
	case key == "branch.oid" && value != "(initial)":
		head.Commit, err = object.ParseHash(value)
	case key == "branch.head" && value != "(detached)":
		head.Branch = "refs/heads/" + value
	}
	return err
}

// parseTracked parses n fields, the path last, the index's mode in field 3 and
// its hash in field hash, and the worktree's mode in the middle.
func parseTracked(fields string, n, hash int) (f []string, e entry, err error) {
	f = strings.SplitN(fields, " ", n)
	if len(f) != n || len(f[0]) != 2 || len(f[1]) != 4 {
		return f, e, fmt.Errorf("unexpected record")
	}
	e.path = f[n-1]
	if e.staged, err = parseEntry(f[3], f[hash]); err == nil {
		e.mode, err = filemode.New(f[n/2])
	}
	return f, e, err
}

// parseChanged parses `<XY> <sub> <mH> <mI> <mW> <hH> <hI> <path>`.
func parseChanged(fields string) (entry, error) {
	f, e, err := parseTracked(fields, 8, 6)
	if err != nil {
		return e, err
	}
	switch f[0][1] {
	case '.':
	case 'D':
		e.work, e.gone = true, true
	case 'M':
		// Our tree can hold a submodule's moved commit, not its own changes.
		e.work = f[1][0] != 'S' || f[1][1] == 'C'
	default:
		e.work = true
	}
	e.dirty = f[1][2] == 'M' || f[1][3] == 'U'
	return e, nil
}

// parseUnmerged parses `<XY> <sub> <m1> <m2> <m3> <mW> <h1> <h2> <h3> <path>`.
func parseUnmerged(fields string) (entry, error) {
	_, e, err := parseTracked(fields, 10, 7)
	e.conflict, e.work, e.gone = true, true, e.mode == filemode.Empty
	return e, err
}

func parseEntry(mode, hash string) (object.Entry, error) {
	m, err := filemode.New(mode)
	if err != nil {
		return object.Entry{}, err
	}
	h, err := object.ParseHash(hash)
	if err != nil || m == filemode.Empty {
		return object.Entry{}, err
	}
	return object.Entry{Mode: m, Hash: h}, nil
}

// dirtySubmodules returns the submodules with uncommitted changes, at a process
// each. They are only reported, so it may fail. In the one pass git would hand
// its settings to submodules and rewrite their indexes.
func (t *taker) dirtySubmodules() []string {
	modules := t.index.file(".gitmodules")
	if !exists(modules) {
		return nil
	}
	repo := t.index.repo.With(git.Env("GIT_INDEX_FILE="+t.index.path, "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1"))
	out, err := repo.Output(t.ctx, nil, "config", "-z", "--file", modules, "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil
	}
	args := []string{"status", "--porcelain=v2", "-z", "-unormal", "--no-renames", "--ignore-submodules=none", "--"}
	options := len(args)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		// A path outside the worktree would make git fail for all.
		if _, path, _ := strings.Cut(entry, "\n"); filepath.IsLocal(path) {
			args = append(args, path)
		}
	}
	if len(args) == options {
		return nil
	}
	if out, err = repo.Output(t.ctx, nil, args...); err != nil {
		return nil
	}
	_, entries, err := parseStatus(string(out))
	if err != nil {
		return nil
	}
	var dirty []string
	for _, e := range entries {
		if e.dirty {
			dirty = append(dirty, e.path)
		}
	}
	return dirty
}
