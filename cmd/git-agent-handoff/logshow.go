package main

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/screen"
)

func logShow(c *cli.Context) error {
	name := c.Args().First()
	if name == "" {
		var err error
		if name, err = thisLog(c); err != nil {
			return err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := screen.Render(c.App.Writer, f); err != nil {
		return fmt.Errorf("show log %s: %w", name, err)
	}
	return nil
}

// thisLog is the log of the pane in which the command was typed.
func thisLog(c *cli.Context) (string, error) {
	pane, err := findPane(c)
	if err != nil {
		return "", err
	}
	conf, err := config.Load(config.UserPath(), "")
	if err != nil {
		return "", err
	}
	ctx, cancel := timeout(c, conf.Handoff)
	defer cancel()
	name, err := pane.LogFile(ctx)
	if err == nil && name == "" {
		err = cmdline.Hint(cmdline.NotFoundf("this pane is not logged"), "begin with: git agent-handoff log start")
	}
	return name, err
}

// timeout is how long tmux may take to answer.
func timeout(c *cli.Context, conf config.Handoff) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Context, conf.SnapshotTimeout)
}
