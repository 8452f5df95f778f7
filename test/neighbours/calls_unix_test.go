//go:build unix

package neighbours

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// A tool is what an agent calls. do does so in a place, where a turn works.
type tool struct {
	weight int
	do     func(l *land, c *call)
}

// A call is where one is made: by a session or by a sub-agent of it.
type call struct {
	*agent
	side string // the sub-agent's id
	cwd  string
	in   *place
}

var tools = []tool{
	{6, func(l *land, c *call) { // reads
		if l.IntN(2) == 0 {
			name := filepath.Join(c.in.dir, "one")
			c.do(l, "Read", map[string]any{"file_path": name}, name, func() {})
			return
		}
		c.shell(l, l.pick("cat one", "git log -1 --format=%s", "ls -l sub"))
	}},
	{8, func(l *land, c *call) { // a new file
		name := c.name(l)
		path := filepath.Join(c.in.dir, name)
		l.wipe(c.in, path)
		line := l.line(c.turn, c.in)
		c.do(l, "Write", map[string]any{"file_path": path, "content": line + "\n"}, path+" "+line, func() {
			gittest.Must(l.t, os.MkdirAll(filepath.Dir(path), 0o777))
			gittest.Must(l.t, os.WriteFile(path, []byte(line+"\n"), 0o666))
		})
	}},
	{8, func(l *land, c *call) { // a line in a file that all write
		path := filepath.Join(c.in.dir, "common")
		line := l.line(c.turn, c.in)
		c.do(l, "Read", map[string]any{"file_path": path}, path, func() {})
		c.do(l, "Edit", map[string]any{"file_path": path, "old_string": "", "new_string": line}, path+" "+line, func() {
			data, err := os.ReadFile(path)
			gittest.Must(l.t, err)
			lines := strings.SplitAfter(string(data), "\n")
			at := l.IntN(len(lines))
			if strings.HasPrefix(lines[at], "common") && l.IntN(3) == 0 {
				lines[at] = line + "\n"
			} else {
				lines = slices.Insert(lines, at, line+"\n")
			}
			gittest.Must(l.t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666))
		})
	}},
	{10, func(l *land, c *call) { // a command that writes
		line := l.line(c.turn, c.in)
		c.shell(l, "echo "+line+" >>"+c.name(l))
	}},
	{3, func(l *land, c *call) { // and commits at once
		line := l.line(c.turn, c.in)
		c.shell(l, "echo "+line+" >>"+c.name(l)+" && git add one three s-* common && git commit -qm work")
	}},
	{4, func(l *land, c *call) {
		c.turn.changed[c.in.main] = true
		c.shell(l, l.pick("git add -A . && git commit -qm work --allow-empty", "git commit -qam work --allow-empty"))
	}},
	{3, func(l *land, c *call) { // a file goes, or moves
		old := c.name(l)
		path := filepath.Join(c.in.dir, old)
		if _, err := os.Stat(path); err != nil {
			return
		}
		c.turn.changed[c.in.main] = true
		if l.IntN(2) == 0 {
			l.wipe(c.in, path+"-moved")
			c.shell(l, "mv "+old+" "+old+"-moved")
			return
		}
		l.wipe(c.in, path)
		c.shell(l, "rm "+old)
	}},
	{3, func(l *land, c *call) { // another worktree
		dir, branch := l.grown(c.in)
		c.turn.changed[c.in.main] = true
		more := ""
		p := &place{dir: dir, main: c.in.main, off: c.in.off}
		p.users, p.beside = []string{c.Session}, true
		if l.IntN(3) == 0 {
			more = " && echo " + l.line(c.turn, p) + " >" + dir + "/s-new"
		}
		c.shell(l, "git worktree add -q -b "+branch+" "+dir+more)
		l.places = append(l.places, p)
	}},
	{2, func(l *land, c *call) { // a worktree goes
		p := l.place(func(p *place) bool { return p.main == c.in.main && !isMain(p) && p != c.in && !l.used(p, c.turn) })
		if p == nil {
			return
		}
		if within(p.main.dir, p.dir) { // it may be committed there, as if it were a submodule
			c.turn.changed[p.main] = true
		}
		c.shell(l, "git worktree remove --force "+p.dir)
		if p.gone = true; !c.Before {
			l.unseen(p, c.turn)
		}
	}},
}

// wipe notes that what is in a file goes.
func (l *land) wipe(p *place, path string) {
	data, _ := os.ReadFile(path) // it may be new
	for _, text := range lineOf.FindAllString(string(data), -1) {
		l.lines[text].gone = true
	}
}

// unseen notes that what a turn wrote in a place that is gone may not have been
// looked at since.
func (l *land) unseen(p *place, t *abroad) {
	for _, w := range l.lines {
		w.gone = w.gone || w.in == p && w.by == t
	}
}

// used reports whether a place can't go: a turn that is not recorded yet has
// written in it, but for one, an agent stands in it, or another place is in it.
func (l *land) used(p *place, but *abroad) bool {
	if slices.ContainsFunc(l.places, func(o *place) bool { return o != p && !o.gone && within(p.dir, o.dir) }) {
		return true
	}
	for _, w := range l.lines {
		if w.in == p && w.by != nil && w.by != but && !w.by.ended {
			return true
		}
	}
	return slices.ContainsFunc(l.agents[:], func(a *agent) bool { return !a.dead && within(p.dir, a.Cwd) })
}

func within(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// call lets an agent call something, or hand it to a sub-agent.
func (l *land) call(a *agent) {
	here := l.here(a)
	if l.IntN(10) == 0 && here != nil && (here == a.stands || isMain(here) || a.turn.desks[here.main] != nil) {
		l.delegate(a, here)
		return
	}
	if here == nil || l.IntN(2) == 0 {
		here = l.place(func(p *place) bool { return l.fits(a, p) })
	}
	if here == nil || !l.fits(a, here) {
		return
	}
	l.use(&call{agent: a, cwd: a.Cwd, in: here})
}

// desk returns the worktree in which the turn of an agent is recorded in the
// repository of a place, if it works there next; nil if that can't be told.
func (l *land) desk(a *agent, p *place) *place {
	here := l.here(a)
	switch d := a.turn.desks[p.main]; {
	case d != nil:
		return d
	case here != nil && here.main == p.main:
		return here
	case a.stands != nil && a.stands.main == p.main:
		return a.stands
	case a.stands == nil && a.strays[p.main]:
		return nil // it may be at home there
	case isMain(p) || l.worksAt(p) && (a.stands != nil || len(a.Said()) == 1):
		return p
	case l.stood(p) || p.shared(a):
		return nil
	}
	return p.main
}

// worksAt reports whether an agent works in a place for sure: it stands and is at home
// there.
func (l *land) worksAt(p *place) bool {
	return slices.ContainsFunc(l.agents[:], func(a *agent) bool { return !a.dead && a.stands == p && a.Cwd == p.dir && len(a.Said()) > 0 })
}

// shared reports whether others than an agent's session have worked in a place.
func (p *place) shared(a *agent) bool {
	return slices.ContainsFunc(p.users, func(session string) bool { return session != a.Session })
}

// fits reports whether a session may work in a place. All that changes in a
// worktree is that of the session which works in it from another one of the
// repository, so nobody else does.
func (l *land) fits(a *agent, p *place) bool {
	switch l.desk(a, p) {
	case nil:
		return false
	case p:
		return !p.beside || !p.shared(a)
	}
	return !p.shared(a) && !l.stood(p)
}

// work notes that a session works in a place.
func (l *land) work(c *call) {
	d := l.desk(c.agent, c.in)
	c.turn.desks[c.in.main] = d
	c.strays[d.main] = c.strays[d.main] || !isMain(d)
	c.in.users = append(c.in.users, c.Session)
	if d == c.in || c.in.beside {
		return
	}
	// What a person has written there in the turn, or in a file that they have, is its change.
	c.in.beside = true
	files := make(map[string]bool)
	for text, w := range l.lines {
		if w.by == nil && w.in == c.in && numberOf(text) > c.turn.began {
			files[w.file] = true
		}
	}
	for _, w := range l.lines {
		if w.by == nil && w.in == c.in && files[w.file] {
			l.doubt(w, c.turn)
		}
	}
}

func (l *land) use(c *call) {
	l.work(c)
	drawn(l.Rand, tools, func(t tool) int { return t.weight }).do(l, c)
}

// delegate lets a sub-agent work in a worktree that the client makes.
func (l *land) delegate(a *agent, in *place) {
	l.count++
	id := fmt.Sprintf("a%016x", l.Uint64())
	dir := filepath.Join(in.dir, ".claude", "worktrees", "agent-"+id)
	l.note("%s: a sub-agent in %s", l.who(a), dir)
	l.sh(in.dir, `git worktree add -q -b "worktree-agent-$1" "$2"`, id, dir)
	p := &place{dir: dir, main: in.main, off: in.off}
	l.places = append(l.places, p)
	for n := 1 + l.IntN(4); n > 0 && !p.gone; n-- {
		l.use(&call{agent: a, side: id, cwd: dir, in: p})
	}
	a.SideStop(id, dir)
	if l.IntN(3) == 0 && !p.gone && !l.used(p, a.turn) {
		l.note("the client removes %s", dir)
		l.sh(in.dir, `git worktree remove --force "$1"`, dir)
		p.gone = true
	}
}

// name is a file that nobody else writes.
func (c *call) name(l *land) string {
	return fmt.Sprintf("s-%s-%d%s", c.Session[len(c.Session)-4:], l.IntN(4), c.side)
}

func (c *call) do(l *land, name string, input map[string]any, what string, do func()) {
	l.note("%s%s: %s %s, from %s", l.who(c.agent), c.side, name, what, c.cwd)
	l.tally.add("calls", 1)
	if c.side == "" {
		c.Call(name, input, do)
		c.turn.since = l.count
	} else {
		c.SideCall(c.side, c.cwd, name, input, do)
		l.vague(c, name)
	}
}

// vague notes that nothing tells when a sub-agent's command began: in its turn, so
// that it may have written what a person has in the places where that is recorded.
func (l *land) vague(c *call, name string) {
	for text, w := range l.lines {
		if name == "Bash" && w.by == nil && numberOf(text) > c.turn.began && l.desk(c.agent, w.in) == w.in {
			l.doubt(w, c.turn)
		}
	}
}

// shell lets a shell run a command in the place, in one of the ways to get there.
func (c *call) shell(l *land, command string) {
	dir := c.in.dir
	if relative, err := filepath.Rel(c.cwd, dir); err == nil && l.IntN(2) == 0 {
		dir = relative
	}
	switch way := l.IntN(3); {
	case dir == ".":
	case way == 0 && strings.HasPrefix(command, "echo") && !strings.Contains(command, "&&"):
		command = strings.Replace(command, ">>", ">>"+dir+"/", 1)
	case strings.HasPrefix(command, "git") && !strings.Contains(command, "&&"):
		command = "git -C " + dir + command[len("git"):]
	case way == 1:
		command = "(cd " + dir + "; " + command + ")"
	default:
		command = "cd " + dir + " && " + command
	}
	c.do(l, "Bash", map[string]any{"command": command}, command, func() { l.sh(c.cwd, command) })
}
