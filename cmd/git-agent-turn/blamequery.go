package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/urfave/cli/v2"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

type inquiry struct {
	c       *cli.Context
	w       *workspace.Workspace
	history *blame.History
	name    string      // of the file, as it was typed
	path    string      // from the top
	commit  object.Hash // that has the file; zero for the worktree
}

// newInquiry starts an inquiry about a file of a commit, or of the worktree if
// rev is empty. The caller must call close.
func newInquiry(c *cli.Context, rev, name string) (*inquiry, error) {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return nil, err
	}
	q := &inquiry{c: c, w: w, name: name}
	if rev == "" && w.Repo.Top == "" {
		_, err := command.Checkout(c.Context, "read a file of")
		return nil, cmdline.Hintf(err, "name a commit, too: git agent-turn blame HEAD -- %s", cmdline.Shell([]string{name}))
	}
	var inside bool
	if q.path, inside, err = w.Repo.FromTop(c.Context, name); err != nil {
		return nil, err
	}
	if !inside {
		return nil, cmdline.Usagef("%q is no file in the worktree", name)
	}
	if rev != "" {
		if q.commit, err = q.resolve(rev); err != nil {
			return nil, err
		}
	}
	progress := cmdline.StartProgress(c.App.ErrWriter, func() string { return "reading the turns" })
	defer progress.Stop()
	q.history, err = blame.Open(c.Context, w)
	return q, err
}

func (q *inquiry) close() { q.history.Close() }

// resolve returns the commit that rev names for git, or else as a state.
func (q *inquiry) resolve(rev string) (object.Hash, error) {
	commit, err := q.w.Repo.Resolve(q.c.Context, rev)
	if err == nil {
		if record.IsPrefix(rev) {
			if id, err := ledger.Expand(q.c.Context, q.w.Repo, rev); err == nil {
				cmdline.Warn(fmt.Errorf("%q is taken for commit %s; the mission's last turn is %s/latest", rev, commit, id))
			}
		}
		return commit, nil
	}
	if !errors.Is(err, git.ErrNotFound) {
		return object.Hash{}, err
	}
	_, slashed := turns.MissionOf(rev)
	if !slashed && !turns.OfCurrent(rev) && !record.IsPrefix(strings.TrimSuffix(rev, "^")) {
		err := cmdline.NotFoundf("%q is neither a commit nor a turn", rev)
		if _, failed := os.Lstat(rev); failed == nil {
			return object.Hash{}, cmdline.Hint(err, "one file is blamed at a time, and a commit comes before it")
		}
		return object.Hash{}, cmdline.Hint(err, "list the turns with: git agent-turn list --all")
	}
	state, err := command.State(q.c.Context, q.w, "", rev, q.c.App.ErrWriter)
	if err != nil {
		return object.Hash{}, err
	}
	return state.Commit, known(state)
}

// ask asks about the lines in git's ranges, or all if there are none.
func (q *inquiry) ask(ranges, options []string) (*blame.Answer, error) {
	progress := cmdline.StartProgress(q.c.App.ErrWriter, func() string { return "asking git about " + cmdline.OneLine(q.name) })
	defer progress.Stop()
	request := blame.Request{Commit: q.commit, Path: q.path, Ranges: ranges, Options: options}
	if q.commit.IsZero() {
		var err error
		if request.Running, err = command.Live(q.c.Context, q.w, time.Now()); err != nil {
			return nil, err
		}
	}
	answer, err := q.history.Ask(q.c.Context, request)
	if err != nil && q.c.Context.Err() == nil {
		return nil, q.failed(err)
	}
	return answer, err
}

// lines returns the lines in git's ranges, or all if there are none.
func (q *inquiry) lines(ranges []string) (lines []blame.Line, err error) {
	answer, err := q.ask(ranges, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	err = answer.Each(q.c.Context, func(_ int, l blame.Line) error {
		lines = append(lines, l)
		return nil
	})
	return lines, err
}

// failed explains err if there is no such file.
func (q *inquiry) failed(err error) error {
	what, entry := "the worktree", object.Entry{}
	objects := q.w.Repo.Objects(q.c.Context)
	defer objects.Close()
	if q.commit.IsZero() {
		info, statErr := os.Lstat(filepath.Join(q.w.Repo.Top, filepath.FromSlash(q.path)))
		switch {
		case statErr == nil && info.IsDir():
			entry.Mode = filemode.Dir
		case !errors.Is(statErr, fs.ErrNotExist) && !errors.Is(statErr, syscall.ENOTDIR):
			return err
		}
	} else {
		what = "commit " + q.commit.String()[:8]
		var unread error
		if entry, unread = objects.At(q.commit, q.path); unread != nil {
			return err
		}
	}
	switch entry.Mode {
	case filemode.Dir:
		return cmdline.Usagef("%q is a directory, and blame is about a file", q.name)
	case filemode.Submodule:
		return cmdline.Hintf(cmdline.Usagef("%q is a submodule", q.name), "ask in it: git -C %s agent-turn blame", cmdline.Shell([]string{q.name}))
	case filemode.Empty:
	default:
		return err
	}
	missing := cmdline.NotFoundf("no file %q in %s", q.name, what)
	head, err := q.w.Repo.Head(q.c.Context)
	if err != nil || head.Commit.IsZero() || head.Commit == q.commit {
		return missing
	}
	if there, err := objects.At(head.Commit, q.path); err == nil && there.Mode.IsFile() {
		return cmdline.Hintf(missing, "HEAD has it: git agent-turn blame HEAD -- %s", cmdline.Shell([]string{q.name}))
	}
	return missing
}

// rest reports what the answer left out, if some line has no turn.
func (q *inquiry) rest(lines []blame.Line) error {
	if slices.ContainsFunc(lines, func(l blame.Line) bool { return l.Turn == nil }) {
		tellUntrusted(q.c, q.history.Untrusted)
	}
	return q.history.Unread
}
