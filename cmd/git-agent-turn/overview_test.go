package main

import (
	"slices"
	"testing"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/trust"
	"gitagent/turns"
)

func TestNext(t *testing.T) {
	t.Parallel()
	const start, doctor, list, show, diff, missions = "", "git agent-turn doctor", "git agent-turn list", "git agent-turn show", "git agent-turn diff", "git agent-turn missions"
	const all = "git agent-turn list --all"
	on := command.Situation{Recording: true, Missions: 1, Remote: "origin"}
	off, two, busy := on, on, on
	off.Recording, two.Missions, busy.Running = false, 2, true
	for _, tt := range []struct {
		name string
		in   brief
		want []string
	}{
		{"nothing, off", brief{}, []string{"git agent-turn init"}},
		{"nothing, on", brief{situation: command.Situation{Recording: true}}, []string{start}},
		{"a clone", brief{situation: command.Situation{Remote: "origin"}}, []string{"git agent-turn init", "git agent-turn fetch origin"}},
		{"no turn yet", brief{situation: on}, []string{start}},
		{"the first turn of all", brief{situation: command.Situation{Recording: true, Running: true}, first: true}, []string{all}},
		{"the first turn of a mission", brief{situation: busy, first: true}, []string{all, missions}},
		{"the first turn, switched off since", brief{situation: command.Situation{Running: true}, first: true}, []string{"git agent-turn init"}},
		{"a turn that changed nothing", brief{situation: on, last: &turns.Turn{}}, []string{list, show}},
		{"a turn", brief{situation: two, last: &turns.Turn{Files: 1}}, []string{list, show, diff}},
		{"two missions", brief{situation: two, last: &turns.Turn{}}, []string{list, show, missions}},
		{"switched off since", brief{situation: off, last: &turns.Turn{Files: 1}}, []string{"git agent-turn init", list, show}},
		{"something is wrong", brief{situation: on, last: &turns.Turn{Files: 1}, found: []finding{{}}}, []string{doctor, list, show}},
	} {
		var got []string
		for _, s := range tt.in.next() {
			got = append(got, s.Command)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: next = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	repo := &git.Repo{Top: "/repo"}
	last := &turns.Turn{Mission: "a1b2c3d4", Turn: 3, At: now.Add(-5 * time.Minute), Outcome: record.Failed, Prompt: "fix\nit"}
	left := &handoffstore.Handoff{Mission: "a1b2c3d4", Number: 2, At: now.Add(-time.Hour), LastPrompt: "fix it"}
	for _, tt := range []struct {
		name string
		in   brief
		want []string
	}{
		{"nothing", brief{}, []string{"recording: off in /repo", "mission: none has been recorded here"}},
		{"everything", brief{
			situation: command.Situation{Recording: true, Missions: 1},
			mission:   &record.Mission{ID: "a1b2c3d4", Title: "the login", Branch: "refs/heads/agent/mission/a1b2c3d4"},
			last:      last, by: trust.Clone, handoff: left,
			running: []turns.Live{{Mission: "a1b2c3d4", Number: 4, Open: &session.OpenTurn{Started: now.Add(-2 * time.Minute), Prompt: "go\ton"}}},
		}, []string{
			"recording: on in /repo", "mission: a1b2c3d4 the login", "branch: agent/mission/a1b2c3d4", "running: a1b2c3d4/4, 2m ago: go on",
			"last turn: a1b2c3d4/3, 5m ago, failed: fix it", "handoff: a1b2c3d4/2, 1h ago, waits for the next session: fix it",
		}},
		{"a stranger's", brief{
			situation: command.Situation{Recording: true, Missions: 1}, mission: &record.Mission{ID: "a1b2c3d4"},
			last: last, by: trust.Unknown, handoff: left, waiting: "a1b2c3d4",
		}, []string{
			"recording: on in /repo", "mission: a1b2c3d4", "last turn: a1b2c3d4/3, 5m ago, failed: [unknown] fix it",
			"handoff: a1b2c3d4/2 is untrusted; no agent is told of it before you accept it",
		}},
	} {
		var got []string
		for _, f := range tt.in.facts(repo, now, cmdline.Dates{}) {
			got = append(got, f.What+": "+f.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: facts = %q, want %q", tt.name, got, tt.want)
		}
	}
}
