package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/hook"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/places"
	"gitagent/internal/purge"
	"gitagent/internal/recall"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// keepSessions is how long a session's state is kept after its last event.
const keepSessions = 90 * 24 * time.Hour

func housekeepCommand() *cli.Command {
	return &cli.Command{
		Name:   "housekeep",
		Usage:  "pack what is small, and forget what is old; started by the hooks",
		Hidden: true,
		Action: cmdline.NoArgs(keepHouse),
	}
}

// keepHouse is started by hooks. Only one runs at a time, and none during a
// purge. A failing part does not stop the others; errors are logged.
func keepHouse(c *cli.Context) error {
	repo, err := git.Find(".")
	if err == nil {
		err = repo.Trusted(c.Context)
	}
	if err != nil {
		return err
	}
	w, err := workspace.Open(repo)
	if err != nil { // valid settings still count, as for a hook
		w.Store.Log(time.Now(), "housekeeping: "+err.Error())
	}
	if _, err := w.Store.Dir().Lstat("."); err != nil || purge.Unfinished(w.Store) {
		return nil // all was removed since the hook, or a purge is about to run
	}
	held, err := w.Store.TryLock("housekeeping")
	if err != nil || held == nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(c.Context, held); err != nil {
		return err
	}
	now := time.Now()
	parts := []func() error{
		func() error {
			if !w.Settings.Recall.Edits {
				return nil
			}
			return recall.Note(c.Context, w)
		},
		func() error { return git.RollUp(c.Context, w.Repo) },
		func() error { return git.PackRefs(c.Context, w.Repo, held) },
	}
	if w.Store.Due(now) {
		parts = append(parts, daily(c, w, held, now)...)
	}
	var errs []error
	for _, do := range parts {
		if err := do(); err != nil {
			w.Store.Log(now, "housekeeping: "+err.Error())
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func daily(c *cli.Context, w *workspace.Workspace, held *statedir.Lock, now time.Time) []func() error {
	s := w.Settings.Housekeeping
	return []func() error{
		func() error { return w.Store.Housekept(now) },
		func() error { return forgetSessions(w.Store, s, now) },
		func() error {
			if away, ok := hook.Away(); ok {
				return forgetSessions(away, s, now)
			}
			return nil
		},
		func() error { return places.Of(os.Getenv).Prune(now) },
		func() error {
			return handoffstore.PruneArtifacts(handoffstore.DataDir(os.Getenv), bound(now, s.ArtifactsAge), s.ArtifactsSize)
		},
		func() error { return archiveOld(c, w, s.ArchiveAfter) },
		func() error { return w.KeepAll(c.Context, nil) },
		func() error { return git.Maintain(c.Context, w.Repo, held) },
	}
}

func forgetSessions(s session.Store, c config.Housekeeping, now time.Time) error {
	return errors.Join(s.Prune(now.Add(-keepSessions)), s.TrimLog(bound(now, c.LogAge), c.LogSize))
}

// bound returns the time age ago, or the zero time, for no bound, if age is 0.
func bound(now time.Time, age time.Duration) time.Time {
	if age == 0 {
		return time.Time{}
	}
	return now.Add(-age)
}

// archiveOld archives missions as old as the user has configured.
func archiveOld(c *cli.Context, w *workspace.Workspace, age time.Duration) error {
	if age == 0 {
		return nil
	}
	ids, err := oldMissions(c, w, age)
	if err != nil && !errors.As(err, new(*ledger.UnreadError)) || len(ids) == 0 {
		return err
	}
	used, err := inUse(c, w)
	if err == nil {
		_, err = missionstore.Archive(c.Context, w, ids, used, false)
	}
	if err != nil {
		return fmt.Errorf("archive old missions: %w", err)
	}
	return nil
}
