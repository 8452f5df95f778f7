package main

import (
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/turns"
)

// The output of --json.
type (
	comparisonJSON struct {
		From  *record.TurnID `json:"from"` // null if they began at different states
		Forks []forkJSON     `json:"forks"`
		Pairs []pairJSON     `json:"pairs"`
	}
	forkJSON struct {
		Mission record.ID      `json:"mission"`
		Title   string         `json:"title,omitempty"`
		State   turns.Activity `json:"state"`
		By      string         `json:"by"`
		From    record.TurnID  `json:"from"`
		Base    object.Hash    `json:"base"`
		Commit  object.Hash    `json:"commit"`
		Turns   int            `json:"turns"`
		Prompts []promptJSON   `json:"prompts"`
		Outcome record.Outcome `json:"outcome,omitempty"`
		*statJSON
		Paths    []string         `json:"paths,omitempty"`
		Output   int64            `json:"output"`
		Context  int64            `json:"context"`
		Seconds  int64            `json:"seconds"`
		At       time.Time        `json:"at,omitzero"`
		Adopted  *record.Adoption `json:"adopted,omitempty"`
		Finished *record.Finish   `json:"finished,omitempty"`
		Worktree string           `json:"worktree,omitempty"`
		Changed  bool             `json:"changed,omitempty"`
		Check    *checkJSON       `json:"check,omitempty"`
	}
	promptJSON struct {
		Turn    int            `json:"turn"`
		Prompt  string         `json:"prompt"`
		Outcome record.Outcome `json:"outcome"`
	}
	statJSON struct {
		Files      int `json:"files"`
		Insertions int `json:"insertions"`
		Deletions  int `json:"deletions"`
	}
	checkJSON struct {
		Status  *int    `json:"status,omitempty"`
		Why     string  `json:"why,omitempty"`
		Seconds float64 `json:"seconds"`
		Output  string  `json:"output"`
	}
	pairJSON struct {
		A string `json:"a"`
		B string `json:"b"`
		*statJSON
		Both int `json:"both"`
	}
)

func (t *comparing) json() comparisonJSON {
	all := comparisonJSON{Forks: []forkJSON{}, Pairs: []pairJSON{}}
	if p := t.from(); p != nil {
		all.From = &p.Of
	}
	for _, f := range t.forks {
		all.Forks = append(all.Forks, f.json())
	}
	for _, p := range t.pairs {
		all.Pairs = append(all.Pairs, pairJSON{p.a.name, p.b.name, newStatJSON(p.Changes, p.Unknown), p.Both})
	}
	return all
}

func (f *compared) json() forkJSON {
	j := forkJSON{
		Mission: f.Mission.ID, Title: f.Mission.Title, State: f.state, By: f.By, From: f.Point.Of, Base: f.Point.Commit, Commit: f.Commit,
		Turns: f.Turns, Prompts: []promptJSON{}, statJSON: newStatJSON(f.Changes, f.Unknown), Output: f.Output, Context: f.Context,
		Seconds: int64(f.Took / time.Second), At: f.Ended, Adopted: f.Mission.Adopted, Finished: f.Finished, Changed: f.changed,
	}
	for _, s := range f.Said {
		j.Prompts = append(j.Prompts, promptJSON(s))
	}
	if f.Last != nil {
		j.Outcome = f.Last.Outcome
	}
	for _, s := range f.Changes[:min(len(f.Changes), maxChanged)] {
		j.Paths = append(j.Paths, s.Path)
	}
	if f.there != nil {
		j.Worktree = f.there.Top
	}
	if k := f.check; k != nil {
		j.Check = &checkJSON{Why: k.why, Seconds: k.took.Round(time.Millisecond).Seconds(), Output: k.output}
		if k.why == "" {
			j.Check.Status = &k.status
		}
	}
	return j
}

func newStatJSON(changes []gitdiff.FileStat, unknown error) *statJSON {
	if unknown != nil {
		return nil
	}
	insertions, deletions := count(changes)
	return &statJSON{len(changes), insertions, deletions}
}
