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

// ChooseFlag is the flag --interactive of the commands that are [Choosing].
func ChooseFlag() cli.Flag {
	return &cli.BoolFlag{Name: chooseFlag, Aliases: []string{"i"}, Usage: "choose the turn in the finder"}
}

const chooseFlag = "interactive"

// Choosing is the action of a command that works on a turn. With the flag of [ChooseFlag] a person
// chooses it in the finder, which says what the verb says, and its name is the argument.
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

// Choose lets a person choose a turn in the finder, which says what is then done with it, and returns its
// name: one of those named by the lines of names, which the finder shows as they come, or if that is nil
// one of the mission that the command works on. It is an error if none was chosen.
//
// The finder is git-agent-fork's, as no other program should pay for its library at every start.
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
