package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/checkout"
	"gitagent/internal/cmdline"
	"gitagent/internal/gitdiff"
)

// Unmerged lists the conflicts that err reports and names the command that
// merges nevertheless. Other errors go to [Unrestored].
func Unmerged(c *cli.Context, err error, command string) error {
	var conflict *checkout.ConflictError
	if !errors.As(err, &conflict) {
		return Unrestored(err)
	}
	printConflicts(c.App.ErrWriter, conflict.Conflicts)
	marked := 0
	for _, f := range conflict.Conflicts {
		if f.Holds == gitdiff.HoldsBoth {
			marked++
		}
	}
	switch {
	case !conflict.Changes:
		return cmdline.Hint(err, "nothing was changed, and no file can hold both sides, with markers")
	case marked == 0:
		return cmdline.Hint(err, "nothing was changed, and no file can hold both sides, with markers; change the rest with: "+command)
	case marked < len(conflict.Conflicts):
		return cmdline.Hint(err, "nothing was changed; write both sides into the files that can hold them, with markers, with: "+command)
	}
	return cmdline.Hint(err, "nothing was changed; write both sides into the files, with markers, with: "+command)
}

// PrintMerged is [PrintRestored] for a merge.
func PrintMerged(c *cli.Context, what string, done *checkout.Restored) error {
	err := PrintRestored(c, what, &done.CheckedOut)
	if err != nil || len(done.Conflicts) == 0 {
		return err
	}
	printConflicts(c.App.ErrWriter, done.Conflicts)
	err = &checkout.ConflictError{Conflicts: done.Conflicts}
	if c.Bool("dry-run") {
		return err
	}
	var conflicts []gitdiff.Conflict
	for _, f := range done.Conflicts {
		conflicts = append(conflicts, gitdiff.Conflict{Name: f.Path, Holds: f.Holds})
	}
	return Conflicted(c, err, done.Changes, conflicts)
}

func printConflicts(to io.Writer, conflicts []checkout.Conflict) {
	for _, f := range conflicts {
		fmt.Fprintf(to, "conflict in %s: %s\n", cmdline.Escape(f.Path), changedBy(f))
	}
}

const maxNamed = 10

func changedBy(f checkout.Conflict) string {
	if len(f.There) > 0 {
		return "changed here, and there by " + named(f.There)
	}
	if len(f.Later) > 0 {
		return "changed since by " + named(f.Later)
	}
	return "changed since"
}

func named(list []int) string {
	var names []string
	for _, n := range list[max(0, len(list)-maxNamed):] {
		names = append(names, fmt.Sprint(n))
	}
	more := ""
	if len(list) > maxNamed {
		more = fmt.Sprintf(" and %d before", len(list)-maxNamed)
	}
	noun := "turn"
	if len(list) > 1 {
		noun = "turns"
	}
	return fmt.Sprintf("%s %s%s", noun, strings.Join(names, ", "), more)
}
