package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/turns"
)

// A stepRow is a step as tables show it.
type stepRow struct {
	name, tools, added, removed, paths, fate string
	at                                       time.Time
}

func stepRowOf(t *turns.Turn, s turns.Step) stepRow {
	r := stepRow{name: fmt.Sprintf("%d.%d", t.Turn, s.Number), tools: toolsOf(t, s), at: s.At, paths: pathsOf(s.Changed)}
	if s.Had() {
		insertions, deletions := 0, 0
		for _, f := range s.Changed {
			insertions, deletions = insertions+f.Insertions, deletions+f.Deletions
		}
		r.added, r.removed = fmt.Sprintf("+%d", insertions), fmt.Sprintf("-%d", deletions)
	}
	switch {
	case !s.Kept.IsZero():
		r.fate = "kept"
	case s.Had():
		r.fate = "here"
	default:
		r.fate = "not kept"
	}
	return r
}

// A stepJSON is a step as lists in JSON have it.
type stepJSON struct {
	Kind       string     `json:"kind"`
	Name       string     `json:"name"`
	Mission    record.ID  `json:"mission"`
	At         *time.Time `json:"at,omitempty"`
	Where      string     `json:"where"` // kept, here, not kept
	Session    string     `json:"session,omitempty"`
	Tools      []string   `json:"tools,omitempty"`
	Files      int        `json:"files"`
	Insertions int        `json:"insertions"`
	Deletions  int        `json:"deletions"`
	Paths      []string   `json:"paths,omitempty"`
}

func stepJSONOf(t *turns.Turn, s turns.Step) stepJSON {
	j := stepJSON{Kind: "step", Name: fmt.Sprintf("%s.%d", t.After(), s.Number), Mission: t.In(), Where: stepRowOf(t, s).fate, Session: s.Session, Files: len(s.Changed)}
	if !s.At.IsZero() {
		at := s.At.UTC()
		j.At = &at
	}
	for _, call := range s.Calls {
		j.Tools = append(j.Tools, call.Tool)
	}
	for i, f := range s.Changed {
		j.Insertions, j.Deletions = j.Insertions+f.Insertions, j.Deletions+f.Deletions
		if i < record.MaxPaths {
			j.Paths = append(j.Paths, f.Path)
		}
	}
	return j
}

// toolsOf names the tools after whose calls a step came, and the session if it
// is another one.
func toolsOf(t *turns.Turn, s turns.Step) string {
	var names []string
	for _, call := range s.Calls {
		if !slices.Contains(names, call.Tool) {
			names = append(names, call.Tool)
		}
	}
	text := strings.Join(names, ", ")
	if s.Before {
		text = "before a command"
	}
	if s.Session != "" && s.Session != t.Session {
		text = strings.TrimSpace(text + " (session " + s.Session + ")")
	}
	return text
}

func pathsOf(files []gitdiff.FileStat) string {
	switch len(files) {
	case 0:
		return ""
	case 1:
		return files[0].Path
	}
	return fmt.Sprintf("%s +%d", files[0].Path, len(files)-1)
}

// steps prints the states that were seen within a turn.
func (s *shower) steps(t *turns.Turn) error {
	list, err := t.Steps(s.c.Context, s.w)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return cmdline.NotFoundf("no step of turn %s is known here", t.After())
	}
	table := cmdline.NewTable(
		cmdline.Column{Name: "STEP", Right: true, Style: cmdline.Yellow, Key: true},
		cmdline.Column{Name: "AT", Style: cmdline.Dim},
		cmdline.Column{Name: "AFTER"},
		cmdline.Column{Name: "+", Right: true, Style: cmdline.Green},
		cmdline.Column{Name: "-", Right: true, Style: cmdline.Red},
		cmdline.Column{Name: "PATHS"},
		cmdline.Column{Name: "WHERE", Style: cmdline.Dim},
	)
	for _, step := range list {
		r := stepRowOf(t, step)
		at := ""
		if !r.at.IsZero() {
			at = s.dates.Long(s.now, r.at)
		}
		table.Row(r.name, at, r.tools, r.added, r.removed, r.paths, r.fate)
	}
	return table.Print(s.out)
}
