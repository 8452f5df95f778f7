package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/workspace"
)

// keepPrivate keeps other users from reading what is recorded, if that is
// wanted. Without a terminal it says that they can, and how to change that.
func keepPrivate(c *cli.Context, w *workspace.Workspace) error {
	private := c.Bool("private")
	if !private {
		conf, err := w.Repo.Config(c.Context)
		if err != nil {
			return err
		}
		if conf.Shared() != "" || !w.Repo.Readable() { // the user has decided, or it is private already
			return nil
		}
		text := fmt.Sprintf("Other users of this machine can read %s, and so the conversations that are recorded there.", cmdline.Escape(w.Repo.CommonDir))
		fmt.Fprintln(c.App.ErrWriter, cmdline.Indent("", text, cmdline.Columns(c.App.ErrWriter)))
		if !cmdline.CanAsk() {
			fmt.Fprintln(c.App.ErrWriter, "To keep them out, type: git agent-turn init --private")
			return nil
		}
		answer, err := cmdline.Ask(c.Context, "Keep them out of it (core.sharedRepository=0600)?", "yes", "no")
		if err != nil {
			return err
		}
		private = answer == "yes"
	}
	if !private {
		return nil
	}
	if err := w.Repo.KeepPrivate(c.Context); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "only you can read %s\n", cmdline.Escape(w.Repo.CommonDir))
	return nil
}
