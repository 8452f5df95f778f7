package command

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// NoPagerFlag returns the flag --no-pager of the programs that page.
func NoPagerFlag() cli.Flag {
	return &cli.BoolFlag{Name: noPager, Usage: "print without a pager"}
}

const noPager = "no-pager"

// Paged returns an action whose output, c.App.Writer, goes through git's pager,
// unless --no-pager is given, pager.<program> is off, or standard output is no
// terminal. The pager starts at the first write. Colours heed color.ui,
// color.pager and the environment. When the pager was quit, writing fails, and
// the action should return that error.
func Paged(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		repo, err := git.Open(c.Context)
		if err != nil {
			return action(c) // and it says what is wrong
		}
		conf, err := repo.Config(c.Context)
		if err != nil {
			return err
		}
		c.Context = context.WithValue(c.Context, openedKey{}, opened{repo, conf})
		plain := c.App.Writer
		out := &lazyPager{plain: plain}
		look := lookOf(plain, conf, os.Getenv)
		if look.terminal && !look.piped {
			out.start = func() (*terminal.Pager, error) { return startPager(c, repo, conf) }
		}
		if look.columns > 0 || look.colour {
			c.App.Writer = &cmdline.Screen{Writer: out, Columns: look.columns, Colour: look.colour}
		}
		err = action(c)
		c.App.Writer = plain
		if quit := out.close(); quit || out.pager != nil && c.Context.Err() != nil {
			return terminal.ErrQuit
		}
		return err
	}
}

// An opened is the repository that [Paged] has opened, with its configuration:
// what runs within it need not ask git again.
type opened struct {
	repo *git.Repo
	conf git.Config
}

type openedKey struct{}

// A look is how output may look.
type look struct {
	terminal bool // it reaches one
	piped    bool // through a pager of git's
	columns  int
	colour   bool
}

// lookOf decides how output to w looks: a terminal, git's pager, or neither.
func lookOf(w io.Writer, conf git.Config, getenv func(string) string) look {
	l := look{columns: cmdline.Columns(w)}
	l.terminal = l.columns > 0
	if !l.terminal {
		if f, ok := w.(*os.File); ok && f == os.Stdout {
			l.columns = cmdline.PagedColumns()
			l.terminal, l.piped = l.columns > 0, l.columns > 0
		}
	}
	switch {
	case getenv("NO_COLOR") != "", conf.Get("color.ui") == "never", conf.Off("color.ui"):
	case conf.Get("color.ui") == "always":
		l.colour = true
	default:
		l.colour = l.terminal && getenv("TERM") != "dumb" && !conf.Off("color.pager")
	}
	return l
}

// startPager starts the user's pager for this program; nil if they want none.
func startPager(c *cli.Context, repo *git.Repo, conf git.Config) (*terminal.Pager, error) {
	key := "pager." + c.App.Name[len("git-"):]
	if c.Bool(noPager) || conf.Off(key) {
		return nil, nil
	}
	command, err := repo.Pager(c.Context)
	if err != nil {
		return nil, err
	}
	_, decided := os.LookupEnv("GIT_PAGER") // an empty one is none
	if own := conf.Get(key); own != "" && !conf.Bool(key) && !decided {
		command = own
	}
	if command == "" || command == "cat" {
		return nil, nil
	}
	return terminal.StartPager(command)
}

// A lazyPager starts the pager at the first byte, so that earlier questions and
// errors are on the terminal alone.
type lazyPager struct {
	plain io.Writer
	start func() (*terminal.Pager, error) // nil when nothing is left to be started
	pager *terminal.Pager                 // nil if there is none
}

func (l *lazyPager) Write(data []byte) (int, error) {
	if l.start != nil {
		var err error
		if l.pager, err = l.start(); err != nil {
			cmdline.Warn(err) // and print without one, as git does
		}
		l.start = nil
	}
	if l.pager != nil {
		return l.pager.Write(data)
	}
	return l.plain.Write(data)
}

// close waits for the pager, and reports whether it was quit too early.
func (l *lazyPager) close() (quit bool) { return l.pager != nil && l.pager.Close() }

// Dates returns how the user wants to see dates: git's log.date.
func Dates(c *cli.Context, w *workspace.Workspace) (cmdline.Dates, error) {
	was, paged := c.Context.Value(openedKey{}).(opened)
	conf := was.conf
	if !paged {
		var err error
		if conf, err = w.Repo.Config(c.Context); err != nil {
			return cmdline.Dates{}, err
		}
	}
	return cmdline.ParseDates(conf.Get("log.date"), cmdline.Columns(c.App.Writer) > 0)
}

// When reads a date as git does: "2 weeks ago", "yesterday", "2026-01-02".
func When(ctx context.Context, repo *git.Repo, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, cmdline.Usagef("a date is missing")
	}
	return repo.Date(ctx, text)
}
