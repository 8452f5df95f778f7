package snapshot

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
)

// An entry is one path that status names.
type entry struct {
	path      string // bytes, relative to the top of the worktree
	untracked bool
	conflict  bool
	submodule bool

	// staged is what the index holds, if that differs from HEAD and the worktree
	// does not differ from the index; a zero mode means that the path was removed.
	staged git.Entry
	// work is set if the worktree's file has to be looked at;
	// mode is what git found there, zero if the file is gone or untracked.
	work bool
	mode filemode.FileMode
	// dirty is set for a submodule with changes of its own that no commit of it holds.
	dirty bool
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
			parseHeader(fields, &head)
			continue
		case "1":
			e, err = parseChanged(fields)
		case "u":
			e, err = parseUnmerged(fields)
		case "?":
			e = entry{path: fields, untracked: true, work: true}
		default:
			err = fmt.Errorf("read status: unexpected record %q", line)
		}
		if err != nil {
			return head, nil, err
		}
		entries = append(entries, e)
	}
	return head, entries, nil
}

func parseHeader(fields string, head *git.Head) {
	key, value, _ := strings.Cut(fields, " ")
	switch {
	case key == "branch.oid" && value != "(initial)":
		head.Commit = plumbing.NewHash(value)
	case key == "branch.head" && value != "(detached)":
		head.Branch = "refs/heads/" + value
	}
}

// parseChanged reads `<XY> <sub> <mH> <mI> <mW> <hH> <hI> <path>`.
func parseChanged(fields string) (entry, error) {
	f := strings.SplitN(fields, " ", 8)
	if len(f) != 8 || len(f[0]) != 2 || len(f[1]) != 4 {
		return entry{}, fmt.Errorf("read status: unexpected record %q", fields)
	}
	e := entry{path: f[7], submodule: f[1][0] == 'S'}
	if e.submodule {
		// Its own changes can't be in our tree; only a moved commit can.
		e.dirty = f[1][2] == 'M' || f[1][3] == 'U'
		e.work = f[1][1] == 'C' || f[0][1] == 'D'
	} else {
		e.work = f[0][1] != '.'
	}
	var err error
	if e.staged.Mode, err = filemode.New(f[3]); err != nil {
		return entry{}, fmt.Errorf("read status of %q: %w", e.path, err)
	}
	e.staged.Hash = plumbing.NewHash(f[6])
	if e.mode, err = filemode.New(f[4]); err != nil {
		return entry{}, fmt.Errorf("read status of %q: %w", e.path, err)
	}
	if f[0][1] == 'D' {
		e.mode = filemode.Empty
	}
	return e, nil
}

// parseUnmerged reads `<XY> <sub> <m1> <m2> <m3> <mW> <h1> <h2> <h3> <path>`.
func parseUnmerged(fields string) (entry, error) {
	f := strings.SplitN(fields, " ", 10)
	if len(f) != 10 || len(f[1]) != 4 {
		return entry{}, fmt.Errorf("read status: unexpected record %q", fields)
	}
	mode, err := filemode.New(f[5])
	if err != nil {
		return entry{}, fmt.Errorf("read status of %q: %w", f[9], err)
	}
	return entry{path: f[9], conflict: true, work: true, mode: mode, submodule: f[1][0] == 'S'}, nil
}
