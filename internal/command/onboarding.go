package command

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A Situation is what decides what would help in a repository.
type Situation struct {
	Recording bool   // turns are recorded here
	Because   string // why, or why not
	Bare      bool   // there is no worktree here, and nothing can be recorded
	Missions  int
	Running   bool   // a turn is under way; not looked for if there are missions
	Remote    string // to fetch from; "" for none
	// Importable counts earlier conversations that could be recorded. If there
	// are missions, only [Situation.LookBack] counts them.
	Importable int

	refs map[string]object.Hash // those of missions
}

// Look finds out the situation of a repository, without network. Unreadable
// conversations of clients are no error and not counted.
func Look(ctx context.Context, w *workspace.Workspace) (s Situation, err error) {
	verdict, err := w.Recording(ctx)
	if err != nil {
		return s, err
	}
	s.Recording, s.Because = verdict.On, w.Because(verdict)
	repo := w.Repo
	s.Bare = repo.Top == ""
	if s.refs, err = ledger.Refs(ctx, repo); err != nil {
		return s, err
	}
	s.Missions = ledger.Count(s.refs)
	names, err := remote.Names(ctx, repo)
	if err != nil {
		return s, err
	}
	s.Remote = remote.Usual(names)
	if s.Missions == 0 {
		if live, err := Live(ctx, w, time.Now()); err == nil {
			s.Running = slices.ContainsFunc(live, func(l turns.Live) bool { return l.Open != nil })
		}
		if !verdict.Withholds() {
			_ = s.LookBack(ctx, w) // advice alone
		}
	}
	return s, ctx.Err()
}

// ToInstall returns the agents whose hooks init installs by default: those used
// on this machine, or else the default one.
func ToInstall() []*agent.Agent {
	if some := agent.Installed(os.Getenv); len(some) > 0 {
		return some
	}
	return []*agent.Agent{agent.Default()}
}

// LookBack counts the earlier conversations that could be recorded. If there
// are any, it reads every mission. With an error there may be more.
func (s *Situation) LookBack(ctx context.Context, w *workspace.Workspace) (err error) {
	if w.Repo.Top != "" {
		s.Importable, err = recorder.Importable(ctx, w, os.Getenv)
	}
	return err
}

// A Step is something to do next.
type Step struct {
	Aim     string // that does it, if any of ours does
	Command string // that does it; "" for what no command of ours does
}

// Begin returns the steps that bring turns into a repository without any.
func (s Situation) Begin() []Step {
	var steps []Step
	switch {
	case s.Bare:
		steps = append(steps, Step{Aim: "change into a worktree: turns are recorded where agents work"})
	case !s.Recording:
		steps = append(steps, Step{"switch recording on", "git agent-turn init"})
	case s.Running:
		steps = append(steps, Step{"see the turn that is running", "git agent-turn list --all"})
	default:
		steps = append(steps, Step{Aim: "start the agent's client here, and work as always"})
	}
	if s.Remote != "" {
		steps = append(steps, Step{"bring what was recorded elsewhere", "git agent-turn fetch " + cmdline.Shell([]string{s.Remote})})
	}
	return append(steps, s.Import()...)
}

// Import returns the step that records earlier conversations, if there are any.
func (s Situation) Import() []Step {
	if s.Importable == 0 {
		return nil
	}
	return []Step{{"record " + cmdline.Plural(s.Importable, "conversation") + " from before", "git agent-turn import"}}
}

// NoMission returns an error that there is no mission, and advice.
func NoMission(ctx context.Context, w *workspace.Workspace) error {
	s, err := Look(ctx, w)
	if err != nil {
		return err
	}
	if s.Missions > 0 {
		return cmdline.Hint(cmdline.NotFoundf("no turn has been recorded in this worktree"),
			"name a mission with --mission <id>; list them with: git agent-turn missions")
	}
	if archived, _ := ledger.ListArchived(ctx, w.Repo); len(archived) > 0 {
		return cmdline.Hint(cmdline.NotFoundf("all missions are archived"), "list them with: git agent-turn missions --archived")
	}
	return cmdline.Hint(cmdline.NotFoundf("no mission has been recorded here"), hint(s.Begin()))
}

// Advise adds to an error the advice or, without missions, how to begin.
func Advise(ctx context.Context, w *workspace.Workspace, err error, advice string) error {
	s, unknown := Look(ctx, w)
	switch {
	case unknown != nil:
		return err
	case s.Missions > 0:
		return cmdline.Hint(err, advice)
	}
	return cmdline.Hint(err, "no mission has been recorded here; "+hint(s.Begin()))
}

func hint(steps []Step) string {
	var parts []string
	for _, s := range steps {
		part := s.Aim
		if s.Command != "" {
			part += " with: " + s.Command
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; or ")
}
