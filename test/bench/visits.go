package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// visits measures the turns that act in other repositories, too, against those that are at home alone: the tools'
// first call there, one that follows, and the turn's end. Each repository has the same change in each turn.
func visits(l *lab) {
	home := l.newRepository("visits", smallFiles)
	home.enable()
	var others []*repository
	for i := range 4 {
		r := l.newRepository(fmt.Sprint("visited", i), smallFiles)
		r.enable()
		others = append(others, r)
	}
	turn, handoff := home.lab, *l
	handoff.program = l.now().program("git-agent-handoff")
	s := home.newSession()
	n := 0
	edit := func(in []*repository) sample {
		home.lab = &handoff
		defer func() { home.lab = turn }()
		var calls []any
		for _, r := range in {
			n++
			calls = append(calls, map[string]any{
				"tool_name": "Edit", "tool_use_id": fmt.Sprint("toolu_", n), "tool_input": map[string]any{"file_path": filepath.Join(r.dir, path(7))}, "tool_response": "ok",
			})
		}
		return s.hook(s.payload("PostToolBatch", fields{"prompt_id": s.writer.promptID, "tool_calls": calls}))
	}
	counts := []int{0, 1, 2, 4}
	var firsts, laters, stops [5]series
	for i := range warmUp + l.times(smallTimes) {
		for _, k := range counts {
			touched := append([]*repository{home}, others[:k]...)
			s.prompt()
			for _, r := range touched {
				r.change()
			}
			first, later := edit(touched), edit(touched)
			s.write()
			if stop := s.stop(); i >= warmUp {
				firsts[k], laters[k], stops[k] = append(firsts[k], first), append(laters[k], later), append(stops[k], stop)
			}
		}
	}
	heading()
	for _, k := range counts[1:] {
		target := fmt.Sprintf("%d.00", k+1)
		compare(fmt.Sprintf("PostToolBatch, first call, and %d more", k), firsts[k], firsts[0], "")
		compare(fmt.Sprintf("PostToolBatch, later call, and %d more", k), laters[k], laters[0], target)
		compare(fmt.Sprintf("Stop, and %d more", k), stops[k], stops[0], target)
	}
	rounds := warmUp + l.times(smallTimes)
	for i, times := range []int{3, 2, 1, 1} {
		r := others[i]
		if got := strings.Count(r.feed(r.dir, nil, r.program, "list", "--json"), "\n") + 1; got != rounds*times {
			check(fmt.Errorf("a visited repository has %d turns, %d were played", got, rounds*times))
		}
	}
}
