//go:build unix

package neighbours

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// A step is something that happens. do returns what, or "" if it cannot now.
type step struct {
	weight int
	do     func(w *world) string
}

// events are what agents and their users do with our programs.
var events = []step{
	{60, turnOf},
	{10, func(w *world) string {
		if len(w.clients) > 2 {
			return ""
		}
		c := w.begin("", w.shared && w.IntN(2) == 0)
		return fmt.Sprintf("a session begins, %s, of another user: %t", c.file, c.guest)
	}},
	{5, func(w *world) string {
		c := w.client()
		if c.Busy() {
			return ""
		}
		c.Compact("auto")
		return "compact " + c.file
	}},
	{6, func(w *world) string { // the next event has to find out
		c := w.client()
		if c.Busy() {
			return ""
		}
		w.prompt(c)
		c.Kill(w.IntN(2) == 0)
		w.end(c)
		return "a client dies in its turn, " + c.file
	}},
	{6, func(w *world) string {
		c := w.client()
		if c.Busy() {
			w.stop(c)
		}
		c.End("other")
		w.end(c)
		return "the session of " + c.file + " ends"
	}},
	{8, func(w *world) string {
		w.count++
		prompt := fmt.Sprintf("by hand %d", w.count)
		file := fmt.Sprintf("work/hand-%d", w.count)
		w.write(w.ours.dir(), file, prompt)
		w.write(w.twin.dir(), file, prompt)
		args := []string{"git-agent-turn", "record", "--prompt", prompt, "--outcome", "done"}
		if t := w.any(); t != nil && !t.archived && w.IntN(3) == 0 {
			args = append(args, "--mission", t.mission)
		}
		if r := w.own(args...); r.status == 0 {
			t := &turn{prompt: prompt, files: map[string]string{file: prompt + "\n"}}
			if name := strings.TrimSpace(r.stdout); !t.named(name) {
				w.find("record prints no turn", "%q", name)
			}
			w.acknowledge(t)
		}
		return strings.Join(args, " ")
	}},
	{5, func(w *world) string {
		w.count++
		dir := fmt.Sprintf("at-%d", w.count)
		args := []string{"git-agent-turn", "start", "--worktree", filepath.Join("..", dir)}
		r := w.own(args...)
		w.heard()
		if r.status == 0 {
			c := w.begin(dir, false)
			c.mission = strings.TrimSpace(r.stdout)
		}
		return fmt.Sprintf("%s: %d", strings.Join(args, " "), r.status)
	}},
	{5, func(w *world) string {
		t := w.any()
		if t == nil {
			return ""
		}
		w.count++
		dir := fmt.Sprintf("fork-%d", w.count)
		args := []string{"git-agent-fork", t.name(), "--print", "--worktree", filepath.Join("..", dir)}
		r := w.own(args...)
		w.heard()
		var made struct{ Mission string }
		if r.status == 0 {
			gittest.Must(w.t, json.Unmarshal([]byte(r.stdout), &made))
			w.begin(dir, false).mission = made.Mission
		}
		return fmt.Sprintf("%s: %d", strings.Join(args, " "), r.status)
	}},
	{6, ours("push", "origin")},
	{2, ours("push", "old")},
	{6, ours("fetch", "origin")},
	{2, ours("fetch", "old")},
	{2, ours("doctor")},
	{4, ours("doctor", "--repair")},
	{2, ours("list")},
	{2, ours("missions")},
	{3, func(w *world) string {
		t := w.any()
		if t == nil {
			return ""
		}
		args := []string{"git-agent-turn", "archive", t.mission}
		if t.archived {
			args = slices.Insert(args, 2, "--out")
		}
		r := w.own(args...)
		return fmt.Sprintf("%s: %d", strings.Join(args, " "), r.status)
	}},
	{2, func(w *world) string {
		t := w.any()
		if t == nil || slices.ContainsFunc(w.clients, func(c *client) bool { return c.mission == t.mission }) {
			return ""
		}
		r := w.own("git-agent-turn", "remove", t.mission)
		if r.status == 0 {
			w.turns = slices.DeleteFunc(w.turns, func(o *turn) bool { return o.mission == t.mission })
		}
		return fmt.Sprintf("git-agent-turn remove %s: %d", t.mission, r.status)
	}},
	{4, func(w *world) string { // back to some turn, and perhaps forth again
		c, t := w.client(), w.any()
		if c.dir == "" || t == nil {
			return ""
		}
		r := w.ownIn(w.place(c), "git-agent-turn", "restore", t.name())
		what := fmt.Sprintf("in %s git-agent-turn restore %s: %d", c.dir, t.name(), r.status)
		if w.IntN(2) == 0 {
			r = w.ownIn(w.place(c), "git-agent-turn", "undo")
			what += fmt.Sprintf(", undo: %d", r.status)
		}
		return what
	}},
	{4, func(w *world) string { // another clone of ours goes on with something
		dir := filepath.Join(w.ours.top, "else")
		w.count++
		w.ran(w.command(dir, "git-agent-turn", "fetch", "origin"))
		args := []string{"git-agent-turn", "record", "--prompt", fmt.Sprintf("elsewhere %d", w.count)}
		if t := w.any(); t != nil && w.IntN(4) > 0 {
			args = append(args, "--mission", t.mission)
		}
		r := w.ran(w.command(dir, args...))
		p := w.ran(w.command(dir, "git-agent-turn", "push", "origin"))
		return fmt.Sprintf("elsewhere, fetch, %s: %d, push: %d", strings.Join(args, " "), r.status, p.status)
	}},
}

func ours(args ...string) func(w *world) string {
	return func(w *world) string {
		r := w.own(append([]string{"git-agent-turn"}, args...)...)
		return fmt.Sprintf("git-agent-turn %s: %d", strings.Join(args, " "), r.status)
	}
}

// client draws one.
func (w *world) client() *client {
	if len(w.clients) == 0 {
		w.begin("", false)
	}
	return w.clients[w.IntN(len(w.clients))]
}

// any draws an acknowledged turn, or none.
func (w *world) any() *turn {
	if len(w.turns) == 0 {
		return nil
	}
	return w.turns[w.IntN(len(w.turns))]
}

// end forgets a client.
func (w *world) end(c *client) {
	c.over()
	w.clients = slices.DeleteFunc(w.clients, func(o *client) bool { return o == c })
}

// turnOf is a prompt, the end of a turn, or both.
func turnOf(w *world) string {
	c := w.client()
	what := ""
	if !c.Busy() {
		w.prompt(c)
		if what = "prompt in " + c.file; w.IntN(3) == 0 {
			return what
		}
		what += ", "
	}
	w.stop(c)
	return what + "stop in " + c.file
}

func (w *world) prompt(c *client) {
	w.count++
	c.prompt = fmt.Sprintf("turn %d of %s", w.count, c.file)
	c.Prompt(c.prompt)
}

func (w *world) stop(c *client) {
	t := &turn{prompt: c.prompt, files: map[string]string{c.file: c.prompt + "\n"}, said: "did " + c.prompt}
	for _, s := range []*side{w.ours, w.twin} {
		if c.dir == "" {
			w.write(s.dir(), c.file, c.prompt)
		} else if s == w.ours {
			w.write(w.place(c), c.file, c.prompt)
		}
	}
	c.Tool("Write")
	c.Stop(t.said)
	w.acknowledge(t)
}

// acknowledge adds a turn that ended to those that must be there from now on,
// if it is listed. If not, the user must have been told.
func (w *world) acknowledge(t *turn) {
	lines := w.list()[t.prompt]
	switch {
	case len(lines) > 1 || len(lines) == 1 && t.mission != "" && lines[0].name() != t.name():
		w.find("recorded otherwise", "%s, and %+v is listed", t.name(), lines)
	case len(lines) == 1:
		t.mission, t.number = lines[0].Mission, lines[0].Turn
		w.turns = append(w.turns, t)
		w.tally.add("turns", 1)
	case about.MatchString(w.told.String()):
		w.tally.add("turns that were not recorded, and the user was told", 1)
		w.done = append(w.done, fmt.Sprintf("    %q is not recorded: %s", t.prompt, w.told.String()))
	default:
		r := w.own("git-agent-turn", "doctor", "--json")
		if findings := w.wrong(r.stdout); !about.MatchString(findings) {
			w.find("not recorded in silence", "%q\n%s", t.prompt, findings)
		}
	}
}

func (w *world) write(dir, name, line string) {
	path := filepath.Join(dir, name)
	gittest.Must(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	gittest.Must(w.t, os.WriteFile(path, []byte(line+"\n"), 0o666))
}

// step takes one, and looks at what became of the turns after some.
func (w *world) step(n int) {
	for range 20 { // some cannot be taken now
		list := events
		if w.IntN(2) == 0 {
			list = neighbours
		}
		what := drawn(w.Rand, list, func(s step) int { return s.weight }).do(w)
		if what == "" {
			continue
		}
		w.done = append(w.done, fmt.Sprintf("%3d %s", n, what))
		if w.tally.add("steps", 1); w.IntN(3) == 0 {
			w.look()
		}
		return
	}
}

// drawn draws one of a list, by their weights.
func drawn[T any](r *rand.Rand, list []T, weight func(T) int) T {
	sum := 0
	for _, one := range list {
		sum += weight(one)
	}
	at := r.IntN(sum)
	for _, one := range list {
		if at -= weight(one); at < 0 {
			return one
		}
	}
	panic("no weight")
}
