package target

import (
	"errors"
	"fmt"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/terminal"
)

// forSHA256 is where the programs for SHA-256 repositories are, seen from those for SHA-1 ones. They have the same
// names, and only those call them.
const forSHA256 = "../libexec/git-agent/sha256"

// HandOver makes sure that this is the program for the repository in dir, "" for the current directory: otherwise the
// one that is takes its place, and this does not return. There is an error if that can't be run.
func HandOver(dir string) error { return HandOverTo(git.FormatIn(dir), nil) }

// HandOverTo does so for a repository with that object format. What was read of standard input, the other program
// reads again.
func HandOverTo(format string, read []byte) error {
	switch {
	case format == "sha256" && format != git.ObjectFormat:
		program, err := terminal.Own(forSHA256)
		if err == nil {
			return terminal.Become(program, read)
		}
		err = fmt.Errorf("the repository is a SHA-256 one, and the program for those, %w", err)
		return cmdline.Hint(err, "install git-agent as a whole: install.sh and the packages put that program there")
	case format == "sha1" && format != git.ObjectFormat:
		err := errors.New("the repository is a SHA-1 one, and this program is for SHA-256 ones")
		return cmdline.Hint(err, "call the program of this name that is on PATH; it calls this one where that is right")
	}
	return nil // the one for it, or a format that git does not know either
}
