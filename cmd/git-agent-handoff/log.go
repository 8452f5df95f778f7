package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/terminal"
	"gitagent/internal/vt"
)

func logStart(c *cli.Context) error {
	return askPane(c, func(ctx context.Context, pane terminal.Pane, name string) error {
		if name != "" {
			fmt.Fprintln(c.App.ErrWriter, "the pane is logged already")
			_, err := fmt.Fprintln(c.App.Writer, name)
			return err
		}
		name, err := newLog(c.Args().First(), pane.String(), time.Now())
		if err != nil {
			return err
		}
		if err := pane.StartLog(ctx, name); err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.App.Writer, name)
		return err
	})
}

// askPane calls do with findPane's pane and the name of its log, or "". The
// user's settings limit the time that tmux has for it.
func askPane(c *cli.Context, do func(ctx context.Context, pane terminal.Pane, log string) error) error {
	pane, err := findPane(c)
	if err != nil {
		return err
	}
	conf, err := config.Load(config.UserPath(), "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, conf.Handoff.SnapshotTimeout)
	defer cancel()
	name, err := pane.LogFile(ctx)
	if err != nil {
		return err
	}
	return do(ctx, pane, name)
}

func findPane(c *cli.Context) (terminal.Pane, error) {
	pane, err := terminal.FindPane(c.String("tmux"))
	if errors.Is(err, terminal.ErrNoPane) {
		return pane, cmdline.Hint(err, "name a pane with --tmux <target>; list them with: tmux list-panes -a")
	}
	return pane, err
}

// newLog returns the absolute name of a log. The default is a new file in our
// own directory, outside all worktrees, so that no snapshot takes it.
func newLog(name, pane string, now time.Time) (string, error) {
	if name != "" {
		return filepath.Abs(name)
	}
	data := handoffstore.DataDir(os.Getenv)
	if data == "" {
		return "", errors.New("log: the environment names no home directory")
	}
	dir, err := privateDir(filepath.Dir(data), filepath.Base(data), "logs")
	if err != nil {
		return "", err
	}
	// Two panes, also of two servers, may be called the same here.
	return filepath.Join(dir, fmt.Sprintf("%s-%s-%d.log", now.Format("20060102-150405"), strings.Map(fileRune, pane), os.Getpid())), nil
}

// privateDir makes private directories below dir. It refuses symbolic links.
func privateDir(dir string, names ...string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range names {
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
			return "", err
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s: not a directory", dir)
		}
	}
	return dir, nil
}

// fileRune replaces characters that some systems refuse in file names.
func fileRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
		return r
	}
	return '_'
}

func logShow(c *cli.Context) error {
	name := c.Args().First()
	if name == "" { // the log of this command's pane
		err := askPane(c, func(_ context.Context, _ terminal.Pane, log string) error {
			if name = log; name == "" {
				return cmdline.Hint(cmdline.NotFoundf("this pane is not logged"), "begin with: git agent-handoff log start")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := vt.Render(c.App.Writer, f); err != nil {
		return fmt.Errorf("show log %s: %w", name, err)
	}
	return nil
}
