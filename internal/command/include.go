package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/copyignored"
	"gitagent/internal/workspace"
)

// IncludeFlags returns the flags for ignored files in a new worktree.
func IncludeFlags() []cli.Flag {
	return []cli.Flag{
		cmdline.Repeated(&cli.StringSliceFlag{Name: "include", Usage: "copy also the ignored files that `<pattern>` names; may be repeated"}),
		&cli.BoolFlag{Name: "no-include", Usage: "copy no ignored files"},
	}
}

// CheckPlanting checks what a command line says about a new worktree.
func CheckPlanting(c *cli.Context, makes bool) error {
	switch {
	case !makes && (c.IsSet("include") || c.IsSet("setup")):
		return cmdline.Usagef("--include and --setup are for a new worktree")
	case c.IsSet("include") && c.Bool("no-include"):
		return cmdline.Usagef("--include and --no-include exclude each other")
	case c.IsSet("setup") && c.Bool("no-setup"):
		return cmdline.Usagef("--setup and --no-setup exclude each other")
	}
	return nil
}

// Include finds the ignored files of the user's checkout that a new worktree
// gets, or nil. If its state is untrusted, a person is asked first.
func Include(c *cli.Context, w *workspace.Workspace, foreign bool) (*copyignored.Files, error) {
	patterns := c.StringSlice("include")
	switch {
	case w.Repo.Top == "" && len(patterns) > 0:
		return nil, cmdline.Usagef("--include: a bare repository has no ignored files")
	case w.Repo.Top == "" || c.Bool("no-include"):
		return nil, nil
	}
	most := copyignored.Amount{Files: w.Settings.Fork.IncludeFiles, Bytes: w.Settings.Fork.IncludeSize}
	files, err := copyignored.Find(c.Context, w.Repo, patterns, most)
	switch limit := (*copyignored.LimitError)(nil); {
	case errors.As(err, &limit):
		return nil, tooMuch(w.Repo.Top, patterns, limit)
	case err != nil && c.Context.Err() != nil:
		return nil, err
	case err != nil:
		return nil, cmdline.Hint(err, "copy none with --no-include")
	case files.Amount().Files == 0 && len(patterns) > 0:
		cmdline.Warn(errors.New("--include names no ignored file that can be copied"))
	}
	if files.Amount().Files == 0 || !foreign {
		return files, nil
	}
	what := fmt.Sprintf("%s (%s)", cmdline.Plural(files.Amount().Files, "ignored file"), cmdline.Size(files.Amount().Bytes))
	ok, err := allowed(c, what+" not copied", fmt.Sprintf("%s of this checkout would be copied there: %s. "+
		"Untrusted code can read them when it is run. Copy them?", what, tops(files.Paths())))
	if !ok {
		return nil, err
	}
	return files, nil
}

// allowed asks a person about a new worktree with untrusted state. If nobody
// can be asked, the answer is no, and not says what is left undone.
func allowed(c *cli.Context, not, question string) (bool, error) {
	if why := nobody(c.Context); why != "" {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("%s: the state is untrusted, and %s", not, why))
		return false, nil
	}
	answer, err := cmdline.Ask(c.Context, question, "yes", "no")
	return answer == "yes", err
}

// tooMuch returns the error and advice for more files than may be copied.
func tooMuch(top string, patterns []string, limit *copyignored.LimitError) error {
	list := []string{"git", "-C", top, "ls-files", "--others", "--ignored", "--directory"}
	if _, err := os.Lstat(filepath.Join(top, copyignored.File)); err == nil {
		list = append(list, "--exclude-from="+copyignored.File)
	}
	for _, p := range patterns {
		list = append(list, "--exclude="+p)
	}
	most := cmdline.Plural(limit.Most.Files, "ignored file") + " or " + cmdline.Size(limit.Most.Bytes)
	return cmdline.Hintf(fmt.Errorf("more than %s would be copied; most is in %s", most, cmdline.Escape(limit.In)),
		"leave them out with --no-include, or raise fork.include_files or fork.include_size in %s; what is named, list with: %s",
		cmdline.Escape(config.UserPath()), cmdline.Shell(list))
}

const maxTops = 5

// tops names the files and directories at the top that paths are in or below.
func tops(paths []string) string {
	var names []string
	for _, p := range paths {
		name, _, below := strings.Cut(p, "/")
		if below {
			name += "/"
		}
		if name = cmdline.Escape(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - maxTops; more > 0 {
		names = append(names[:maxTops], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Copying returns functions that show and remove a progress bar of copying.
func Copying(w io.Writer, files *copyignored.Files) (told func(copyignored.Amount), stop func()) {
	if files == nil {
		return nil, func() {}
	}
	var begin sync.Once
	var now atomic.Pointer[copyignored.Amount]
	var p *cmdline.Progress
	told = func(a copyignored.Amount) {
		now.Store(&a)
		begin.Do(func() {
			p = cmdline.StartProgress(w, func() string {
				a, all := now.Load(), files.Amount()
				return fmt.Sprintf("copied %d of %s, %s of %s", a.Files, cmdline.Plural(all.Files, "ignored file"), cmdline.Size(a.Bytes), cmdline.Size(all.Bytes))
			})
		})
	}
	return told, func() {
		if p != nil {
			p.Stop()
		}
	}
}

// TellIncluded says what was copied to a new worktree, and what was not.
func TellIncluded(w io.Writer, done *copyignored.Copied) {
	if done == nil {
		return
	}
	for _, line := range included(done) {
		cmdline.WriteMessage(w, "", line)
	}
}

const maxLeft = 5

func included(done *copyignored.Copied) (lines []string) {
	if done.Files > 0 {
		lines = append(lines, fmt.Sprintf("copied %s (%s)", cmdline.Plural(done.Files, "ignored file"), cmdline.Size(done.Bytes)))
	}
	for _, l := range done.Skipped[:min(len(done.Skipped), maxLeft)] {
		lines = append(lines, fmt.Sprintf("  not copied: %s (%s)", cmdline.Escape(l.Path), cmdline.OneLine(l.Why)))
	}
	if more := len(done.Skipped) - maxLeft; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}
