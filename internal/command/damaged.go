package command

import (
	"fmt"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

// Damaged adds what to do to any command's error about a lost object.
func Damaged(err error) error {
	if !git.Lost(err) && !git.NamesObject(err) {
		return err
	}
	if git.NamesObject(err) {
		err = fmt.Errorf("an object is missing or damaged: %w", err)
	}
	return cmdline.Hint(err, "see what that is part of, and get it back where a remote has it: git agent-turn doctor --repair")
}
