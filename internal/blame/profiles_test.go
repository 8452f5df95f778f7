package blame_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/replay"
	"gitagent/turns"
)

// A profile says what happens in a world, and how often.
type profile struct {
	name    string
	options []string // of the question
	user    map[string]int
	agent   map[string]int // percent of an agent's steps; what is left are edits

	renames, moves, interrupted, binary bool
	quick                               bool // much happens in a second
	alone                               bool // one turn at a time runs in a worktree
	company                             bool // there is a journal of what agents do

	skew time.Duration // of a second machine; there is one unless zero
	// least is how much of what can be told has to be right.
	least float64
	// strict says that no agent's line may be given to the user.
	strict bool
}

// plain are operations without names that change, and with one turn at a time.
var plain = map[string]int{
	"turn": 40, "edit": 16, "commit": 10, "commit files": 5, "commit lines": 8, "amend": 3, "reword": 2, "fixup": 4,
	"branch": 3, "rebase": 3, "squash": 3, "pick": 3, "revert": 2, "reset": 3, "merge": 4, "stash": 3, "switch": 3, "nothing": 2,
}

// with is plain and more.
func with(more map[string]int) map[string]int {
	all := make(map[string]int)
	for _, m := range []map[string]int{plain, more} {
		for name, weight := range m {
			all[name] += weight
		}
	}
	return all
}

var copies = []string{"-M", "-C"}

var profiles = []*profile{
	{name: "plain", user: plain, least: 99.8, strict: true},
	{name: "commits", user: plain, agent: map[string]int{"commit": 25, "amend": 8}, least: 99},
	{name: "history", user: plain, agent: map[string]int{"commit": 20, "amend": 8, "reset": 5, "rebase": 8, "merge": 4}, interrupted: true, least: 99},
	{name: "quick", user: plain, agent: map[string]int{"commit": 10}, quick: true, least: 99},
	{name: "renames", user: with(map[string]int{"rename": 10}), agent: map[string]int{"rename": 8}, renames: true, options: copies, least: 99},
	{name: "moves", user: with(map[string]int{"move": 10}), agent: map[string]int{"move": 10}, moves: true, options: copies, least: 99},
	{name: "together", user: with(map[string]int{"prompt": 30, "act": 40, "stop": 20, "worktree": 3}), agent: map[string]int{"commit": 10}, least: 99},
	{
		name: "company", user: with(map[string]int{"prompt": 50, "act": 90, "stop": 20, "edit": 20, "revert turn": 4, "finish": 3}),
		agent: map[string]int{"commit": 8, "amend": 2, "rename": 4, "switch": 2}, company: true, renames: true, least: 97,
	},
	{
		name: "company on branches", user: with(map[string]int{"prompt": 50, "act": 90, "stop": 20, "edit": 20, "attached": 5, "land": 5}),
		agent: map[string]int{"commit": 8}, company: true, least: 97,
	},
	{name: "missions", user: with(map[string]int{"attached": 6, "fork": 6, "land": 8}), least: 99},
	{name: "restores", user: with(map[string]int{"restore": 8, "undo": 4}), interrupted: true, least: 99},
	{name: "forks", user: with(map[string]int{"fork": 6, "several": 12, "adopt": 16, "adopt commits": 6, "undo": 6}), least: 99.5},
	{
		name: "forks at work", user: with(map[string]int{"prompt": 30, "act": 40, "stop": 20, "fork": 6, "several": 12, "adopt": 20, "adopt commits": 4, "undo": 8}),
		agent: map[string]int{"commit": 10}, alone: true, least: 99.5,
	},
	{name: "clocks", user: with(map[string]int{"pull": 8, "push": 8}), skew: 24 * time.Hour, least: 99},
	{
		name: "everything", options: copies, interrupted: true, renames: true, moves: true, binary: true,
		user: with(map[string]int{
			"rename": 5, "move": 5, "prompt": 15, "act": 20, "stop": 10, "worktree": 2, "attached": 3, "fork": 3, "land": 4, "restore": 3, "undo": 2,
		}),
		agent: map[string]int{"commit": 10, "amend": 4, "reset": 2, "rebase": 3, "rename": 3, "move": 3},
		least: 99,
	},
}

// A step is what may happen in a worktree. It reports whether it could be done.
type step struct {
	name string
	do   func(*tree) bool
}

var userSteps = []step{
	{"turn", (*tree).turn},
	{"prompt", (*tree).prompt},
	{"act", (*tree).act},
	{"stop", (*tree).stop},
	{"edit", func(tr *tree) bool { tr.user().edit(); return true }},
	{"move", func(tr *tree) bool { tr.user().move(); return true }},
	{"rename", func(tr *tree) bool { tr.user().rename(); return true }},
	{"commit", func(tr *tree) bool { tr.commit("all"); return true }},
	{"commit files", (*tree).commitFiles},
	{"commit lines", (*tree).commitLines},
	{"amend", (*tree).amend},
	{"reword", func(tr *tree) bool {
		return tr.ok("commit", "-q", "--amend", "--allow-empty", "--only", "-m", "reworded")
	}},
	{"fixup", (*tree).fixup},
	{"branch", (*tree).branch},
	{"switch", (*tree).switchBranch},
	{"rebase", (*tree).rebase},
	{"squash", (*tree).squash},
	{"pick", (*tree).pickCommit},
	{"revert", (*tree).revert},
	{"reset", (*tree).reset},
	{"merge", (*tree).merge},
	{"stash", (*tree).stash},
	{"worktree", (*tree).worktree},
	{"attached", (*tree).attached},
	{"fork", (*tree).fork},
	{"land", (*tree).land},
	{"restore", (*tree).restore},
	{"undo", (*tree).undo},
	{"adopt", (*tree).adopt},
	{"several", (*tree).several},
	{"adopt commits", (*tree).adoptCommits},
	{"pull", (*tree).pull},
	{"push", (*tree).push},
	{"nothing", (*tree).nothing},
	{"revert turn", (*tree).revertTurn},
	{"finish", (*tree).finishMission},
}

// agentSteps are what an agent does other than edits.
var agentSteps = []struct {
	name string
	do   func(actor) bool
}{
	{"commit", func(a actor) bool {
		a.tree.commit("by the agent")
		a.called("Bash", false)
		a.edit()
		return true
	}},
	{"amend", func(a actor) bool { return a.tree.amend() }},
	{"reset", func(a actor) bool { return a.tree.reset() }},
	{"rebase", func(a actor) bool { return a.tree.rebase() }},
	{"merge", func(a actor) bool { return a.tree.merge() }},
	{"rename", func(a actor) bool { a.rename(); return true }},
	{"move", func(a actor) bool { a.move(); return true }},
	{"switch", func(a actor) bool { return a.tree.switchBranch() }},
}

// run lets so many things happen.
func (w *world) run(steps int) {
	total := 0
	for _, s := range userSteps {
		total += w.profile.user[s.name]
	}
	for range steps {
		tr := w.somewhere()
		n := w.rand.IntN(total)
		for _, s := range userSteps {
			if n -= w.profile.user[s.name]; n >= 0 {
				continue
			}
			w.tick()
			head, _ := tr.try("rev-parse", "--short", "HEAD")
			done := s.do(tr)
			after, _ := tr.try("rev-parse", "--short", "HEAD")
			w.note("%s %s: %s (%t) %s %s", tr.name, filepath.Base(tr.dir), s.name, done, head, after)
			if done {
				w.done[s.name]++
			}
			break
		}
		tr.check()
	}
	w.end()
}

// end ends the turns that run, and brings home what was done elsewhere.
func (w *world) end() {
	for _, m := range w.machines {
		for _, tr := range m.trees {
			for _, a := range tr.agents {
				if a.open != nil {
					a.c.End("other")
				}
			}
		}
	}
	if w.hub == nil {
		return
	}
	for range 2 {
		for _, m := range slices.Backward(w.machines) {
			m.trees[0].tick()
			m.trees[0].pull()
			m.trees[0].push()
		}
	}
	w.machines[0].trees[0].missions()
}

// somewhere is a worktree, most often the first.
func (w *world) somewhere() *tree {
	m := w.machines[w.rand.IntN(len(w.machines))]
	if w.rand.IntN(3) > 0 {
		return m.trees[0]
	}
	return m.trees[w.rand.IntN(len(m.trees))]
}

func (tr *tree) user() actor { return actor{tree: tr} }

// ok runs git, and reports whether it had something to do.
func (tr *tree) ok(args ...string) bool {
	_, err := tr.try(args...)
	return err == nil
}

// turn is a whole turn. Nobody else does anything meanwhile.
func (tr *tree) turn() bool {
	if tr.taken() {
		return false
	}
	a := tr.agent(true)
	a.prompt()
	for range 1 + tr.rand.IntN(4) {
		a.act()
	}
	a.stop()
	return true
}

func (tr *tree) prompt() bool {
	if tr.taken() {
		return false
	}
	if a := tr.agent(true); a.open == nil || a.idle {
		a.prompt()
		a.act()
		return true
	}
	return false
}

func (tr *tree) nothing() bool {
	if tr.taken() {
		return false
	}
	a := tr.agent(true)
	a.prompt()
	a.c.Stop("nothing to do")
	return true
}

// taken reports whether no turn may begin in the worktree.
func (tr *tree) taken() bool { return tr.profile.alone && tr.busy() }

// busy reports whether a turn may run in the worktree.
func (tr *tree) busy() bool {
	return slices.ContainsFunc(tr.agents, func(a *agent) bool { return a.open != nil })
}

// running is an agent whose turn runs, nil if there is none.
func (tr *tree) running() *agent {
	var list []*agent
	for _, a := range tr.agents {
		if a.open != nil && !a.idle {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[tr.rand.IntN(len(list))]
}

func (tr *tree) act() bool {
	a := tr.running()
	if a != nil {
		a.act()
	}
	return a != nil
}

func (tr *tree) stop() bool {
	a := tr.running()
	if a != nil {
		a.stop()
	}
	return a != nil
}

// changed are the names of tracked files with changes.
func (tr *tree) changed() []string {
	return strings.FieldsFunc(tr.git("diff", "-z", "--name-only", "--no-renames"), func(r rune) bool { return r == 0 })
}

func (tr *tree) commitFiles() bool {
	names := tr.changed()
	if len(names) == 0 {
		return false
	}
	tr.git("add", "--", tr.any(names))
	return tr.ok("commit", "-q", "-m", "a file")
}

// commitLines commits some of the changes, as with git add -p.
func (tr *tree) commitLines() bool {
	name := tr.any(tr.changed())
	if name == "" || strings.HasSuffix(name, ".bin") {
		return false
	}
	patch := tr.git("diff", "--no-color", "-U0", "--no-renames", "--", name) + "\n"
	hunks := strings.Split(patch, "\n@@ ")
	some, left := hunks[0], 0 // by how much what is left out would have moved the others
	for _, h := range hunks[1:] {
		m := hunkHeader.FindStringSubmatch(h)
		if m == nil {
			tr.fatal(fmt.Errorf("%s: %q begins no hunk", name, h))
		}
		old, to, added := count(m[2]), must(strconv.Atoi(m[3])), count(m[4])
		if tr.rand.IntN(2) == 0 {
			left += added - old
			continue
		}
		some += fmt.Sprintf("\n@@ -%s,%d +%d,%d @@%s", m[1], old, to-left, added, h[len(m[0]):])
	}
	if some == hunks[0] || strings.Contains(hunks[0], "deleted file") {
		return false
	}
	if !strings.HasSuffix(some, "\n") {
		some += "\n"
	}
	if _, err := tr.feed(some, "apply", "--cached", "--unidiff-zero", "--whitespace=nowarn", "-"); err != nil {
		return false // without context it may fit nowhere
	}
	return tr.ok("commit", "-q", "-m", "some lines")
}

// hunkHeader are the places of a hunk, without the @@ before them.
var hunkHeader = regexp.MustCompile(`^-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// count is how many lines a hunk's header says; one if it says nothing.
func count(text string) int {
	if text == "" {
		return 1
	}
	return must(strconv.Atoi(text))
}

func must(n int, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}

func (tr *tree) amend() bool {
	if tr.rand.IntN(2) == 0 {
		tr.git("add", "-A")
	} else if names := tr.changed(); len(names) > 0 {
		tr.git("add", "--", tr.any(names))
	}
	return tr.ok("commit", "-q", "--amend", "--no-edit", "--allow-empty")
}

// clean commits what is there, or says that there is too much.
func (tr *tree) clean() bool {
	tr.commit("before")
	tr.tick()
	return tr.git("status", "--porcelain") == ""
}

// depth is how many commits the first-parent line has.
func (tr *tree) depth() int {
	return strings.Count(tr.git("rev-list", "--first-parent", "HEAD"), "\n") + 1
}

func (tr *tree) fixup() bool {
	depth := tr.depth()
	if depth < 3 {
		return false
	}
	n := 1 + tr.rand.IntN(min(depth-2, 4))
	target := tr.git("rev-parse", fmt.Sprintf("HEAD~%d", n-1))
	tr.git("add", "-A")
	if !tr.ok("commit", "-q", "--fixup", target) {
		return false
	}
	tr.tick()
	tr.finish("rebase", tr.ok("rebase", "-q", "-i", "--autosquash", target+"~1"))
	return true
}

// branches are the local ones but for the current one and those of missions.
func (tr *tree) branches() []string {
	var list []string
	for line := range strings.Lines(tr.git("for-each-ref", "--format=%(refname:short) %(worktreepath)", "refs/heads")) {
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at == "" {
			list = append(list, name)
		}
	}
	return list
}

func (tr *tree) branch() bool {
	tr.lines++
	from := "HEAD"
	if tr.rand.IntN(2) == 0 && tr.depth() > 3 && tr.git("status", "--porcelain") == "" {
		from = "HEAD~2"
	}
	return tr.ok("switch", "-q", "-c", fmt.Sprintf("topic%d", tr.lines), from)
}

func (tr *tree) switchBranch() bool {
	name := tr.any(tr.branches())
	if name == "" {
		return false
	}
	if tr.rand.IntN(2) == 0 {
		tr.clean()
	}
	return tr.ok("switch", "-q", name)
}

func (tr *tree) rebase() bool {
	name := tr.any(tr.branches())
	if name == "" || !tr.clean() {
		return false
	}
	tr.finish("rebase", tr.ok("rebase", "-q", name))
	return true
}

func (tr *tree) merge() bool {
	name := tr.any(tr.branches())
	if name == "" || !tr.clean() {
		return false
	}
	args := []string{"merge", "-q", "--no-edit", name}
	if tr.rand.IntN(2) == 0 {
		args = append(args, "--no-ff")
	}
	tr.finish("merge", tr.ok(args...))
	return true
}

func (tr *tree) squash() bool {
	name := tr.any(tr.branches())
	if name == "" || !tr.clean() {
		return false
	}
	if !tr.ok("merge", "-q", "--squash", name) {
		tr.resolve()
	}
	tr.tick()
	if tr.rand.IntN(4) == 0 {
		tr.user().edit()
	}
	tr.git("add", "-A")
	return tr.ok("commit", "-q", "-m", "squashed "+name)
}

func (tr *tree) pickCommit() bool {
	name := tr.any(tr.branches())
	if name == "" || !tr.clean() {
		return false
	}
	list := strings.Fields(tr.git("rev-list", "--no-merges", "HEAD.."+name))
	if len(list) == 0 {
		return false
	}
	tr.finish("cherry-pick", tr.ok("cherry-pick", tr.any(list)))
	return true
}

func (tr *tree) revert() bool {
	list := strings.Fields(tr.git("rev-list", "--no-merges", "-n5", "HEAD"))
	if len(list) < 3 || !tr.clean() {
		return false
	}
	tr.finish("revert", tr.ok("revert", "--no-edit", tr.any(list[:len(list)-1])))
	return true
}

func (tr *tree) reset() bool {
	n := 1 + tr.rand.IntN(2)
	if tr.depth() < n+2 {
		return false
	}
	mode := []string{"--soft", "--mixed", "--mixed", "--hard"}[tr.rand.IntN(4)]
	return tr.ok("reset", "-q", mode, fmt.Sprintf("HEAD~%d", n))
}

func (tr *tree) stash() bool {
	if !tr.ok("stash", "push", "-q", "-u") {
		return false
	}
	if tr.rand.IntN(2) == 0 {
		tr.tick()
		tr.user().edit()
		tr.commit("while stashed")
	}
	tr.tick()
	if tr.git("stash", "list") == "" {
		return false
	}
	if !tr.ok("stash", "pop", "-q") {
		tr.resolve()
		tr.git("reset", "-q")
		tr.git("stash", "drop", "-q")
	}
	return true
}

// finish takes an operation to its end, through its conflicts.
func (tr *tree) finish(operation string, done bool) {
	for range 30 {
		if done || !tr.under(operation) {
			return
		}
		tr.resolve()
		tr.tick()
		if operation == "merge" {
			done = tr.ok("commit", "-q", "--no-edit")
		} else if done = tr.ok(operation, "--continue"); !done && tr.git("ls-files", "-u") == "" {
			done = tr.ok(operation, "--skip")
		}
	}
	tr.git(operation, "--abort")
}

// under reports whether an operation waits for its end.
func (tr *tree) under(operation string) bool {
	name := map[string]string{"rebase": "rebase-merge", "merge": "MERGE_HEAD", "cherry-pick": "CHERRY_PICK_HEAD", "revert": "REVERT_HEAD"}[operation]
	dir := tr.git("rev-parse", "--absolute-git-dir")
	_, err := os.Stat(filepath.Join(dir, name))
	if err != nil && strings.HasSuffix(name, "_HEAD") && tr.ok("rev-parse", "--verify", "--quiet", name) { // in reftables
		err = nil
	}
	if operation == "cherry-pick" || operation == "revert" { // the rest of several
		if _, e := os.Stat(filepath.Join(dir, "sequencer")); e == nil {
			err = nil
		}
	}
	return err == nil
}

// resolve takes one side of each conflict, or both, and sometimes adds a line.
func (tr *tree) resolve() {
	for _, name := range strings.FieldsFunc(tr.git("diff", "-z", "--name-only", "--diff-filter=U"), func(r rune) bool { return r == 0 }) {
		if _, err := os.Stat(filepath.Join(tr.dir, name)); err != nil || strings.HasSuffix(name, ".bin") {
			continue
		}
		var lines []string
		side, take := 0, 0
		for _, line := range tr.read(name) {
			switch {
			case strings.HasPrefix(line, "<<<<<<<"):
				side, take = 1, 1+tr.rand.IntN(3)
			case strings.HasPrefix(line, "=======") && side == 1:
				side = 2
			case strings.HasPrefix(line, ">>>>>>>"):
				if side = 0; tr.rand.IntN(4) == 0 {
					lines = append(lines, tr.make(tr.user(), 1)...)
				}
			case side == 0 || take&side != 0:
				lines = append(lines, line)
			}
		}
		tr.write(name, lines)
	}
	tr.git("add", "-A")
}

// worktree adds a worktree with a branch.
func (tr *tree) worktree() bool {
	if len(tr.trees) > 3 {
		return false
	}
	tr.lines++
	name := fmt.Sprintf("side%d", tr.lines)
	dir := filepath.Join(filepath.Dir(tr.machine.trees[0].dir), name)
	tr.git("worktree", "add", "-q", "-b", name, dir)
	tr.machine.trees = append(tr.machine.trees, &tree{machine: tr.machine, dir: dir})
	return true
}

// id is that of a new mission.
func (w *world) id() record.ID { return record.ID(fmt.Sprintf("%08x", w.rand.Uint32())) }

// attached begins a mission with a branch and a worktree.
func (tr *tree) attached() bool {
	if len(tr.trees) > 4 {
		return false
	}
	id := tr.id()
	dir := filepath.Join(filepath.Dir(tr.machine.trees[0].dir), "mission-"+string(id))
	_, _, err := missionstore.Begin(context.Background(), tr.workspace(tr.dir), missionstore.Beginning{
		ID: id, Title: "a mission", From: object.NewHash(tr.git("rev-parse", "HEAD")), Worktree: dir, At: tr.time(),
	})
	tr.must(err)
	other := &tree{machine: tr.machine, dir: dir}
	tr.machine.trees = append(tr.machine.trees, other)
	tr.tick()
	for range 1 + tr.rand.IntN(3) {
		other.turn()
	}
	return true
}

// ended are the code commits of turns that were recorded here, in order.
func (tr *tree) ended() []*turns.Turn {
	w := tr.workspace(tr.dir)
	var list []*turns.Turn
	err := turns.EachOfAll(context.Background(), w, func(t *turns.Turn) error {
		if tr.states[t.Code] != nil {
			list = append(list, t)
		}
		return nil
	})
	tr.must(err)
	return list
}

// fork forks a turn into a worktree, where its agent goes on.
func (tr *tree) fork() bool {
	list := tr.ended()
	return len(tr.trees) <= 4 && len(list) > 0 && tr.forkOf(list[tr.rand.IntN(min(len(list), 5))])
}

func (tr *tree) forkOf(source *turns.Turn) bool {
	if len(tr.trees) > 5 {
		return false
	}
	id := tr.id()
	f := missionstore.ForkPlan{
		Source: source, ID: id, Title: "a fork", At: tr.time(), Before: tr.rand.IntN(4) == 0,
		Worktree: filepath.Join(filepath.Dir(tr.machine.trees[0].dir), "fork-"+string(id)), Session: replay.NewID(), Config: tr.config,
	}
	done, err := missionstore.Fork(context.Background(), tr.workspace(tr.dir), f)
	tr.must(err)
	other := &tree{machine: tr.machine, dir: f.Worktree, forked: id}
	tr.machine.trees = append(tr.machine.trees, other)
	if done.File != "" {
		a := other.agent(true)
		a.c.Session, a.c.Path = f.Session, done.File
	}
	tr.tick()
	for range 1 + tr.rand.IntN(3) {
		other.turn()
	}
	return true
}

// land brings the work of another worktree's branch here: a merge, a squash, or some of its commits.
func (tr *tree) land() bool {
	if len(tr.trees) < 2 {
		return false
	}
	other := tr.trees[1+tr.rand.IntN(len(tr.trees)-1)]
	if other == tr || !other.clean() || !tr.clean() {
		return false
	}
	tip := other.git("rev-parse", "HEAD")
	switch tr.rand.IntN(3) {
	case 0:
		tr.finish("merge", tr.ok("merge", "-q", "--no-edit", tip))
	case 1:
		if !tr.ok("merge", "-q", "--squash", tip) {
			tr.resolve()
		}
		tr.git("add", "-A")
		tr.ok("commit", "-q", "-m", "land")
	case 2:
		list := strings.Fields(tr.git("rev-list", "--no-merges", "--reverse", "HEAD.."+tip))
		if len(list) == 0 {
			return false
		}
		tr.finish("cherry-pick", tr.ok(append([]string{"cherry-pick"}, list...)...))
	}
	return true
}

// forks are the last turns that were recorded in other worktrees that are forks', and where that was.
func (tr *tree) forks() (list []*turns.Turn, trees []*tree) {
	last := make(map[record.ID]*turns.Turn)
	for _, t := range tr.ended() {
		if last[t.Mission] == nil || t.Turn > last[t.Mission].Turn {
			last[t.Mission] = t
		}
	}
	for _, i := range tr.rand.Perm(len(tr.trees)) {
		if other := tr.trees[i]; other != tr && other.forked != "" && last[other.forked] != nil {
			list, trees = append(list, last[other.forked]), append(trees, other)
		}
	}
	return list, trees
}

// adopt merges the work of a fork into the worktree: of the first one that fits. Its worktree may go then.
func (tr *tree) adopt() bool {
	list, trees := tr.forks()
	for i, t := range list {
		done, err := checkout.Adopt(context.Background(), tr.workspace(tr.dir), tr.time(), t.After(), checkout.Merging{})
		if err != nil || len(done.Changes) == 0 {
			tr.note("adopt %s: %v", t.ID(), err)
			continue
		}
		tr.note("adopted %s, before: %.8s, %d files", t.ID(), done.Present, len(done.Changes))
		if tr.rand.IntN(2) == 0 && !trees[i].busy() && tr == tr.trees[0] {
			tr.git("worktree", "remove", "--force", trees[i].dir)
			tr.machine.trees = slices.DeleteFunc(tr.trees, func(other *tree) bool { return other == trees[i] })
		}
		return true
	}
	return false
}

// several makes forks of the turn that ended last, adopts one, and may take that back, and do it again.
func (tr *tree) several() bool {
	list := tr.ended()
	if len(list) == 0 {
		return false
	}
	forked := false
	for range 2 + tr.rand.IntN(2) {
		forked = tr.forkOf(list[0]) || forked
	}
	if tr.rand.IntN(2) == 0 {
		tr.tick()
		tr.user().edit()
	}
	tr.tick()
	if !forked || !tr.adopt() {
		return false
	}
	for tr.rand.IntN(3) == 0 {
		tr.tick()
		if tr.rand.IntN(2) == 0 {
			tr.user().edit()
		}
		tr.tick()
		tr.undo()
		tr.tick()
		tr.adopt()
	}
	return true
}

// adoptCommits merges or picks what a fork's branch has, and says so in the commits.
func (tr *tree) adoptCommits() bool {
	list, trees := tr.forks()
	if len(list) == 0 || !trees[0].clean() || !tr.clean() {
		return false
	}
	other, last := trees[0], list[0]
	trailers := fmt.Sprintf("%s: %s\n%s: %d", ledger.TrailerMission, other.forked, ledger.TrailerTurns, last.Turn)
	tip := other.git("rev-parse", "HEAD")
	if tr.rand.IntN(2) == 0 {
		tr.finish("merge", tr.ok("merge", "-q", "--no-ff", "-m", "the fork\n\n"+trailers, tip))
		return tr.noteAdopted(last)
	}
	commits := strings.Fields(tr.git("rev-list", "--no-merges", "--reverse", "HEAD.."+tip))
	if len(commits) == 0 {
		return false
	}
	before := tr.git("rev-parse", "HEAD")
	tr.finish("cherry-pick", tr.ok(append([]string{"cherry-pick", "-x"}, commits...)...))
	if tr.git("rev-parse", "HEAD") != before {
		tr.ok("commit", "-q", "--amend", "--allow-empty", "-m", "the fork\n\n"+trailers)
	}
	return tr.noteAdopted(last)
}

// noteAdopted lets the ledger of a fork keep HEAD, which has taken its commits up to a turn.
func (tr *tree) noteAdopted(last *turns.Turn) bool {
	head := object.NewHash(tr.git("rev-parse", "HEAD"))
	job := ledgertx.Job{Mission: last.Mission, At: tr.time(), What: "adopt"}
	err := ledgertx.Run(context.Background(), tr.workspace(tr.dir), ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil {
			return err
		}
		tx.Ledger.Mission.Adopted = &record.Adoption{Turn: last.Turn, At: tx.At, Commit: head}
		if err := tx.Append(fmt.Sprintf("adopt %d", last.Turn), nil, head); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
	tr.must(err)
	return true
}

// restore sets the worktree back to what a turn left.
func (tr *tree) restore() bool {
	list := tr.ended()
	if len(list) == 0 {
		return false
	}
	t := list[tr.rand.IntN(min(len(list), 6))]
	if _, err := checkout.Restore(context.Background(), tr.workspace(tr.dir), tr.time(), t.After(), gitdiff.Paths{}, checkout.RestorePlan{}); err != nil {
		tr.note("restore: %v", err)
		return false
	}
	want, got := tr.states[t.Code], tr.all()
	for name := range want {
		if got[name] != want[name] {
			tr.fatal(fmt.Errorf("restore of %s: %s differs", t.ID(), name))
		}
	}
	return len(want) == len(got)
}

func (tr *tree) undo() bool {
	_, err := checkout.Undo(context.Background(), tr.workspace(tr.dir), tr.time(), checkout.Merging{}, nil)
	return err == nil
}

// missions fetches the other machine's. Git refuses those of this one that it has not pushed yet.
func (tr *tree) missions() {
	tr.ok("fetch", "-q", "origin", "refs/agent/missions/*:refs/agent/missions/*")
}

// pull fetches what the other machine has pushed, with its missions.
func (tr *tree) pull() bool {
	if tr.hub == nil || tr != tr.trees[0] || !tr.clean() {
		return false
	}
	tr.git("fetch", "-q", "origin", "main")
	tr.missions()
	if tr.rand.IntN(2) == 0 {
		tr.finish("merge", tr.ok("merge", "-q", "--no-edit", "origin/main"))
	} else {
		tr.finish("rebase", tr.ok("rebase", "-q", "origin/main"))
	}
	return true
}

func (tr *tree) push() bool {
	if tr.hub == nil || tr != tr.trees[0] {
		return false
	}
	tr.ok("push", "-q", "origin", "refs/agent/missions/*:refs/agent/missions/*")
	return tr.ok("push", "-q", "origin", "HEAD:main")
}
