//go:build unix

package neighbours

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A land has up to five repositories below one folder, some within another, and
// two sessions that edit in all of them, besides a person. Each line that anyone
// writes is unique, so whose it is and where it was written is known.
type land struct {
	*site
	places []*place
	agents [2]*agent
	turns  map[string]*abroad // by the prompt's id
	lines  map[string]*written
	count  int // for names that nothing else has
	diffs  map[string][]string
	secret map[string]*abroad // what is in the conversation alone
}

// A place is the worktree of a repository.
type place struct {
	dir  string
	main *place // of its repository, maybe itself
	off  bool   // nothing is recorded in it
	gone bool

	users  []string // the sessions that have worked in it, or stood there at a prompt
	beside bool     // from another worktree of the repository
}

// An agent is one that stands somewhere, one session after the other.
type agent struct {
	*process
	stands *place // nil outside of all
	turn   *abroad
	last   *abroad         // whose end nothing has told yet
	strays map[*place]bool // repositories in which it has stood in other worktrees than the main one
	dead   bool
}

// An abroad is a turn that may change several repositories.
type abroad struct {
	name    string
	session string
	prompt  string
	stands  *place
	changed map[*place]bool   // repositories
	desks   map[*place]*place // the worktrees in which it is recorded, by repository
	began   int               // what was counted at its prompt
	ended   bool              // and recorded
	cut     bool              // it was interrupted
	since   int               // what was counted at its last call, but for those of sub-agents
}

// A written is a line.
type written struct {
	by    *abroad // nil: a person
	in    *place
	file  string    // a person's
	gone  bool      // before its turn was recorded
	maybe []*abroad // turns that may have written a person's, by calls that nobody told of
}

// landBase is what each repository begins with, long ago.
const landBase = `set -e; export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
mkdir -p "$1"; git init -q -b main "$1"; cd "$1"; mkdir sub; seq -f 'common %g' 9 >common; seq -f 'base %g' 4 | tee one sub/two three hand0 hand1 >hand2; git add -A; git commit -qm base
`

func newLand(t *testing.T, r source, c *tally) game {
	l := &land{site: newSite(t, r, c), turns: make(map[string]*abroad), lines: make(map[string]*written), diffs: make(map[string][]string), secret: make(map[string]*abroad)}
	l.env = append(l.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	gittest.Must(t, os.MkdirAll(filepath.Join(l.home, "work"), 0o777))
	for n := range 2 + l.IntN(4) {
		p := &place{dir: filepath.Join(l.home, "work", string(rune('a'+n))), off: l.IntN(8) == 0}
		p.main = p
		switch in := l.place(func(*place) bool { return l.IntN(2) == 0 }); {
		case in == nil:
			l.sh(l.home, landBase, p.dir)
		case l.IntN(2) == 0:
			p.dir = filepath.Join(in.dir, "in", filepath.Base(p.dir))
			l.sh(l.home, landBase, p.dir)
		default:
			source := p.dir + ".source"
			l.sh(l.home, landBase, source)
			p.dir = filepath.Join(in.dir, filepath.Base(p.dir))
			l.sh(in.dir, `set -e; export GIT_COMMITTER_DATE=2020-01-01T00:00:00Z; git submodule --quiet add "$1" "$2"; git commit -qm module`, source, filepath.Base(p.dir))
		}
		l.places = append(l.places, p)
		l.sh(p.dir, "git config agent.record $1", fmt.Sprint(!p.off))
	}
	for range l.IntN(3) {
		l.sprout(l.place(isMain), l.home)
	}
	l.done = append(l.done, "begin")
	l.agents = [2]*agent{{dead: true}, {dead: true}}
	for i := range l.agents {
		l.begin(i)
	}
	return l
}

func isMain(p *place) bool { return p.main == p }

// place draws one that exists and is fit; nil if there is none.
func (l *land) place(fit func(*place) bool) *place {
	var all []*place
	for _, p := range l.places {
		if !p.gone && fit(p) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[l.IntN(len(all))]
}

// grown is where another worktree of a repository is made, and its branch.
func (l *land) grown(p *place) (dir, branch string) {
	l.count++
	branch = fmt.Sprintf("w%d", l.count)
	if l.IntN(2) == 0 {
		return filepath.Join(p.dir, ".claude", "worktrees", branch), branch
	}
	return filepath.Join(l.home, "work", branch), branch
}

// sprout makes another worktree of a repository, before anything else happens.
func (l *land) sprout(p *place, cwd string) {
	dir, branch := l.grown(p)
	l.sh(cwd, `git -C "$1" worktree add -q -b "$2" "$3"`, p.dir, branch, dir)
	l.places = append(l.places, &place{dir: dir, main: p.main, off: p.off})
}

// sh runs a script, as agents and people do.
func (l *land) sh(dir, script string, args ...string) {
	l.t.Helper()
	cmd := l.command(dir, append([]string{"sh", "-c", script, "sh"}, args...)...)
	cmd.Env = slices.DeleteFunc(slices.Clone(l.env), func(v string) bool { return strings.HasSuffix(v[:strings.IndexByte(v, '=')], "_DATE") })
	if r := l.ran(cmd); r.status != 0 {
		l.t.Fatalf("%s: %q %q\n%+v\n%s", dir, script, args, r, strings.Join(l.done, "\n"))
	}
}

// begin begins a session of an agent somewhere.
func (l *land) begin(i int) {
	dir := l.pick(l.home, filepath.Join(l.home, "work"), filepath.Join(l.home, "work"), "", "", "", "")
	var stands *place
	if dir == "" {
		if stands = l.place(l.free); stands == nil {
			return
		}
		dir = stands.dir
	}
	l.arrive(i, dir, stands)
}

// lost matches what users are told when something is.
var lost = regexp.MustCompile("was not recorded|could not be told|is not kept")

// arrive begins a session of an agent.
func (l *land) arrive(i int, dir string, stands *place) {
	a := &agent{stands: stands, strays: make(map[*place]bool)}
	a.process = l.launch(filepath.Join(l.home, "claude"), dir, func(e replay.Event) {
		if told := l.answered(e, l.ran(l.hookOf(e))); lost.MatchString(told) {
			l.find("a hook tells", "%s", told)
		}
		l.tally.add("events", 1)
	})
	a.Before = l.IntN(2) == 0
	l.agents[i] = a
	l.note("%s begins in %s, told before calls: %t", l.who(a), dir, a.Before)
	a.Start("startup")
}

// stood reports whether an agent stands in a place.
func (l *land) stood(p *place) bool {
	return slices.ContainsFunc(l.agents[:], func(a *agent) bool { return !a.dead && a.Cwd == p.dir })
}

// free reports whether an agent may come to stand in a place: another has it not,
// and nobody works in it from another worktree of the repository.
func (l *land) free(p *place) bool { return !p.beside && (isMain(p) || !l.stood(p)) }

// stays reports whether an agent may go on in its directory.
func (l *land) stays(a *agent) bool {
	_, err := os.Stat(a.Cwd)
	here := l.here(a)
	return err == nil && (here == nil || l.free(here))
}

// here returns the place that an agent stands in, nil outside of all.
func (l *land) here(a *agent) *place {
	if at := slices.IndexFunc(l.places, func(p *place) bool { return !p.gone && p.dir == a.Cwd }); at >= 0 {
		return l.places[at]
	}
	return nil
}

func (l *land) who(a *agent) string { return "s" + a.Session[len(a.Session)-4:] }

func (l *land) note(format string, args ...any) {
	l.done[len(l.done)-1] += "\n        " + fmt.Sprintf(format, args...)
}

func (l *land) pick(from ...string) string { return from[l.IntN(len(from))] }

// line makes one that is written now.
func (l *land) line(by *abroad, in *place) string {
	l.count++
	text := fmt.Sprintf("line%d.", l.count)
	l.lines[text] = &written{by: by, in: in}
	if by != nil {
		by.changed[in.main] = true
		l.tally.add("lines of agents", 1)
	} else {
		l.tally.add("lines of a person", 1)
	}
	return text
}

// step takes some actions.
func (l *land) step(n int) {
	l.done = append(l.done, fmt.Sprintf("%3d", n))
	for range 1 + l.IntN(5) {
		l.act()
		if len(l.found) > 0 {
			return
		}
	}
	l.tally.add("steps", 1)
}

func (l *land) act() {
	if l.IntN(8) == 0 {
		l.person()
		return
	}
	i := l.IntN(len(l.agents))
	a := l.agents[i]
	switch at := l.IntN(100); {
	case a.dead && at < 40 && l.stays(a):
		l.note("%s is resumed", l.who(a))
		a.dead = false
		a.Resume()
		l.run(a.process)
		a.Start("resume")
	case a.dead:
		l.begin(i)
	case !a.Busy() && at < 85:
		l.prompt(a)
	case !a.Busy() && at < 92:
		l.end(a)
	case !a.Busy():
		p := l.place(l.free)
		if p == nil {
			return
		}
		if a.Cwd = p.dir; len(a.Said()) == 0 { // it has no home yet
			a.stands = p
		}
		l.note("%s moves to %s", l.who(a), a.Cwd)
	case at < 78:
		l.call(a)
	case at < 92:
		l.stop(a)
	case at < 94:
		l.note("%s is interrupted", l.who(a))
		a.Esc()
		l.cut(a)
	case at < 96:
		l.note("%s fails", l.who(a))
		a.Fail("API Error")
		l.over(a)
	case at < 98:
		l.end(a)
	default:
		l.note("%s is killed", l.who(a))
		a.over()
		a.Kill(l.IntN(2) == 0)
		l.cut(a)
		a.dead, a.last = true, nil
	}
}

// cut notes that a turn of an agent was interrupted: nobody knows what it did
// after its last call, also beside a sub-agent.
func (l *land) cut(a *agent) {
	t := a.turn
	for text, w := range l.lines {
		if w.by == nil && numberOf(text) > t.since {
			l.doubt(w, t)
		}
	}
	t.cut, a.last, a.turn = true, t, nil
}

// numberOf returns what was counted when a line was made.
func numberOf(line string) (n int) {
	_, _ = fmt.Sscanf(line, "line%d.", &n)
	return n
}

// doubt notes that a turn may have written a line of a person's.
func (l *land) doubt(w *written, t *abroad) {
	w.maybe, t.changed[w.in.main] = append(w.maybe, t), true
}

// stand notes where an agent stands at a prompt.
func (l *land) stand(a *agent) {
	if a.stands != nil && a.stands.gone {
		a.stands = a.stands.main
	}
	here := l.here(a)
	if here == nil {
		return
	}
	here.users = append(here.users, a.Session)
	a.strays[here.main] = a.strays[here.main] || !isMain(here)
	if a.stands != nil && a.stands.main == here.main {
		a.stands = here
	}
}

func (l *land) prompt(a *agent) {
	l.count++
	l.stand(a)
	t := &abroad{
		name: fmt.Sprintf("turn %d of %s", l.count, l.who(a)), session: a.Session, stands: a.stands, began: l.count,
		changed: make(map[*place]bool), desks: make(map[*place]*place),
	}
	t.prompt = t.name + " please"
	l.note("%s: prompt %q", l.who(a), t.name)
	a.Prompt(t.prompt)
	if a.last != nil {
		a.last.ended, a.last = true, nil
	}
	a.turn = t
	l.turns[a.Said()[len(a.Said())-1].PromptID] = t
	said := fmt.Sprintf("secret%d.", l.count)
	l.secret[said] = t
	a.Answered("WebFetch", map[string]any{"url": "https://example.invalid"}, strings.Repeat("nothing ", 200)+said, func() {})
	l.tally.add("turns", 1)
	l.look()
}

func (l *land) stop(a *agent) {
	l.count++
	said := fmt.Sprintf("secret%d.", l.count)
	l.secret[said] = a.turn
	l.note("%s stops", l.who(a))
	a.Stop(said + strings.Repeat(" I did it.", 120))
	l.over(a)
}

// over is the recorded end of a turn.
func (l *land) over(a *agent) {
	a.turn.ended, a.turn = true, nil
	l.look()
}

func (l *land) end(a *agent) {
	l.note("%s ends", l.who(a))
	if a.turn != nil {
		l.cut(a)
	}
	a.End("other")
	for _, t := range []*abroad{a.turn, a.last} {
		if t != nil {
			t.ended = true
		}
	}
	a.turn, a.last, a.dead = nil, nil, true
	a.over()
	l.look()
}

// person lets one save a file of their own, and maybe commit it.
func (l *land) person() {
	p := l.place(func(p *place) bool { return !p.beside && (isMain(p) || l.stood(p)) })
	if p == nil {
		return
	}
	l.settle()
	name := fmt.Sprintf("hand%d", l.IntN(3))
	line := l.line(nil, p)
	l.lines[line].file = name
	for _, t := range l.turns {
		if t.cut && !t.ended {
			l.doubt(l.lines[line], t)
		}
	}
	l.note("a person writes %s in %s", line, filepath.Join(p.dir, name))
	l.sh(p.dir, `echo "$1" >>"$2"`, line, name)
	if l.IntN(4) == 0 {
		l.note("and commits it")
		l.sh(p.dir, `git add "$1"; git commit -qm hand "$1"`, name)
	}
	l.settle()
}

// settle returns when what was written or called before is so long ago that no
// clock takes it for what comes next: see grace in package owners.
func (l *land) settle() {
	name := filepath.Join(l.home, "clock")
	for end := time.Now().Add(60 * time.Millisecond); ; {
		gittest.Must(l.t, os.WriteFile(name, nil, 0o666))
		info, err := os.Stat(name)
		gittest.Must(l.t, err)
		if info.ModTime().After(end) {
			return
		}
	}
}

// leave ends the processes.
func (l *land) leave() {
	for _, a := range l.agents {
		if !a.dead {
			a.over()
		}
	}
	l.family.Await()
}
