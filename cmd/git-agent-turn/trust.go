package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
)

// keys reads the user's keys, which do not depend on a repository.
func keys() (*trust.Keys, error) {
	settings, err := config.Load(config.UserPath(), "")
	return workspace.Keys(settings), err
}

func trustCommand() *cli.Command {
	return &cli.Command{
		Name:      "trust",
		Usage:     "whose records may be used: the keys you trust, and missions you accept",
		UsageText: "git agent-turn trust",
		Description: "Lists the keys. What they have signed counts as what was recorded here; everything else that a remote " +
			"brings is untrusted: no agent is told of it, and nothing forks it, before a person has looked at it.",
		Action: cmdline.NoArgs(trustList),
		Subcommands: []*cli.Command{
			{
				Name:        "add",
				Usage:       "trust a key",
				UsageText:   "git agent-turn trust add <name> <public key or file>",
				Description: "The other machine prints its public key with git agent-turn trust key.",
				Action:      cmdline.Args(2, 4, "a name and a public key", trustAdd),
			},
			{
				Name:        "remove",
				Usage:       "trust a key no longer",
				UsageText:   "git agent-turn trust remove <name>",
				Description: "All that it has signed is untrusted then, whenever it was signed.",
				Action:      cmdline.OneArg("name", trustRemove),
			},
			{
				Name:      "key",
				Usage:     "print the public key of this machine",
				UsageText: "git agent-turn trust key",
				Action:    cmdline.NoArgs(trustKey),
			},
			{
				Name:         "accept",
				Usage:        "look at an untrusted mission, and accept it as it is now",
				UsageText:    "git agent-turn trust accept <mission>...",
				Description:  "It asks on a terminal. An agent can't answer.",
				BashComplete: command.CompleteMissions,
				Action:       cmdline.Args(1, 1000, "missions", trustAccept),
			},
		},
	}
}

func trustList(c *cli.Context) error {
	k, err := keys()
	if err != nil {
		return err
	}
	table := cmdline.NewTable(cmdline.Column{Style: cmdline.Yellow}, cmdline.Column{})
	if k.Own != nil {
		table.Row(trust.Machine, k.Own.Public().String())
	}
	for _, s := range k.Signers {
		if k.Own == nil || s.Key != k.Own.Public() {
			table.Row(s.Name, s.Key.String())
		}
	}
	if err := table.Print(c.App.Writer); err != nil {
		return err
	}
	for _, line := range k.Ignored {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-turn: warning: %s\n", cmdline.OneLine(line))
	}
	if k.Own == nil {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-turn: warning: what is recorded is not signed: %s\n", cmdline.OneLine(k.OwnError.Error()))
	}
	return nil
}

func trustAdd(c *cli.Context) error {
	k, err := keys()
	if err != nil {
		return err
	}
	line := strings.Join(c.Args().Tail(), " ")
	if info, err := os.Stat(line); err == nil {
		if line, err = readLine(line, info); err != nil {
			return err
		}
	}
	key, err := trust.ParseKey(line)
	if err != nil {
		return cmdline.Hint(fmt.Errorf("%q: %w", cmdline.OneLine(line), err), "print the line to give here on the other machine, with: git agent-turn trust key")
	}
	name := c.Args().First()
	answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Trust all that %s signs, %s?", cmdline.Escape(name), key), "yes", "no")
	if err == nil && answer != "yes" {
		err = errors.New("nothing was changed")
	}
	if err != nil {
		return err
	}
	if err := k.Add(c.Context, name, key); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "what %s signs is used from now on\n", cmdline.Escape(name))
	return nil
}

// readLine reads a file of one line, such as a public key.
func readLine(name string, info fs.FileInfo) (string, error) {
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 16<<10))
	return strings.TrimSpace(string(data)), err
}

func trustRemove(c *cli.Context) error {
	k, err := keys()
	if err != nil {
		return err
	}
	name := c.Args().First()
	err = k.Remove(c.Context, name)
	if errors.Is(err, trust.ErrNoSigner) {
		return cmdline.Hint(cmdline.NotFoundf("%s is not in %s", name, k.ListPath), "list the names with: git agent-turn trust")
	}
	if err == nil {
		fmt.Fprintf(c.App.ErrWriter, "what %s has signed is untrusted from now on\n", cmdline.Escape(name))
	}
	return err
}

func trustKey(c *cli.Context) error {
	k, err := keys()
	if err != nil {
		return err
	}
	switch {
	case k.CanMake():
		return cmdline.Hint(cmdline.NotFoundf("this machine has no key: %w", k.OwnError), "make one with: git agent-turn init")
	case k.Own == nil:
		return cmdline.NotFoundf("this machine has no key: %w", k.OwnError)
	}
	_, err = fmt.Fprintln(c.App.Writer, k.Own.Public())
	return err
}

func trustAccept(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	for _, name := range c.Args().Slice() {
		id, err := command.Named(c.Context, w.Repo, name)
		if err == nil {
			err = command.Accept(c, w, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeKey makes the key of this machine, if it has none, and lists it as
// trusted, so that plain git verifies what is recorded here.
func makeKey(ctx context.Context, comment string, talk io.Writer) error {
	k, err := keys()
	if err != nil {
		return err
	}
	made, err := k.MakeKey(comment)
	if err != nil || !made {
		return err
	}
	fmt.Fprintf(talk, "made the key %s, which signs what is recorded on this machine\n", cmdline.Escape(k.OwnPath))
	if name := comment; name != "" && k.Add(ctx, name, k.Own.Public()) == nil {
		return nil
	}
	return k.Add(ctx, "this-machine", k.Own.Public())
}
