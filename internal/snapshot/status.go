package snapshot

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
)

// An entry is one path listed by status.
type entry struct {
	path      string // bytes, relative to the top of the worktree; a repository inside it ends in a slash
	untracked bool
	ours      bool // untracked for the user, but the private index has it
	conflict  bool

	// staged is what the index holds, zero if nothing; in a conflict, our side.
	staged git.Entry
	// work is set if the worktree differs from the index; mode is what git found in the worktree,
	// zero if the file is gone or untracked.
	work bool
	mode filemode.FileMode
	gone bool // the worktree holds nothing at the path
	// dirty is set for a submodule with uncommitted changes.
	dirty bool

	info fs.FileInfo // of the worktree's file, once examined
}

// parseStatus reads the output of `git status --porcelain=v2 -z --branch`.
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
		head.Commit, err = git.ParseHash(value)
	case key == "branch.head" && value != "(detached)":
		head.Branch = "refs/heads/" + value
	}
	return err
}

// parseTracked reads what both kinds of record have in common: n fields, the last one the path; the
// index's mode in field 3 and its hash in field hash, and the worktree's mode in the middle.
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

// parseChanged reads `<XY> <sub> <mH> <mI> <mW> <hH> <hI> <path>`.
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
		// A submodule's own changes can't be in our tree; only a moved commit can.
		e.work = f[1][0] != 'S' || f[1][1] == 'C'
	default:
		e.work = true
	}
	e.dirty = f[1][2] == 'M' || f[1][3] == 'U'
	return e, nil
}

// parseUnmerged reads `<XY> <sub> <m1> <m2> <m3> <mW> <h1> <h2> <h3> <path>`.
func parseUnmerged(fields string) (entry, error) {
	_, e, err := parseTracked(fields, 10, 7)
	e.conflict, e.work, e.gone = true, true, e.mode == filemode.Empty
	return e, err
}

func parseEntry(mode, hash string) (git.Entry, error) {
	m, err := filemode.New(mode)
	if err != nil {
		return git.Entry{}, err
	}
	h, err := git.ParseHash(hash)
	if err != nil || m == filemode.Empty {
		return git.Entry{}, err
	}
	return git.Entry{Mode: m, Hash: h}, nil
}

// dirtySubmodules returns the paths of submodules with uncommitted changes, at a process for each
// submodule. The paths are only reported, so its failure is no failure of the snapshot.
//
// It must not be part of the one pass over the worktree: git would pass that one's settings on to
// the submodules, and rewrite their indexes with them.
func (t *taker) dirtySubmodules() []string {
	modules := t.index.file(".gitmodules")
	if !exists(modules) {
		return nil
	}
	repo := t.index.repo.With("GIT_INDEX_FILE="+t.index.path, "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1")
	out, err := repo.Output(t.ctx, nil, "config", "-z", "--file", modules, "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil
	}
	args := []string{"status", "--porcelain=v2", "-z", "-unormal", "--no-renames", "--ignore-submodules=none", "--"}
	options := len(args)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		// One path outside the worktree would make git fail for all of them.
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
