package command

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledgertx"
	"gitagent/internal/scrub"
	"gitagent/internal/snapshot"
)

// MergeFlag returns the flag --merge of commands that merge into the worktree.
func MergeFlag() cli.Flag {
	return &cli.BoolFlag{Name: "merge", Usage: "where the same lines have changed since, write both into the files, with markers"}
}

// PrintRestored says what changed the worktree ("restored turn a1b2c3d4/3"),
// and prints the commit of what was there before, or a dry run's changes.
func PrintRestored(c *cli.Context, what string, done *ledgertx.CheckedOut) error {
	for _, s := range done.Stayed {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("the submodule in %s stays as it is; to move it: %s", cmdline.Escape(s.Dir),
			cmdline.Shell([]string{"git", "-C", s.Dir, "checkout", s.Want.String()})))
	}
	for _, u := range done.Unseen {
		cmdline.WriteMessage(c.App.ErrWriter, "", cmdline.Escape(u.Path)+" stays as it is: "+u.Why)
	}
	tellPurged(c, done)
	if !c.Bool("dry-run") {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("%s: %s changed; what was there before:", what, cmdline.Plural(len(done.Changes), "file")))
		_, err := fmt.Fprintln(c.App.Writer, done.Present)
		tellRestored(c.Context, c.App.ErrWriter, done)
		if err == nil && len(done.Changes) > 0 {
			cmdline.WriteMessage(c.App.ErrWriter, c.App.Name+": hint: ", "take it back with: git agent-turn undo")
		}
		return err
	}
	table := cmdline.NewTable(
		cmdline.Column{Right: true, Style: cmdline.Green},
		cmdline.Column{Right: true, Style: cmdline.Red},
		cmdline.Column{},
	)
	for _, f := range done.Changes {
		table.Row(fmt.Sprintf("+%d", f.Insertions), fmt.Sprintf("-%d", f.Deletions), f.Path)
	}
	return table.Print(c.App.Writer)
}

// WarnMarked warns of files that a commit has with marks in the place of what
// was purged.
func WarnMarked(paths []string) {
	cmdline.Warn(cmdline.Hint(fmt.Errorf("something was purged in %s, and %s is committed there", someOf(paths), scrub.Mark), "put in its place what belongs there, and commit that"))
}

// tellPurged says where something was purged, and so what is not as it was.
func tellPurged(c *cli.Context, done *ledgertx.CheckedOut) {
	say := func(text string) { cmdline.WriteMessage(c.App.ErrWriter, "", text) }
	for _, k := range done.Kept {
		say(fmt.Sprintf("%s stays as it is: something was purged there; what it was to become, with %s in it: git cat-file -p %.12s", cmdline.Escape(k.Path), scrub.Mark, k.Want))
	}
	for _, k := range done.Purged {
		text := cmdline.Escape(k.Path) + " stays as it is: it has what was purged, and so no state has all of it"
		if !k.Want.IsZero() {
			text += fmt.Sprintf("; what it was to become: git cat-file -p %.12s", k.Want)
		}
		say(text)
	}
	for _, path := range done.Marked {
		say(fmt.Sprintf("%s has %s where something was purged", cmdline.Escape(path), scrub.Mark))
	}
}

// Conflicted adds to an error what files with conflicts hold now, and how to go
// back if anything has changed.
func Conflicted(c *cli.Context, err error, changes []gitdiff.FileStat, conflicts []gitdiff.Conflict) error {
	marked := 0
	for _, f := range conflicts {
		name := cmdline.Escape(f.Name)
		switch f.Holds {
		case gitdiff.HoldsBoth:
			marked++
		case gitdiff.HoldsOurs:
			cmdline.WriteMessage(c.App.ErrWriter, "", name+" stays as it was: it can't hold both sides")
		case gitdiff.HoldsOther:
			cmdline.WriteMessage(c.App.ErrWriter, "", name+" is written without markers: it can't hold both sides")
		}
	}
	switch {
	case len(changes) == 0:
		return cmdline.Hint(err, "nothing was changed")
	case marked == 0:
		return cmdline.Hint(err, "no file holds both sides; go back with: git agent-turn undo")
	case marked < len(conflicts):
		return cmdline.Hint(err, "the other files hold both sides, between markers; go back with: git agent-turn undo")
	}
	return cmdline.Hint(err, "the files hold both sides, between markers; go back with: git agent-turn undo")
}

// Unrestored adds what to do if the worktree could not be changed.
func Unrestored(err error) error {
	inWay := (*snapshot.InWayError)(nil)
	hidden := (*snapshot.HiddenError)(nil)
	unseen := (*snapshot.UnseenError)(nil)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return err
	case errors.Is(err, snapshot.ErrHalf):
		return cmdline.Hint(err, "go back to what was there before with: git agent-turn undo")
	case errors.As(err, &inWay):
		return cmdline.Hint(err, "nothing was changed; move away what is in the way, or commit it")
	case errors.As(err, &hidden):
		return cmdline.Hint(err, "nothing was changed; let git look at the file, and so restores keep what is in it, with: "+
			cmdline.Shell([]string{"git", "-C", hidden.Top, "update-index", "--no-" + hidden.Mark, hidden.Path}))
	case errors.As(err, &unseen):
		return cmdline.Hint(err, "nothing was changed; see what keeps git from reading it with: "+
			cmdline.Shell([]string{"git", "-C", unseen.Top, "diff", "--", unseen.Path}))
	}
	return cmdline.Hint(err, "nothing was changed")
}
