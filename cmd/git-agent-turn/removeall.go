package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/missionstore"
	"gitagent/internal/places"
	"gitagent/internal/purge"
	"gitagent/internal/remote"
	"gitagent/internal/uninstall"
	"gitagent/internal/workspace"
)

func removeEverything(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if purge.Unfinished(w.Store) { // it has put objects aside
		return cmdline.Hint(errors.New("a purge was killed before it was done; nothing was changed"), "complete it first: git agent-turn purge")
	}
	dry := c.Bool("dry-run")
	if !dry {
		bisect.ClearDead(w)
		missionstore.ClearDead(c.Context, w)
	}
	plan, err := uninstall.Look(c.Context, w, c.Bool("force"))
	if errors.Is(err, uninstall.ErrRecording) {
		return stillRecording(w, err)
	}
	if err != nil {
		return err
	}
	if len(plan.Stays) > 0 {
		return cmdline.Hint(fmt.Errorf("nothing was changed: %w", errors.Join(plan.Stays...)),
			"commit, merge or drop that, or switch that worktree to another branch; --force drops what is not committed and commits of yours")
	}
	if plan.Nothing {
		say(c, false, w.Repo.CommonDir, "nothing of git-agent's is in")
		return nil
	}
	what := fmt.Sprintf("%s with %s", cmdline.Plural(plan.Missions, "mission"), cmdline.Plural(plan.Turns, "turn"))
	if err := sayElsewhere(c, w); err != nil {
		return err
	}
	switch {
	case dry:
		sayWork(c, plan, "would remove")
		_, err := fmt.Fprintf(c.App.Writer, "would remove %s, and all else of git-agent's in %s\n", what, cmdline.Escape(w.Repo.CommonDir))
		return err
	case c.Bool("yes"):
	case !cmdline.CanAsk():
		return cmdline.Hint(fmt.Errorf("nothing was changed: %s", cmdline.Unasked()), "to remove without a question, add --yes")
	default:
		sayWork(c, plan, "goes as well:")
		answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Remove %s? This can't be undone.", what), "yes", "no")
		if err == nil && answer != "yes" {
			err = errors.New("nothing was changed")
		}
		if err != nil {
			return err
		}
	}
	if err := plan.Do(c.Context); err != nil {
		return cmdline.Hint(err, "when that is mended, run the command again: it removes the rest")
	}
	if err := places.Of(os.Getenv).Forget(w.Repo.CommonDir); err != nil {
		cmdline.Warn(err) // it is listed as a repository without missions
	}
	sayWork(c, plan, "removed")
	fmt.Fprintf(c.App.Writer, "removed %s, and all else of git-agent's in %s; git gc frees what it takes\n", what, cmdline.Escape(w.Repo.CommonDir))
	return sayAtHome(c)
}

// stillRecording adds to err how to switch recording off.
func stillRecording(w *workspace.Workspace, err error) error {
	err = fmt.Errorf("%w, and would begin again with the next turn", err)
	if w.Switched() {
		return cmdline.Hint(err, "switch it off first: git agent-turn init --remove")
	}
	return cmdline.Hint(err, "recording is on in more than this repository; switch it off here first: git config agent.record false")
}

func sayWork(c *cli.Context, plan *uninstall.Plan, verb string) {
	for _, m := range plan.Work {
		what := fmt.Sprintf("%s branch %s", verb, m.Branch)
		if m.Worktree != "" {
			what += ", worktree " + cmdline.Escape(m.Worktree)
		}
		fmt.Fprintln(c.App.Writer, what)
	}
}

func sayElsewhere(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	remotes, err := remote.Consenting(c.Context, w, conf)
	for _, r := range remotes {
		name := cmdline.Escape(r.Name)
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("what was sent to %s (%s) stays there; as long as it is here, this removes it there: git agent-turn remove --older-than 0h --remote %s",
			name, plain(r.URLs), name))
	}
	return err
}

// sayAtHome says what stays outside the repository, and how to remove it.
func sayAtHome(c *cli.Context) error {
	var dirs []string
	if path := config.UserPath(); path != "" {
		dirs = append(dirs, filepath.Dir(path))
	}
	if data := handoffstore.DataDir(os.Getenv); data != "" { // install.sh keeps its list there, too
		dirs = append(dirs, filepath.Join(data, "handoffs"), filepath.Join(data, "logs"))
	}
	if known := places.Of(os.Getenv).Dir(); known != nil {
		dirs = append(dirs, known.Path("."))
	}
	cmd := []string{"rm", "-r"}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); err == nil {
			cmd = append(cmd, dir)
		}
	}
	if len(cmd) == 2 {
		return nil
	}
	_, err := fmt.Fprintf(c.App.ErrWriter, "settings, the key that others may trust, and copies of handoffs, and where your repositories are, are kept for all of them; to remove them, too: %s\n", cmdline.Shell(cmd))
	return err
}
