package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/repair"
)

func doRepair(c *cli.Context) error {
	if !c.Bool("repair") {
		return cmdline.Usagef("--dry-run goes with --repair")
	}
	if c.Bool("verbose") || c.IsSet("remote") {
		return cmdline.Usagef("--repair goes with --dry-run and --json only")
	}
	w, err := command.Unfollowed(c.Context)
	if err != nil {
		return err
	}
	found, err := repair.Run(c.Context, w, time.Now(), c.Bool("dry-run"))
	if err != nil {
		return err
	}
	var list []finding
	for _, f := range found {
		list = append(list, repaired(f, c.Bool("dry-run")))
	}
	if len(list) == 0 {
		list = append(list, finding{Level: fine, What: "repair", Text: "nothing is damaged, missing or stale"})
	}
	if err := report(c, list, cmdline.Dates{}); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	return nil
}

// repaired returns a repair's finding as doctor's.
func repaired(f repair.Finding, dry bool) finding {
	switch {
	case f.Mended != "" && dry:
		return finding{Level: warning, What: "to mend", Text: f.What + "; then " + f.Mended, Remedy: "git agent-turn doctor --repair"}
	case f.Mended != "":
		return finding{Level: fine, What: "mended", Text: f.What + "; " + f.Mended}
	case f.Lost:
		return finding{Level: problem, What: "missing", Text: f.What, Remedy: f.Hint}
	}
	return finding{Level: warning, What: "left", Text: f.What, Remedy: f.Hint}
}
