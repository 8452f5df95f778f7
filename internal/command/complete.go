package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// The bounds of what is proposed, because a shell waits for it.
const (
	maxTurns    = 1000 // the newest
	maxMissions = 200  // those that this clone has recorded last, and some others
)

// CompleteTurns proposes the mission's turns with their prompts, `12^` after
// 12, another mission's turns after its id and a slash, and, after 4 digits or
// a letter, missions and saved states.
func CompleteTurns(c *cli.Context) {
	if w, err := Workspace(c.Context); err == nil {
		proposeStates(c, w, c.String("mission"), "", cmdline.Typed(c.Context))
	}
}

// CompleteRanges is [CompleteTurns] for what also takes two of them, `3..7`.
func CompleteRanges(c *cli.Context) {
	typed := cmdline.Typed(c.Context)
	from, second, isRange := strings.Cut(typed, "..")
	if !isRange {
		CompleteTurns(c)
	} else if w, err := Workspace(c.Context); err == nil {
		mission, ok := turns.MissionOf(from)
		if !ok {
			mission = c.String("mission")
		}
		proposeStates(c, w, mission, from+"..", second)
	}
}

// proposeStates proposes states, of the named mission, that begin with typed.
func proposeStates(c *cli.Context, w *workspace.Workspace, mission, prefix, typed string) {
	named, number, slashed := strings.Cut(typed, "/")
	if !slashed {
		number, named = typed, mission
	}
	id := Likely(c.Context, w, named)
	if id != "" && strings.Trim(number, "0123456789^") == "" {
		proposeTurns(c, w, id, prefix+strings.TrimSuffix(typed, number), number)
	}
	if slashed || typed == "" {
		return
	}
	cmdline.Propose(c, prefix+"latest", "the last turn")
	if isNumber := strings.Trim(typed, "0123456789") == ""; isNumber && len(typed) < 4 {
		return
	}
	proposeMissions(c, w, prefix, typed)
	if id != "" {
		saved, _ := turns.SavedLately(c.Context, w.Repo, id, maxTurns) // what can't be read is not proposed
		for _, s := range saved {
			cmdline.Propose(c, prefix+s.String(), s.Why)
		}
	}
}

// Likely is [Mission] for completion, without a look at very many missions.
func Likely(ctx context.Context, w *workspace.Workspace, named string) record.ID {
	id, err := Own(ctx, w, named)
	if id != "" || err != nil {
		return id
	}
	if some, err := ledger.ByPrefix(ctx, w.Repo, "", maxMissions); err != nil || len(some) == maxMissions {
		return ""
	}
	id, _ = Mission(ctx, w, "", io.Discard) // an error is not for a shell
	return id
}

var errEnough = errors.New("enough")

// proposeTurns proposes a mission's turns whose numbers begin with typed.
func proposeTurns(c *cli.Context, w *workspace.Workspace, id record.ID, prefix, typed string) {
	number, start := strings.CutSuffix(typed, "^")
	exact, _ := record.ParseNumber(number)
	propose := func(t *turns.Turn) {
		name := prefix + strconv.Itoa(t.Turn)
		cmdline.Propose(c, name, t.Prompt)
		if t.Turn == exact {
			cmdline.Propose(c, name+"^", "where it started")
		}
	}
	if exact > 0 { // it may be an old one
		if t, err := turns.Read(c.Context, w.Repo, id, exact); err == nil {
			propose(t)
		}
	}
	if start {
		return
	}
	n := 0
	_ = turns.Each(c.Context, w.Repo, id, func(t *turns.Turn) error { // what can't be read is not proposed
		if n++; n > maxTurns {
			return errEnough
		}
		if t.Turn != exact {
			propose(t)
		}
		return nil
	})
}

// CompleteMissions proposes the missions, with their titles or last prompts.
func CompleteMissions(c *cli.Context) {
	if w, err := Workspace(c.Context); err == nil {
		proposeMissions(c, w, "", cmdline.Typed(c.Context))
	}
}

// CompleteArchived proposes the archived missions that have no refs.
func CompleteArchived(c *cli.Context) {
	w, err := Workspace(c.Context)
	if err != nil {
		return
	}
	like, _ := ledger.ArchivedByPrefix(c.Context, w.Repo, cmdline.Typed(c.Context)) // unreadable ones are not proposed
	live, err := ledger.List(c.Context, w.Repo)
	if err != nil {
		return
	}
	like = slices.DeleteFunc(like, func(e ledger.ArchiveEntry) bool { return !live[e.ID].IsZero() })
	for _, e := range like[:min(len(like), maxMissions)] {
		cmdline.Propose(c, string(e.ID), e.Title)
	}
}

// CompleteForks proposes forks and, after an id and a slash, a fork's turns.
func CompleteForks(c *cli.Context) {
	typed := cmdline.Typed(c.Context)
	if strings.Contains(typed, "/") {
		CompleteTurns(c)
	} else if w, err := Workspace(c.Context); err == nil {
		proposeSome(c, w, "", typed, func(m turns.MissionLine) bool {
			_, err := turns.PointOf(m.Mission)
			return err == nil
		})
	}
}

func proposeMissions(c *cli.Context, w *workspace.Workspace, prefix, typed string) {
	proposeSome(c, w, prefix, typed, func(turns.MissionLine) bool { return true })
}

func proposeSome(c *cli.Context, w *workspace.Workspace, prefix, typed string, wanted func(turns.MissionLine) bool) {
	tips, err := someMissions(c.Context, w, typed)
	if err != nil {
		return
	}
	lines, _ := turns.Lines(c.Context, w.Repo, tips) // what can't be read is not proposed
	for _, m := range lines {
		if !wanted(m) {
			continue
		}
		about := m.Title
		if m.Last != nil {
			about = cmp.Or(about, m.Last.Prompt)
		}
		cmdline.Propose(c, prefix+string(m.ID), about)
	}
}

// someMissions returns missions whose ids begin with typed.
func someMissions(ctx context.Context, w *workspace.Workspace, typed string) (map[record.ID]object.Hash, error) {
	missions, err := ledger.ByPrefix(ctx, w.Repo, typed, maxMissions)
	if err != nil || len(missions) < maxMissions {
		return missions, err
	}
	var names []string
	for _, st := range w.Store.Recent(maxMissions) {
		if id := st.Mission; id.Valid() && strings.HasPrefix(string(id), typed) {
			names = append(names, id.Ref())
		}
	}
	if len(names) == 0 {
		return missions, nil
	}
	refs, err := w.Repo.Refs(ctx, names...)
	for _, name := range names {
		if tip, ok := refs[name]; ok {
			id, _ := record.ParseID(name[strings.LastIndexByte(name, '/')+1:])
			missions[id] = tip
		}
	}
	return missions, err
}

// CompleteRemotes proposes the remotes.
func CompleteRemotes(c *cli.Context) {
	w, err := Workspace(c.Context)
	if err != nil {
		return
	}
	names, err := remote.Names(c.Context, w.Repo)
	if err != nil {
		return
	}
	for _, name := range names {
		cmdline.Propose(c, name, "")
	}
}

// RemoteFlag returns a flag whose value is a remote.
func RemoteFlag(name, usage string) cli.Flag {
	return &cmdline.CompletedFlag{DocGenerationFlag: &cli.StringFlag{Name: name, Usage: usage}, Values: CompleteRemotes}
}

// First completes only the first argument.
func First(complete cli.BashCompleteFunc) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		if c.NArg() == 0 {
			complete(c)
		}
	}
}
