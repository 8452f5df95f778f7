package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/finisher"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func finishCommand() *cli.Command {
	return &cli.Command{
		Name:  "finish",
		Usage: "commit the work of a mission as you would, and say where it is",
		UsageText: "git agent-turn finish [--onto <branch>] [-m <message>]... [--no-edit] [--trailer]\n" +
			"                      [--assisted-by] [--split <turns>]... [--remove] [<mission>]",
		Description: "A mission with a branch is merged with git merge --squash; of one without, the paths that its turns changed are committed. " +
			"Hooks, signing, conflicts and the editor are git's. The message has the trailers Agent-Mission and Agent-Turns. " +
			"Where git makes no commit, finish goes on when it is run again.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "onto", Usage: "commit to `<branch>`, where that is checked out"},
			cmdline.Repeated(&cli.StringSliceFlag{Name: "message", Aliases: []string{"m"}, Usage: "use `<message>`; several are paragraphs"}),
			&cli.BoolFlag{Name: "no-edit", Usage: "take the message that is proposed"},
			&cli.BoolFlag{Name: "assisted-by", Usage: "say in trailers which agents and models helped"},
			&cli.BoolFlag{Name: "trailer", Usage: "a trailer Test for each test that passed last, if nothing changed since"},
			cmdline.Repeated(&cli.StringSliceFlag{Name: "split", Usage: "a commit of `<turns>`, as in 1-4,7; for each once"}),
			&cli.BoolFlag{Name: "remove", Usage: "remove the mission's worktree and branch then"},
		},
		BashComplete: command.First(command.CompleteMissions),
		Action:       cmdline.OptionalArg("mission", finish),
	}
}

func finish(c *cli.Context) error {
	f := finisher.Finishing{
		Message: strings.Join(c.StringSlice("message"), "\n\n"), Edit: !c.Bool("no-edit") && !c.IsSet("message"), Trailer: c.Bool("trailer"),
		At: time.Now(), Stdin: os.Stdin, Talk: c.App.ErrWriter,
	}
	if err := readSplit(c, &f); err != nil {
		return err
	}
	here, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if f.Mission, err = command.Own(c.Context, here, c.Args().First()); err != nil {
		return err
	}
	if f.Mission == "" {
		_, among, err := here.Newest(c.Context)
		if err == nil && among == 0 {
			return command.NoMission(c.Context, here)
		}
		return cmp.Or(err, cmdline.Hint(cmdline.Usagef("which mission?"), "name it; list the missions with: git agent-turn missions"))
	}
	w, err := onto(c, here)
	if err != nil {
		return err
	}
	if err := settled(c.Context, w, f.Mission); err != nil {
		return err
	}
	if f.Assisted, err = assisted(c, w); err != nil {
		return err
	}
	f.Marked = command.WarnMarked
	f.Tell = func(byHand, left []string) {
		tellPaths(c, "commits changes that no turn made as well, in", byHand)
		tellPaths(c, "leaves", left)
	}
	f.Shared = func(paths []string) (bool, error) { return takeShared(c, paths) }
	done, err := finisher.Finish(c.Context, w, f)
	if errors.Is(err, workspace.ErrUntrusted) {
		if err := command.Accept(c, w, f.Mission); err != nil {
			return err
		}
		done, err = finisher.Finish(c.Context, w, f)
	}
	for _, commit := range done.Made {
		fmt.Fprintln(c.App.Writer, commit)
	}
	if err != nil {
		return unfinished(f.Mission, done, err)
	}
	verb := "is finished in"
	if done.Missing != nil {
		verb = "is in part in"
	}
	if len(done.Made) == 0 {
		fmt.Fprintln(c.App.Writer, done.Commit)
		verb = "was finished already: its work is in"
	}
	fmt.Fprintf(c.App.ErrWriter, "mission %s %s %.12s\n", f.Mission, verb, done.Commit)
	if len(done.LeftOut) > 0 {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("the work of these turns is not on the mission's branch, and not in it: %s", done.LeftOut))
	}
	if done.Missing != nil {
		return unfinished(f.Mission, &finisher.Finished{}, fmt.Errorf("mission %s is not finished: %w", f.Mission, done.Missing))
	}
	if c.Bool("remove") {
		return removeFinished(c, w, here, f.Mission, done)
	}
	if done.Branch != "" {
		cmdline.WriteMessage(c.App.ErrWriter, "", "its branch is still there; remove it, and its worktree, with: git agent-turn finish --remove "+string(f.Mission))
	}
	return nil
}

// assisted returns the name of the trailers that say who helped, "" for none.
func assisted(c *cli.Context, w *workspace.Workspace) (string, error) {
	conf, err := w.Repo.Config(c.Context)
	name := conf.Get("agent.trailer")
	switch {
	case err != nil:
		return "", err
	case c.IsSet("assisted-by") && !c.Bool("assisted-by"):
		return "", nil
	case name != "" && !finisher.ValidTrailer(name):
		return "", cmdline.Hint(fmt.Errorf("agent.trailer is %q in git's configuration, which can't be the name of such a trailer", name), "set another one with: git config agent.trailer "+finisher.TrailerAssisted)
	case c.Bool("assisted-by"):
		name = cmp.Or(name, finisher.TrailerAssisted)
	}
	return name, nil
}

func readSplit(c *cli.Context, f *finisher.Finishing) error {
	for _, value := range c.StringSlice("split") {
		for text := range strings.FieldsSeq(value) {
			ranges, err := ledger.ParseRanges(text)
			if err != nil {
				return cmdline.Usagef("--split: %w", err)
			}
			f.Split = append(f.Split, ranges)
		}
	}
	switch {
	case c.IsSet("split") && len(f.Split) == 0:
		return cmdline.Usagef("--split names no turns")
	case len(f.Split) > 1 && f.Message != "":
		return cmdline.Usagef("-m is the message of one commit, and --split makes %d", len(f.Split))
	case c.IsSet("message") && strings.TrimSpace(f.Message) == "":
		return cmdline.Usagef("the message is empty")
	}
	return nil
}

// onto returns the workspace to commit in: here, or that of --onto.
func onto(c *cli.Context, here *workspace.Workspace) (*workspace.Workspace, error) {
	branch := strings.TrimPrefix(c.String("onto"), "refs/heads/")
	if branch == "" {
		return command.Checkout(c.Context, "commit in")
	}
	head, err := here.Repo.HeadRef(c.Context)
	if err != nil || head == "refs/heads/"+branch && here.Repo.Top != "" {
		return here, err
	}
	top, err := here.Repo.WorktreeOf(c.Context, "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	if top != "" {
		repo, err := git.Find(top)
		if err == nil {
			err = repo.CheckTop(c.Context)
		}
		if err != nil {
			return nil, err
		}
		return command.Open(repo)
	}
	refs, err := here.Repo.Refs(c.Context, "refs/heads/"+branch)
	switch {
	case err != nil:
		return nil, err
	case len(refs) == 0:
		return nil, cmdline.Hint(cmdline.NotFoundf("there is no branch %q", branch), "list the branches with: git branch")
	}
	return nil, cmdline.Hint(fmt.Errorf("branch %q is checked out nowhere", branch), "check it out with: "+cmdline.Shell([]string{"git", "switch", branch}))
}

// settled returns an error if a turn of the mission runs.
func settled(ctx context.Context, w *workspace.Workspace, id record.ID) error {
	live, err := command.Live(ctx, w, time.Now())
	if err != nil {
		return err
	}
	for _, l := range live {
		if l.Mission == id && l.Open != nil {
			return cmdline.Hint(fmt.Errorf("turn %s is running", l.ID()), "finish the mission when the turn has ended; see what runs with: git agent-turn missions")
		}
	}
	return nil
}

// takeShared asks whether to commit what may be others' work.
func takeShared(c *cli.Context, paths []string) (bool, error) {
	what := "lines that may be others' work (?) in"
	if !cmdline.CanAsk() {
		tellPaths(c, "leaves "+what, paths)
		return false, nil
	}
	answer, err := cmdline.Ask(c.Context, "Commit "+what+" "+someOf(paths)+"?", "yes", "no")
	return answer == "yes", err
}

const maxTold = 10

func tellPaths(c *cli.Context, what string, paths []string) {
	if len(paths) > 0 {
		cmdline.WriteMessage(c.App.ErrWriter, "", what+" "+someOf(paths))
	}
}

func someOf(paths []string) string {
	var names []string
	for _, p := range paths[:min(len(paths), maxTold)] {
		names = append(names, cmdline.OneLine(p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func unfinished(id record.ID, done *finisher.Finished, err error) error {
	again := "git agent-turn finish " + string(id)
	if n := len(done.Made); n > 0 && !errors.Is(err, finisher.ErrNotNoted) {
		err = fmt.Errorf("%w; before that it made %s", err, cmdline.Plural(n, "commit"))
	}
	switch {
	case errors.Is(err, finisher.ErrEmpty):
		return cmdline.Hint(cmdline.NotFoundf("%w", err), "nothing was changed; see what its turns have with: git agent-turn list --mission "+string(id))
	case errors.Is(err, turns.ErrOwnBranch):
		return cmdline.Hintf(err, "name the branch to commit to: %s --onto <branch>", again)
	case errors.Is(err, finisher.ErrAtOnce):
		return cmdline.Hint(err, "it may wait in an editor; see what has become of it with: git agent-turn missions")
	case errors.Is(err, finisher.ErrUnderWay):
		return cmdline.Hint(err, "end it first; how, is said by: git status")
	case errors.Is(err, finisher.ErrStaged):
		return cmdline.Hint(err, "commit them first, or put them away with: git stash")
	case errors.Is(err, finisher.ErrUncommitted):
		return cmdline.Hint(err, "commit them there, or put them away with: "+cmdline.Shell([]string{"git", "-C", done.Worktree, "stash", "--include-untracked"}))
	case errors.Is(err, finisher.ErrNotMerged):
		return cmdline.Hintf(err, "git has said why; changes in its way, and what it had written before, are put away with: git stash --include-untracked; then: %s", again)
	case errors.Is(err, finisher.ErrNotPrepared):
		return cmdline.Hintf(err, "what was merged is staged; go on with: %s; give it up with: git reset --merge", again)
	case errors.Is(err, finisher.ErrNotNoted):
		return cmdline.Hintf(err, "no commit is missing; record it with: %s", again)
	case errors.Is(err, finisher.ErrUnresolved):
		return cmdline.Hintf(err, "resolve them, then git add and git commit, which has the message, or: %s; give it up with: git reset --merge", again)
	case errors.Is(err, finisher.ErrResolved):
		return cmdline.Hint(err, "if all of it is as it should be, end it with git commit --allow-empty, which has the message; to merge once more, first: git reset")
	case errors.Is(err, finisher.ErrElsewhere):
		return cmdline.Hintf(err, "commit it there and merge that, then: %s; see it with: git agent-turn list --mission %s", again, id)
	case errors.Is(err, finisher.ErrNotCommitted) && done.Attached:
		return cmdline.Hintf(err, "the work is staged; go on with git commit, which has the message, or: %s; give it up with: git reset --merge", again)
	case errors.Is(err, finisher.ErrNotCommitted):
		return cmdline.Hintf(err, "the work is as it was, and git keeps the message in COMMIT_EDITMSG; try again with: %s", again)
	case errors.Is(err, finisher.ErrNotSplit):
		return cmdline.Hint(err, "nothing was changed; list the turns with: git agent-turn list --mission "+string(id))
	}
	return command.Missing(err)
}

func removeFinished(c *cli.Context, w *workspace.Workspace, here *workspace.Workspace, id record.ID, done *finisher.Finished) error {
	if done.Worktree != "" && here.Repo.Top == done.Worktree {
		return cmdline.Hintf(fmt.Errorf("the command runs in %s, the worktree of mission %s", done.Worktree, id), "remove it from another one: git agent-turn finish --remove %s", id)
	}
	live, err := command.Live(c.Context, w, time.Now())
	if err != nil {
		return err
	}
	for _, l := range live {
		if l.Mission == id && done.Worktree != "" {
			return cmdline.Hintf(fmt.Errorf("an agent of mission %s is in %s", id, done.Worktree), "end its session first, then: git agent-turn finish --remove %s", id)
		}
	}
	gone, err := missionstore.RemoveFinished(c.Context, w, id, done.Finish)
	switch {
	case errors.Is(err, missionstore.ErrUnseen) && done.Worktree == "":
		return cmdline.Hintf(err, "as a user who may look at it, type: git agent-turn finish --remove %s", id)
	case errors.Is(err, missionstore.ErrUnseen):
		return cmdline.Hintf(err, "if it was moved, tell git where it is: git worktree repair <path>; if it is gone: %s; then, or where the worktree is, type: git agent-turn finish --remove %s",
			cmdline.Shell([]string{"git", "worktree", "remove", "--force", done.Worktree}), id)
	case errors.Is(err, missionstore.ErrInUse):
		drop := cmdline.Shell([]string{"git", "worktree", "remove", "--force", done.Worktree}) + fmt.Sprintf(" && git agent-turn finish --remove %s", id)
		return command.InUse(c.Context, here, id, drop, err)
	case errors.Is(err, missionstore.ErrLost):
		return cmdline.Hintf(err, "give that commit a branch, then: git agent-turn finish --remove %s", id)
	case err != nil:
		return err
	case gone.Branch == "":
		fmt.Fprintf(c.App.ErrWriter, "mission %s has no branch to remove\n", id)
		return nil
	}
	text := "removed branch " + gone.Branch
	if gone.Worktree != "" {
		text += ", worktree " + cmdline.Escape(gone.Worktree)
	}
	fmt.Fprintln(c.App.ErrWriter, text)
	return nil
}
