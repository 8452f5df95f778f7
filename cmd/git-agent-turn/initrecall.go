package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
)

// planRecall plans to switch recall.edits on in the user's configuration file, or
// nothing without --recall.
func planRecall(c *cli.Context) (*hooks.Edit, error) {
	path := config.UserPath()
	switch {
	case !c.Bool("recall"):
		return nil, nil
	case c.Bool("remove"):
		return nil, cmdline.Hintf(cmdline.Usagef("--recall does not go with --remove"), "say edits = false below [recall] in %s", path)
	case path == "":
		return nil, errors.New("switch recall.edits on: the environment names no home directory")
	}
	before, err := hooks.PlanFile(path, nil)
	if err != nil {
		return nil, err
	}
	after, err := config.SetRecall(before.Before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return hooks.PlanFile(path, after)
}

// switchRecall switches it on, in the file as it is by now.
func switchRecall(c *cli.Context) error {
	edit, err := planRecall(c)
	if err != nil || edit == nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(edit.Path), 0o700); err != nil {
		return err
	}
	changed := edit.Changes()
	if err := edit.Apply(); err != nil {
		return err
	}
	say(c, changed, edit.Path, "agents are told of files before they edit them, by")
	return nil
}
