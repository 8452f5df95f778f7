package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/monitor"
	"gitagent/internal/transcript"
)

// A point says at how many tokens the sessions with a model were compacted.
type point struct {
	Model    string `json:"model"`
	Auto     int    `json:"auto"`              // compactions because the context was full
	Lowest   int    `json:"lowest,omitempty"`  // the least and
	Highest  int    `json:"highest,omitempty"` // the most tokens at which these happened
	Manual   int    `json:"manual"`            // compactions that the user asked for
	Window   int    `json:"window"`            // as configured
	Proposed int    `json:"proposed,omitempty"`
	Warning  int    `json:"warning"` // with the proposed window, if there is one
	Critical int    `json:"critical"`
}

func calibrate(c *cli.Context) error {
	path := config.UserPath()
	settings, err := config.Load(path, "") // the repository's file does not count here
	if err != nil {
		return err
	}
	points, err := compactionPoints()
	if err != nil {
		return err
	}
	if len(points) == 0 {
		return cmdline.NotFoundf("no session of this machine was ever compacted")
	}
	windows := map[string]int{}
	for _, p := range points {
		if p.propose(&settings.Context); p.Proposed > 0 {
			windows[p.Model] = p.Proposed
		}
	}
	if err := printPoints(c, points); err != nil || !c.Bool("write") || len(windows) == 0 {
		return err
	}
	if err := config.SetWindows(path, windows); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "wrote %s to %s\n", cmdline.Plural(len(windows), "window"), cmdline.Escape(path))
	return nil
}

// compactionPoints reads the files of all sessions of this machine.
func compactionPoints() ([]*point, error) {
	found := map[string]*point{}
	for _, a := range agent.All() {
		files, err := a.Files(a.ConfigDir(os.Getenv), "")
		if err != nil {
			return nil, err
		}
		for i, f := range files {
			if cmdline.IsTerminal(os.Stderr) {
				fmt.Fprintf(os.Stderr, "\r%d of %s\x1b[K", i+1, cmdline.Plural(len(files), "session"))
			}
			compactions, err := transcript.Compactions(a.Reader, f.Path)
			if err != nil {
				continue // removed meanwhile, or not readable for us
			}
			for _, c := range compactions {
				name := c.Model
				if strings.HasSuffix(c.Variant, "[1m]") {
					name += "[1m]"
				}
				if found[name] == nil {
					found[name] = &point{Model: name}
				}
				found[name].add(c)
			}
		}
	}
	if cmdline.IsTerminal(os.Stderr) {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *point) int { return cmp.Compare(a.Model, b.Model) }), nil
}

func (p *point) add(c transcript.Compaction) {
	if !c.Auto {
		p.Manual++
		return
	}
	tokens := int(c.Tokens)
	if p.Auto++; p.Auto == 1 || tokens < p.Lowest {
		p.Lowest = tokens
	}
	p.Highest = max(p.Highest, tokens)
}

// propose makes a model's window what has proved to fit: at least as much as there was at a
// compaction. A window that the user chooses with the model, [1m], is not in the table.
func (p *point) propose(c *config.Context) {
	model, chosen := strings.CutSuffix(p.Model, "[1m]")
	l := (&monitor.State{Model: model, Variant: p.Model}).Limits(c)
	p.Window, p.Warning, p.Critical = l.Window, l.Warning, l.Critical
	const step = 1000
	if fits := p.Lowest / step * step; fits > 0 && fits != p.Window && !chosen && model != "" {
		p.Proposed, p.Warning, p.Critical = fits, c.Warning.Of(fits), c.Critical.Of(fits)
	}
}

func printPoints(c *cli.Context, points []*point) error {
	if c.Bool("json") {
		var errs []error
		for _, p := range points {
			errs = append(errs, cmdline.PrintJSON(c.App.Writer, p))
		}
		return errors.Join(errs...)
	}
	right := cmdline.Column{Right: true}
	table := cmdline.NewTable(cmdline.Column{Style: cmdline.Yellow}, right, cmdline.Column{Right: true}, right, right, right, right, right)
	table.Row("model", "auto", "at", "manual", "window", "proposed", "warning", "critical")
	for _, p := range points {
		at, proposed := "", "-"
		if p.Auto > 0 {
			at = comma(p.Lowest)
		}
		if p.Highest > p.Lowest {
			at += "-" + comma(p.Highest)
		}
		if p.Proposed > 0 {
			proposed = comma(p.Proposed)
		}
		table.Row(p.Model, fmt.Sprint(p.Auto), at, fmt.Sprint(p.Manual), comma(p.Window), proposed, comma(p.Warning), comma(p.Critical))
	}
	return table.Print(c.App.Writer)
}
