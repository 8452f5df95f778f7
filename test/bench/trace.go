package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A traced is one Stop hook with what git tells of itself.
type traced struct {
	sample
	began time.Time
	trace []byte
}

// trace shows when the git processes of a Stop hook ran: of several hooks, the one in the middle by
// its time.
func trace(l *lab) {
	s := l.newTwins("trace", smallFiles).hook.newSession()
	file := filepath.Join(l.dir, "trace")
	env := s.env
	var all []traced
	for range warmUp + l.times(15) {
		s.prompt()
		s.repo.change()
		s.write()
		s.env = append(env[:len(env):len(env)], "GIT_TRACE2_EVENT="+file)
		began := time.Now()
		stop := s.stop()
		s.env = env
		all = append(all, traced{stop, began, must(os.ReadFile(file))})
		check(os.Remove(file))
	}
	all = all[warmUp:]
	slices.SortFunc(all, func(a, b traced) int { return int(a.wall - b.wall) })
	all[len(all)/2].print()
	s.check(2)
}

// print prints a line for each process. A process's time begins when git begins to trace, after the
// system has loaded the program.
func (t traced) print() {
	type event struct {
		Event string    `json:"event"`
		SID   string    `json:"sid"`
		Time  time.Time `json:"time"`
		Abs   float64   `json:"t_abs"` // seconds since the process began
		Argv  []string  `json:"argv"`
	}
	type process struct{ start, exit event }
	processes := make(map[string]*process)
	var order []string
	for line := range bytes.Lines(t.trace) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			check(fmt.Errorf("read git's trace: %w", err))
		}
		if processes[e.SID] == nil {
			processes[e.SID] = new(process)
			order = append(order, e.SID)
		}
		switch e.Event {
		case "start":
			processes[e.SID].start = e
		case "atexit":
			processes[e.SID].exit = e
		}
	}
	slices.SortFunc(order, func(a, b string) int { return processes[a].start.Time.Compare(processes[b].start.Time) })
	fmt.Printf("the whole hook: %.2f ms, %.2f ms of CPU\n", ms(t.wall), ms(t.cpu))
	fmt.Printf("%8s %8s  %s\n", "from", "ms", "")
	for _, sid := range order {
		p := processes[sid]
		from := ms(p.start.Time.Sub(t.began)) - p.start.Abs*1000
		took := fmt.Sprintf("%.2f", p.exit.Abs*1000)
		if p.exit.Event == "" {
			took = "killed"
		}
		indent := strings.Repeat("  ", strings.Count(sid, "/")) // a child of another git
		fmt.Printf("%8.2f %8s  %s%s\n", from, took, indent, strings.Join(p.start.Argv, " "))
	}
}
