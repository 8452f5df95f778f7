package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/workspace"
)

// keepPrivate keeps other users of the machine from reading what is recorded, if the command line or
// an answer says so. Where there is nobody to ask it says that they can, and how to change that.
func keepPrivate(c *cli.Context, w *workspace.Workspace) error {
	private := c.Bool("private")
	if !private {
		conf, err := w.Repo.Config(c.Context)
		if err != nil {
			return err
		}
		if conf.Shared() != "" || !w.Repo.Readable() { // the user has decided, or there is nothing to decide
			return nil
		}
		fmt.Fprintf(c.App.ErrWriter, "Other users of this machine can read %s, and so the conversations that are recorded there.\n", cmdline.Escape(w.Repo.CommonDir))
		if !cmdline.IsTerminal(os.Stdin) || !cmdline.IsTerminal(os.Stderr) {
			fmt.Fprintln(c.App.ErrWriter, "To keep them out, type: git agent-turn init --private")
			return nil
		}
		fmt.Fprint(c.App.ErrWriter, "Keep them out of it (core.sharedRepository=0600)? [yes/no] ")
		answer, _ := bufio.NewReader(os.Stdin).ReadString('\n') // end of input means no
		private = strings.TrimSpace(answer) == "yes"
	}
	if !private {
		return nil
	}
	if err := w.Repo.OwnerOnly(c.Context); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "only you can read %s\n", cmdline.Escape(w.Repo.CommonDir))
	return nil
}
