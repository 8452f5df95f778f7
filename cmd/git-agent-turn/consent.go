package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// allowPush asks what may be sent to a remote and configures it. Without a
// terminal it says how: an agent must not agree on the user's behalf.
func allowPush(c *cli.Context, w *workspace.Workspace, name string) error {
	r, err := openRemote(c.Context, w, name)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s is %s.\nall sends %s.\ncode sends %s.\nAll who can read there can read it, and it can't be taken back.",
		cmdline.Escape(r.Name), plain(r.URLs), remote.All.Says(), remote.Code.Says())
	fmt.Fprintln(c.App.ErrWriter, cmdline.Indent("", text, cmdline.Columns(c.App.ErrWriter)))
	if !cmdline.CanAsk() {
		var commands []string
		for _, u := range r.URLs {
			commands = append(commands, fmt.Sprintf("git config '%s' all", strings.ReplaceAll(remote.ConsentKey(u), "'", `'\''`)))
		}
		return cmdline.Hint(errors.New(cmdline.Unasked()+"; nothing was changed"), "to agree, type: "+strings.Join(commands, "; "))
	}
	answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Send to %s from now on?", cmdline.Escape(r.Name)), string(remote.All), string(remote.Code), "no")
	if err != nil {
		return err
	}
	level := remote.Consent(answer)
	if level != remote.All && level != remote.Code {
		return errors.New("nothing was changed")
	}
	for _, u := range r.URLs {
		if err := w.Repo.Configure(c.Context, "--replace-all", remote.ConsentKey(u), string(level)); err != nil {
			return err
		}
		fmt.Fprintf(c.App.Writer, "%s may be sent to %s\n", level, cmdline.Escape(remote.Plain(u)))
	}
	return nil
}
