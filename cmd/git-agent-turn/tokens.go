package main

import (
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/record"
	"gitagent/internal/usage"
	"gitagent/turns"
)

func newTokenTable(name cmdline.Column) *cmdline.Table {
	columns := []cmdline.Column{name, {Styles: lookOfMark}, {Name: "WHEN", Right: true, Style: cmdline.Dim, Min: 4}}
	for _, name := range []string{"INPUT", "CACHE-R", "CACHE-W", "OUTPUT", "AGENTS"} {
		columns = append(columns, cmdline.Column{Name: name, Right: true, Min: 7})
	}
	return cmdline.NewTable(append(columns,
		cmdline.Column{Name: "MODEL", Style: cmdline.Cyan, Min: 15},
		cmdline.Column{Name: "PROMPT", Min: 12, Spare: true},
	)...)
}

type tokenSum struct {
	record.Usage
	turns, unknown int
}

func (s *tokenSum) cells(t *turns.Turn) []string {
	of := t.Spent()
	s.turns++
	if t.Away() { // they count at home
		return make([]string, 6)
	}
	if !t.SpentKnown() {
		s.unknown++
		return []string{"?", "?", "?", "?", "", ""}
	}
	s.Models, s.Agents = s.Models.Plus(of.Models), s.Agents.Plus(of.Agents)
	return tokenCells(of.Models.Sum(), of.Agents.Sum(), modelNames(of.Models))
}

// tokenCells returns the token columns; agents is for subagents.
func tokenCells(of, agents usage.Tokens, model string) []string {
	return []string{
		number(of.Input), number(of.CacheRead), number(of.CacheWrite), number(of.Output), cmdline.Count(agents.Total()), model,
	}
}

func number(n int64) string {
	if n <= 0 {
		return "0"
	}
	return cmdline.Count(n)
}

// modelNames names the model with the most tokens, and counts the others.
func modelNames(m usage.ByModel) string {
	names := m.Models()
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 1:
		return fmt.Sprintf("%s +%d", cmdline.OneLine(names[0]), len(names)-1)
	}
	return cmdline.OneLine(names[0])
}

func (s *tokenSum) print(add func(cells ...string) error) error {
	if s.turns == 0 {
		return nil
	}
	row := func(of, agents usage.Tokens, model, text string) error {
		return add(slices.Concat([]string{"total", "", ""}, tokenCells(of, agents, model), []string{text})...)
	}
	all := s.Models.Plus(s.Agents)
	if names := all.Models(); len(names) > 1 {
		for _, name := range names[:min(len(names), shownModels)] {
			if err := row(s.Models[name], s.Agents[name], cmdline.OneLine(name), ""); err != nil {
				return err
			}
		}
	}
	text := cmdline.Plural(s.turns, "turn")
	if s.unknown > 0 {
		text += fmt.Sprintf(", %d unknown", s.unknown)
	}
	return row(s.Models.Sum(), s.Agents.Sum(), "", text)
}

// shownModels bounds the named models: an untrusted record may name any number.
const shownModels = 20

func tokensText(m usage.ByModel) string {
	var list []string
	for _, name := range m.Models()[:min(len(m), shownModels)] {
		t := m[name]
		text := cmdline.OneLine(name) + " " + number(t.Input) + " in"
		if t.CacheRead > 0 {
			text += ", " + cmdline.Count(t.CacheRead) + " from the cache"
		}
		if t.CacheWrite > 0 {
			text += ", " + cmdline.Count(t.CacheWrite) + " to the cache"
		}
		list = append(list, text+", "+number(t.Output)+" out")
	}
	return strings.Join(list, "; ")
}

// spentCells returns the tokens that a mission's turns were sent, with caches,
// and wrote. ">" marks a mission with uncounted first turns.
func spentCells(m *record.Mission) (input, output string) {
	if m.Spent == nil {
		return "", ""
	}
	all, more := m.Spent.All(), ""
	if !m.SpentAll() {
		more = ">"
	}
	return more + number(all.Sent()), more + number(all.Output)
}
