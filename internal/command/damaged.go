package command

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

// Damaged adds what to do to any command's error about a lost object, or about
// others' refs in the way of ours. In a partial clone it may be none that is
// lost, but one that could not be fetched.
func Damaged(err error) error {
	if e := (*git.InWayError)(nil); errors.As(err, &e) {
		if e.Remote != "" {
			return cmdline.Hint(err, "they are not ours; if nobody needs them: "+DeleteAt(e))
		}
		return cmdline.Hint(err, "they are not ours; see how to give them other names: git agent-turn doctor")
	}
	if !git.Lost(err) && !git.NamesObject(err) {
		return err
	}
	from := promisor()
	if git.NamesObject(err) {
		what := "missing or damaged"
		if from != "" {
			what = "not here"
		}
		err = fmt.Errorf("an object is %s: %w", what, err)
	}
	const repair = "see what that is part of, and get it back where a remote has it: git agent-turn doctor --repair"
	if from != "" {
		return cmdline.Hintf(err, "this is a partial clone, and what it lacks comes from %s: try again when git fetch %s works; if that is no help, %s", cmdline.Escape(from), cmdline.Shell([]string{from}), repair)
	}
	return cmdline.Hint(err, repair)
}

// DeleteAt returns the command that deletes refs in the way of ours at a remote.
func DeleteAt(e *git.InWayError) string {
	return "git push " + cmdline.Shell(append([]string{e.Remote, "--delete"}, e.By...))
}

// promisor returns the remote that the current repository is a partial clone
// of, or "".
func promisor() string {
	ctx := context.Background() // the command's own may have ended
	repo, err := git.Open(ctx)
	if err != nil {
		return ""
	}
	conf, err := repo.Config(ctx)
	if err != nil {
		return ""
	}
	return conf.Promisor()
}
