package command

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// ChooseFlag returns the flag --interactive of commands that are [Choosing].
func ChooseFlag() cli.Flag {
	return &cli.BoolFlag{Name: chooseFlag, Aliases: []string{"i"}, Usage: "choose the turn in the finder"}
}

const chooseFlag = "interactive"

// Choosing returns the action of a command on a turn, which with [ChooseFlag] a
// person chooses in the finder. The finder shows verb.
func Choosing(verb string, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if !c.Bool(chooseFlag) {
			return action(c)
		}
		if c.NArg() > 0 {
			return cmdline.Usagef("--interactive is for choosing the turn: name none")
		}
		w, err := Workspace(c.Context)
		if err != nil {
			return err
		}
		name, err := Choose(c, w, verb, nil)
		if err != nil {
			return err
		}
		return action(cmdline.WithArgs(c, []string{name}))
	}
}

// Choose returns the turn that a person chooses in the finder, which shows
// verb: from the lines of names as they come or, if nil, the mission's.
// Choosing none is an error. The finder is git-agent-fork's, so that others
// don't pay for its library.
func Choose(c *cli.Context, w *workspace.Workspace, verb string, names io.Reader) (string, error) {
	if !terminal.HasScreen() {
		return "", cmdline.Hint(cmdline.Usagef("choosing a turn needs a terminal"), "name it; list the turns with: git agent-turn list --all")
	}
	args := []string{"--choose", verb}
	if names != nil {
		args = append(args, "--among")
	} else {
		id, err := Mission(c.Context, w, c.String("mission"), c.App.ErrWriter)
		if err != nil {
			return "", err
		}
		if id == "" {
			return "", NoMission(c.Context, w)
		}
		args = append(args, "--mission", string(id))
	}
	var chosen bytes.Buffer
	if err := terminal.RunOwn(c.Context, names, &chosen, "git-agent-fork", args...); err != nil {
		return "", err
	}
	name := strings.TrimSuffix(chosen.String(), "\n")
	if name == "" {
		return "", errors.New("no turn was chosen")
	}
	return name, nil
}
