package blame_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/agent/claude"
	"gitagent/internal/config"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// A world is a project in which users and agents write, and what is known of who wrote what. The same
// seed gives the same world, but for the ids of prompts.
type world struct {
	t        testing.TB
	seed     uint64
	profile  *profile
	rand     *rand.Rand
	now      time.Time
	machines []*machine // the first one is asked
	hub      *gittest.Repo

	lines  int                // that were made
	turns  int                // that were begun
	texts  map[string]*origin // who wrote the lines that are told apart by their text
	done   map[string]int     // steps, by name
	log    []string
	states map[object.Hash]map[string]string // what a turn left, by its code commit
}

// A machine is a user's clone, with its worktrees.
type machine struct {
	*world
	name   string
	clone  *gittest.Repo
	env    []string
	keys   string // directory
	config string // where clients keep their files
	skew   time.Duration
	trees  []*tree
}

// A tree is a worktree.
type tree struct {
	*machine
	dir    string
	forked record.ID // whose worktree it is; "" for others
	agents []*agent

	// In company: what the files were when somebody looked last, and when they became so, in ms.
	seen   map[string]string
	ctimes map[string]int64
	from   int64             // when the call began that runs
	before map[string]string // what the files were then
	acts   *written          // the turn whose agent acts; nil for the user
}

// An agent is a client and its session.
type agent struct {
	tree *tree
	c    *replay.Client
	open *written // its turn, until that is recorded
	idle bool     // the turn is over, but not recorded yet
}

// A written turn is one in the model.
type written struct {
	number int           // among all of the world
	id     record.TurnID // as it was recorded
}

func (t *written) String() string {
	if t == nil {
		return "hand"
	}
	return fmt.Sprintf("t%d=%s", t.number, t.id)
}

// An origin says who wrote a line.
type origin struct {
	by   *written   // nil for the user
	also []*written // turns that ran at the time in the same worktree, and saw the line appear
	// unsure lines could be somebody else's for all that a repository can tell: a user's that came while
	// an agent worked there, unless there is a journal, and those that two have written.
	unsure bool
}

// start is when worlds begin.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// later is when those with a journal begin. The recorder believes a clock that is ahead of the machine's,
// so all that it has times for is known by the world's clock but what it sees at a prompt or a stop: that
// is the user's, and of long before.
var later = time.Date(2037, 11, 20, 8, 0, 0, 0, time.UTC)

// newWorld makes a world with a few files, by hand.
func newWorld(t testing.TB, p *profile, seed uint64) *world {
	t.Helper()
	w := &world{
		t: t, seed: seed, profile: p, rand: rand.New(rand.NewPCG(seed, 1)), now: start,
		texts: make(map[string]*origin), done: make(map[string]int), states: make(map[object.Hash]map[string]string),
	}
	if p.company {
		w.now = later
	}
	repo := gittest.Like(t, "world", func(r *gittest.Repo) {
		for _, c := range []string{"gc.auto=0", "maintenance.auto=false", "rerere.enabled=false", "commit.gpgsign=false", "advice.mergeConflict=false"} {
			key, value, _ := strings.Cut(c, "=")
			r.Git("config", key, value)
		}
	})
	m := w.machine("a", repo)
	w.machines = append(w.machines, m)
	top := m.trees[0]
	for _, name := range []string{"a.go", "b.go", "dir/c.go", "notes.md"} {
		top.write(name, w.make(actor{tree: top}, 20+w.rand.IntN(40)))
	}
	if p.binary {
		top.put("data.bin", "\x00\x01 binary\n\x00\n")
	}
	top.commit("first")
	if p.skew != 0 {
		w.second()
	}
	return w
}

// machine is a new one with a clone.
func (w *world) machine(name string, r *gittest.Repo) *machine {
	home := filepath.Dir(r.Dir)
	gittest.Key(home, "key-"+name)
	m := &machine{
		world: w, name: name, clone: r, config: filepath.Join(home, "client"), keys: filepath.Join(home, ".config", "git-agent"),
		env: append(slices.Clip(r.Env), "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true"),
	}
	m.trees = []*tree{{machine: m, dir: r.Dir}}
	return m
}

// second adds the machine of another user, whose clock is wrong, and a repository that they share.
func (w *world) second() {
	a := w.machines[0]
	w.hub = gittest.New(w.t, "--bare")
	top := a.trees[0]
	top.git("remote", "add", "origin", w.hub.Dir)
	top.git("push", "-q", "origin", "main")
	top.git("fetch", "-q", "origin")
	r := w.room()
	w.hub.Git("clone", "-q", w.hub.Dir, r.Dir)
	r.Git("config", "gc.auto", "0")
	b := w.machine("b", r)
	w.machines = append(w.machines, b)
	b.skew = w.profile.skew
	if w.rand.IntN(2) == 0 {
		b.skew = -b.skew
	}
	a.trusts("b", b.keys)
	b.trusts("a", a.keys)
}

// room is where another user may have a repository.
func (w *world) room() *gittest.Repo {
	home := gittest.TempDir(w.t)
	r := w.machines[0].clone.In(filepath.Join(home, "repo"))
	r.Env = append(gittest.Env(home), "GIT_AUTHOR_NAME=Other", "GIT_COMMITTER_NAME=Other")
	if err := os.RemoveAll(filepath.Join(home, ".config", "git-agent")); err != nil { // he has a key of his own
		w.t.Fatal(err)
	}
	return r
}

// trusts adds another machine's key to those that the user trusts.
func (m *machine) trusts(name, keys string) {
	other := trust.ReadKeys(keys, "")
	if other.OwnError != nil {
		m.t.Fatal(other.OwnError)
	}
	gittest.Must(m.t, trust.ReadKeys(m.keys, "").Add(context.Background(), name, other.Own.Public()))
}

// workspace is that of a worktree, with this machine's keys.
func (m *machine) workspace(dir string) *workspace.Workspace {
	m.t.Helper()
	repo, err := git.Find(dir)
	gittest.Must(m.t, err)
	return m.with(repo)
}

// here lets one test at a time be in a directory.
var here sync.Mutex

// asked is workspace as a command has it that runs in the worktree, not a hook: git may fetch what is missing.
func (m *machine) asked(dir string) *workspace.Workspace {
	m.t.Helper()
	here.Lock()
	defer here.Unlock()
	before, err := os.Getwd()
	gittest.Must(m.t, err)
	gittest.Must(m.t, os.Chdir(dir))
	repo, err := git.Open(context.Background())
	if e := os.Chdir(before); err == nil {
		err = e
	}
	gittest.Must(m.t, err)
	return m.with(repo)
}

func (m *machine) with(repo *git.Repo) *workspace.Workspace {
	settings := config.Default()
	settings.Trust.Key = filepath.Join(m.keys, "key")
	w := workspace.New(repo, settings)
	w.Trust = trust.New(w.Store.Dir(), func() *trust.Keys { return trust.ReadKeys(m.keys, "") })
	return w
}

// tick lets some time pass.
func (w *world) tick() {
	unit := time.Second
	if w.profile.quick {
		unit = time.Millisecond
	}
	w.look()
	w.now = w.now.Add(time.Duration(2+w.rand.IntN(150)) * unit)
}

// lasted lets the time pass that a call takes.
func (w *world) lasted() {
	w.look()
	w.now = w.now.Add(time.Duration(w.rand.IntN(3000)) * time.Millisecond)
}

// time is what the machine's clock shows.
func (m *machine) time() time.Time { return m.now.Add(m.skew) }

// try runs git in the worktree, at the machine's time.
func (tr *tree) try(args ...string) (string, error) {
	return tr.feed("", args...)
}

func (tr *tree) feed(stdin string, args ...string) (string, error) {
	date := tr.time().Format(time.RFC3339)
	r := tr.clone.In(tr.dir)
	r.Env = append(slices.Clip(tr.env), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if tr.acts != nil {
		r.Env = append(r.Env, fmt.Sprintf("GIT_COMMITTER_NAME=t%d", tr.acts.number))
	}
	return r.Feed(stdin, args...)
}

// git is try for a command that can't fail.
func (tr *tree) git(args ...string) string {
	tr.t.Helper()
	out, err := tr.try(args...)
	tr.must(err)
	return out
}

func (w *world) fatal(err error) {
	w.t.Helper()
	w.t.Fatalf("%s, seed %d: %v\n%s", w.profile.name, w.seed, err, strings.Join(w.log, "\n"))
}

// must ends the test if there is an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.fatal(err)
	}
}

// note adds a line to the log.
func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.now.Format("02T15:04:05 ")+fmt.Sprintf(format, args...))
}

// files are the names of the worktree's text files, in order.
func (tr *tree) files() []string {
	var list []string
	err := filepath.WalkDir(tr.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git", d.IsDir(), strings.HasSuffix(path, ".bin"):
			return nil
		}
		name, err := filepath.Rel(tr.dir, path)
		list = append(list, filepath.ToSlash(name))
		return err
	})
	gittest.Must(tr.t, err)
	return list
}

func (tr *tree) content(name string) string {
	data, err := os.ReadFile(filepath.Join(tr.dir, name))
	tr.must(err)
	return string(data)
}

func (tr *tree) read(name string) []string { return split(tr.content(name)) }

// split returns the lines of a text.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (tr *tree) write(name string, lines []string) {
	text := strings.Join(lines, "\n")
	if len(lines) > 0 {
		text += "\n"
	}
	tr.put(name, text)
}

func (tr *tree) put(name, text string) {
	path := filepath.Join(tr.dir, name)
	tr.must(os.MkdirAll(filepath.Dir(path), 0o777))
	tr.must(os.WriteFile(path, []byte(text), 0o666))
}

// all is what the files have.
func (tr *tree) all() map[string]string {
	all := make(map[string]string)
	for _, name := range tr.files() {
		all[name] = tr.content(name)
	}
	return all
}

// told are the lines whose writer is known by their text.
var told = regexp.MustCompile(`L[0-9]{6} `)

// check compares the worktree with the model: somebody must have written each line that can be told
// apart, and nothing of a conflict is left.
func (tr *tree) check() {
	for name, text := range tr.all() {
		for i, line := range split(text) {
			switch {
			case told.MatchString(line) && tr.texts[line] == nil:
				tr.fatal(fmt.Errorf("%s:%d: nobody wrote %q", name, i+1, line))
			case strings.HasPrefix(line, "<<<<<<<"), strings.HasPrefix(line, ">>>>>>>"):
				tr.fatal(fmt.Errorf("%s:%d: %q is left", name, i+1, line))
			}
		}
	}
}

// An actor is who writes in a worktree: an agent in its turn, or the user.
type actor struct {
	tree *tree
	turn *written
}

// origin is that of a line which the actor writes now.
func (a actor) origin() *origin {
	o := &origin{by: a.turn}
	for _, other := range a.tree.agents {
		if other.open != nil && other.open != a.turn {
			o.also = append(o.also, other.open)
		}
	}
	o.unsure = a.turn == nil && len(o.also) > 0 && !a.tree.profile.company
	return o
}

// common lines are in many places, so they say nothing of who wrote them.
var common = []string{"", "", "}", "\t}", "\treturn nil", "\tif err != nil {", "\t\treturn err", "end", "// TODO"}

var words = strings.Fields("alpha beta gamma delta value result index buffer reader writer commit branch parent offset length " +
	"window session mission ledger handle request answer number parse format encode decode lookup insert remove append")

// make makes lines that the actor writes.
func (w *world) make(a actor, n int) []string {
	var list []string
	for range n {
		if w.rand.IntN(5) == 0 {
			list = append(list, common[w.rand.IntN(len(common))])
			continue
		}
		list = append(list, w.line(a, strings.Repeat("\t", w.rand.IntN(3))))
	}
	return list
}

// line makes one that nothing else is like.
func (w *world) line(a actor, indent string) string {
	w.lines++
	who := "hand"
	if a.turn != nil {
		who = fmt.Sprintf("t%d", a.turn.number)
	}
	text := fmt.Sprintf("%sL%06d %s", indent, w.lines, who)
	for range 2 + w.rand.IntN(4) {
		text += " " + words[w.rand.IntN(len(words))]
	}
	w.wrote(a, text)
	return text
}

// wrote keeps who wrote a line.
func (w *world) wrote(a actor, text string) {
	o := a.origin()
	if old := w.texts[text]; old != nil && old.by != o.by {
		old.unsure = true
		return
	}
	w.texts[text] = o
}

// pick returns a block of the lines, at most so many.
func (w *world) pick(lines []string, most int) (from, to int) {
	if len(lines) == 0 {
		return 0, 0
	}
	from = w.rand.IntN(len(lines))
	return from, min(len(lines), from+1+w.rand.IntN(most))
}

// any returns one of the names, "" if there are none.
func (w *world) any(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[w.rand.IntN(len(names))]
}

// edit lets the actor change a file.
func (a actor) edit() {
	w, tr := a.tree.world, a.tree
	name := w.any(tr.files())
	if name == "" || w.rand.IntN(15) == 0 {
		w.lines++
		name = fmt.Sprintf("%snew%d.go", []string{"", "dir/", "other/"}[w.rand.IntN(3)], w.lines)
		tr.write(name, w.make(a, 3+w.rand.IntN(25)))
		w.note("%s %s: new file %s", tr.name, a.turn, name)
		return
	}
	for range 1 + w.rand.IntN(3) {
		lines := tr.read(name)
		what := ""
		switch from, to := w.pick(lines, 4); w.rand.IntN(9) {
		case 0, 1, 2:
			what, lines = "insert", slices.Insert(lines, w.rand.IntN(len(lines)+1), w.make(a, 1+w.rand.IntN(6))...)
		case 3, 4:
			what, lines = "replace", slices.Replace(lines, from, to, w.make(a, 1+w.rand.IntN(5))...)
		case 5:
			what, lines = "delete", slices.Delete(lines, from, to)
		case 6:
			what, lines = "append", append(lines, w.make(a, 1+w.rand.IntN(5))...)
		case 7:
			what = "reindent"
			for i := from; i < to; i++ {
				if lines[i] == "" {
					continue
				}
				lines[i] = "\t" + lines[i]
				if told.MatchString(lines[i]) {
					w.wrote(a, lines[i])
				}
			}
		case 8:
			what = "words"
			if to > from && told.MatchString(lines[from]) {
				old := strings.TrimLeft(lines[from], "\t")
				indent := lines[from][:len(lines[from])-len(old)]
				fields := strings.Fields(old)
				w.lines++
				who := "hand"
				if a.turn != nil {
					who = fmt.Sprintf("t%d", a.turn.number)
				}
				fields[0], fields[1] = fmt.Sprintf("L%06d", w.lines), who
				lines[from] = indent + strings.Join(fields, " ")
				w.wrote(a, lines[from])
			}
		}
		tr.write(name, lines)
		w.note("%s %s: %s in %s", tr.name, a.turn, what, name)
	}
}

// move lets the actor move a block, within a file or to another one.
func (a actor) move() {
	w, tr := a.tree.world, a.tree
	names := tr.files()
	from, to := w.any(names), w.any(names)
	if w.rand.IntN(2) == 0 {
		to = from
	}
	if from == "" {
		return
	}
	lines := tr.read(from)
	if len(lines) < 12 {
		return
	}
	at := w.rand.IntN(len(lines) - 8)
	block := slices.Clone(lines[at : at+5+w.rand.IntN(4)])
	tr.write(from, slices.Delete(lines, at, at+len(block)))
	lines = tr.read(to)
	tr.write(to, slices.Insert(lines, w.rand.IntN(len(lines)+1), block...))
	w.note("%s %s: move %d lines of %s:%d to %s", tr.name, a.turn, len(block), from, at+1, to)
}

// rename lets the actor give a file another name, and change a little in it.
func (a actor) rename() {
	w, tr := a.tree.world, a.tree
	name := w.any(tr.files())
	if name == "" || len(tr.read(name)) < 15 {
		return
	}
	w.lines++
	to := fmt.Sprintf("%sren%d.go", []string{"", "dir/", "other/"}[w.rand.IntN(3)], w.lines)
	text := tr.content(name)
	if _, err := tr.try("mv", name, to); err != nil || w.rand.IntN(2) == 0 {
		if err := os.Remove(filepath.Join(tr.dir, name)); err != nil && !os.IsNotExist(err) {
			tr.fatal(err)
		}
		tr.put(to, text)
	}
	w.note("%s %s: rename %s to %s", tr.name, a.turn, name, to)
	for range w.rand.IntN(3) {
		lines := tr.read(to)
		tr.write(to, slices.Insert(lines, w.rand.IntN(len(lines)+1), w.make(a, 1+w.rand.IntN(2))...))
	}
}

// commit commits everything.
func (tr *tree) commit(message string) {
	tr.t.Helper()
	tr.git("add", "-A")
	_, _ = tr.try("commit", "-q", "-m", message)
}

// agent is one that works in the worktree: one of those that are there, or a new one.
func (tr *tree) agent(free bool) *agent {
	var list []*agent
	for _, a := range tr.agents {
		if !free || a.open == nil || a.idle {
			list = append(list, a)
		}
	}
	if len(list) > 0 && tr.rand.IntN(4) > 0 {
		return list[tr.rand.IntN(len(list))]
	}
	a := &agent{tree: tr}
	a.c = replay.New(tr.config, tr.dir, a.record)
	a.c.PID = 5000 + int(tr.rand.Uint32()>>8)
	session := fmt.Sprintf("%08x-0000-4000-8000-%012x", tr.rand.Uint32(), tr.rand.Uint64()>>16)
	a.c.Session, a.c.Path = session, claude.Path(tr.config, tr.dir, session)
	tr.agents = append(tr.agents, a)
	if tr.profile.company { // its client tells of its calls
		gittest.Must(tr.t, tr.workspace(tr.dir).Store.UpdateMonitor(context.Background(), session, new(contextmeter.Memory), func(bool) {}))
	}
	return a
}

// record takes an event of the client as the hook does.
func (a *agent) record(e replay.Event) {
	tr := a.tree
	tr.tick()
	result, err := recorder.Record(context.Background(), tr.workspace(tr.dir), recorder.Signal{
		Event: map[string]recorder.SignalKind{
			"UserPromptSubmit": recorder.Prompted, "Stop": recorder.Stopped, "StopFailure": recorder.Erred, "SessionEnd": recorder.Ended,
		}[e.Name],
		At: tr.time(), Agent: "claude-code", Session: e.Session, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.Reply,
		Again: e.Again, Transcript: e.Transcript, Client: session.Client{PID: e.PID}, FlushWait: 2 * time.Second,
	})
	if err != nil {
		tr.fatal(fmt.Errorf("%s: %w", e.Name, err))
	}
	for _, warning := range result.Warnings {
		tr.note("warning: %s", warning)
	}
	if len(result.Turns) > 0 && a.open != nil {
		t := result.Turns[len(result.Turns)-1]
		a.open.id = t.ID()
		tr.note("%s: recorded %s code %.8s base %.8s head %.8s", tr.name, a.open, t.Code, t.Base, t.Head)
		if t.Own != nil {
			for _, commit := range t.Own.Commits {
				if by := tr.git("log", "-1", "--format=%cn", commit.String()); by != fmt.Sprintf("t%d", a.open.number) {
					tr.t.Errorf("%s, seed %d: %s has the commit %s of %s", tr.profile.name, tr.seed, a.open, commit, by)
				}
			}
			tr.note("others %.8s, shared %.8s, commits %.8s, with %v", t.Own.Others, t.Own.Shared, t.Own.Commits, t.Own.With)
		}
		a.open, a.idle = nil, false
		tr.states[t.Code] = tr.all()
	}
}

// prompt begins a turn.
func (a *agent) prompt() {
	a.c.Prompt("do something")
	a.tree.turns++
	a.open, a.idle = &written{number: a.tree.turns}, false
	a.tree.note("%s: prompt for t%d in %s", a.tree.name, a.open.number, filepath.Base(a.tree.dir))
	a.tree.tick()
}

// act lets the agent do something in its turn.
func (a *agent) act() {
	a.c.Tool("Edit")
	a.tree.tick()
	who := actor{a.tree, a.open}
	a.tree.began()
	a.tree.acts = a.open
	defer func() { a.tree.acts = nil }()
	for _, s := range agentSteps {
		if p := a.tree.profile.agent[s.name]; p > 0 && a.tree.rand.IntN(100) < p {
			if s.do(who) {
				who.called("Bash", s.name == "switch")
				a.tree.done["agent "+s.name]++
				a.tree.tick()
			}
			return
		}
	}
	who.edit()
	who.called([]string{"Edit", "Edit", "Bash"}[a.tree.lines%3], false)
}

// stop ends the turn, one way or another.
func (a *agent) stop() {
	w := a.tree.world
	switch how := w.rand.IntN(20); {
	case how == 0 && w.profile.interrupted:
		a.c.Esc() // no hook tells
		a.idle = true
		w.note("%s: t%d was interrupted", a.tree.name, a.open.number)
	case how == 1 && w.profile.interrupted:
		a.c.Kill(false)
		a.c.Resume()
		a.idle = true
		w.note("%s: t%d was killed", a.tree.name, a.open.number)
	case how == 2:
		a.c.Fail("overloaded")
	case how == 3:
		a.c.End("other")
		a.c.Resume()
	default:
		a.c.Stop("done")
	}
	w.tick()
}
