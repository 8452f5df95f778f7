//go:build unix

package kill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A scenario is a command that is killed, and where.
type scenario struct {
	name     string
	attached bool // the agent works on the branch of a mission
	files    int
	copied   int  // ignored files that a fork gets as well, 0 for a few
	long     bool // it takes seconds, and is left out where there are few kills
	signed   bool // the user has a key; else half of them have
	remote   bool // origin is behind a git daemon, which does not die with its client

	// victim prepares what the command needs, and returns it.
	victim func(l *lab) command
}

// scenarios are all, or those that take no more than a second for a kill.
func scenarios(long bool) []scenario {
	const few, many = 30, 2000
	var all []scenario
	for _, hook := range []struct {
		name   string
		victim func(*lab) command
	}{
		{"UserPromptSubmit", prompting}, {"Stop", stopping}, {"SessionEnd", ending}, {"SessionStart", starting}, {"PreCompact", compacting},
	} {
		all = append(all, scenario{name: hook.name + ", passive", files: few, victim: hook.victim},
			scenario{name: hook.name + ", attached", files: few, attached: true, victim: hook.victim})
	}
	all = append(all,
		scenario{name: "step by paths", files: few, victim: editing},
		scenario{name: "step by status", files: many, victim: running},
		scenario{name: "Stop with company", files: few, victim: beside},
		scenario{name: "Stop with company, attached", files: few, attached: true, victim: beside},
		scenario{name: "visit, its beginning", files: few, victim: arriving},
		scenario{name: "Stop with visits", files: few, victim: leaving},
		scenario{name: "Stop with visits, attached", files: few, attached: true, victim: leaving},
		scenario{name: "Stop of a session that moves in", files: few, victim: movingIn},
		scenario{name: "SubagentStop", files: few, victim: handing},
		scenario{name: "PreToolUse before a worktree goes", files: few, victim: removing},
		scenario{name: "Stop, of a worktree that is gone", files: few, victim: taking},
		scenario{name: "Stop, passive, many files", files: many, victim: stopping},
		scenario{name: "Stop, attached, many files", files: many, attached: true, victim: stopping},
		scenario{name: "start", files: few, victim: start},
		scenario{name: "start, worktree", files: few, victim: startWorktree},
		scenario{name: "start, worktree, many files", files: many, long: true, victim: startWorktree},
		scenario{name: "fork", files: few, victim: fork},
		scenario{name: "fork, many files", files: many, long: true, victim: fork},
		scenario{name: "fork, copying", files: few, victim: forkCopying},
		scenario{name: "fork, copying many files", files: few, copied: 4000, long: true, victim: forkCopying},
		scenario{name: "fork, several", files: few, victim: several},
		scenario{name: "handoff write", files: few, attached: true, victim: writing},
		scenario{name: "handoff from outside", files: few, victim: fromOutside},
		scenario{name: "handoff restore", files: few, victim: restoreHandoff},
		scenario{name: "import", files: few, victim: importing},
		scenario{name: "record", files: few, victim: recording},
		scenario{name: "push", files: few, attached: true, remote: true, victim: push},
		scenario{name: "fetch", files: few, remote: true, victim: fetch},
		scenario{name: "remove", files: few, victim: remove},
		scenario{name: "archive", files: few, victim: archive},
		scenario{name: "archive, out", files: few, victim: archiveOut},
		scenario{name: "purge, passive", files: few, victim: purging},
		scenario{name: "purge, attached", files: few, attached: true, victim: purging},
		scenario{name: "purge, pushing", files: few, remote: true, victim: purgePush},
		scenario{name: "purge of another clone", files: few, remote: true, signed: true, victim: purgeFetched},
		scenario{name: "fetch, held", files: few, remote: true, signed: true, victim: holding},
		scenario{name: "push, queued, held on the fetch", files: few, remote: true, signed: true, victim: queueHolding},
		scenario{name: "repair", files: few, victim: repair},
		scenario{name: "push of the archive", files: few, remote: true, victim: pushArchive},
		scenario{name: "fetch of an archived mission", files: few, remote: true, victim: fetchArchived},
		scenario{name: "fetch of an archived mission, advertised", files: few, remote: true, victim: fetchAdvertised},
		scenario{name: "remove, old", files: few, attached: true, victim: removeOld},
		scenario{name: "remove, old at a remote", files: few, remote: true, victim: removeOldRemote},
		scenario{name: "housekeep", files: few, victim: housekeep},
		scenario{name: "restore", files: few, victim: restore},
		scenario{name: "restore, paths", files: few, victim: restorePaths},
		scenario{name: "revert", files: few, victim: revert},
		scenario{name: "undo", files: few, attached: true, victim: undo},
		scenario{name: "adopt a fork", files: few, victim: adopt},
		scenario{name: "adopt a fork, attached", files: few, attached: true, victim: adopt},
		scenario{name: "Stop, passive, sub-agents", files: few, victim: delegating},
		scenario{name: "Stop, attached, sub-agents", files: few, attached: true, victim: delegating},
		scenario{name: "Stop, passive, amended", files: few, victim: amending},
		scenario{name: "fetch, let go", files: few, remote: true, signed: true, victim: letting},
		scenario{name: "push, held on the fetch", files: few, remote: true, signed: true, victim: pushHolding},
		scenario{name: "restore, attached, many files", files: many, long: true, attached: true, victim: restore},
	)
	all = append(all, persons(few)...)
	return slices.DeleteFunc(all, func(s scenario) bool { return s.long && !long })
}

func prompting(l *lab) command {
	if l.enter(); l.c.Busy() {
		l.turn()
	}
	return l.prompted()
}

func stopping(l *lab) command {
	if l.enter(); !l.c.Busy() {
		l.undisturbed("UserPromptSubmit", l.prompted())
	}
	return l.stopped()
}

// amending is the end of a turn that began on a commit which nothing but its reflog has any more.
func amending(l *lab) command {
	c := stopping(l)
	l.try("amend a commit", "commit", "-q", "-a", "--amend", "-m", "amended")
	l.Write("new/left", l.prompt+"\n")
	return c
}

// ending is the end of a session that has recorded a turn and left something uncommitted.
func ending(l *lab) command {
	l.turn()
	l.Write("file", "left\n")
	c := l.event(func(c *replay.Client) { c.End("other") })
	l.leave()
	return c
}

// starting is the start of a session after one that was killed in the middle of a turn.
func starting(l *lab) command {
	l.turn()
	l.undisturbed("UserPromptSubmit", l.prompted())
	l.Write("file", "left\n")
	l.c.Kill(true)
	l.leave()
	return l.event(func(c *replay.Client) { c.Start("startup") })
}

func compacting(l *lab) command {
	if l.enter(); !l.c.Busy() {
		l.undisturbed("UserPromptSubmit", l.prompted())
	}
	l.Write("file", "left\n")
	return l.event(func(c *replay.Client) {
		c.Tool("Write")
		c.Compact("auto")
	})
}

func start(l *lab) command {
	return command{args: []string{"git-agent-turn", "start", "--title", "killed"}, then: func(l *lab, _ result) {
		l.try("switch back from a mission", "switch", "-q", "-f", "main")
	}}
}

// place is a directory for a worktree.
func (l *lab) place() string {
	l.n++
	return filepath.Join(l.outside, fmt.Sprintf("place-%d", l.n))
}

func startWorktree(l *lab) command {
	dir := l.place()
	return command{args: []string{"git-agent-turn", "start", "--title", "killed", "--worktree", dir}, then: l.checkedOut(dir)}
}

func fork(l *lab) command {
	l.turn()
	dir := l.place()
	return command{args: []string{"git-agent-fork", "--print", "--worktree", dir, l.mission() + "/1"}, then: l.checkedOut(dir)}
}

// forkCopying is a fork that copies ignored files, some of them in a directory that is read-only, and runs a
// setup.
func forkCopying(l *lab) command {
	l.turn()
	from := filepath.Join(l.main.Dir, "ignored")
	if _, err := os.Lstat(from); err != nil {
		l.main.Write(".git/info/exclude", "/ignored/\n")
		for i := range max(200, l.copied) {
			l.main.Write(fmt.Sprintf("ignored/%d/%d", i%20, i), strings.Repeat(fmt.Sprintln(i), 1+i%1000))
		}
		gittest.Must(l.t, os.Chmod(filepath.Join(from, "0"), 0o555))
		l.t.Cleanup(func() { _ = os.Chmod(filepath.Join(from, "0"), 0o777) })
	}
	dir, before := l.place(), l.looks(from, true)
	return command{
		args: []string{
			"git-agent-fork", "--print", "--worktree", dir, "--include", "/ignored/", "--setup", "ls -R ignored >ignored/set; cat ignored/19/* >/dev/null", l.mission() + "/1",
		},
		then: func(l *lab, done result) {
			l.family.Await() // git, or a setup, outlives who is killed
			l.turn()
			l.checkedOut(dir)(l, done)
			if now := l.looks(from, true); now != before {
				l.find("the user's ignored files have changed", "were\n%s\nare\n%s", before, now)
			}
			if _, err := os.Lstat(dir); err != nil {
				return
			}
			_ = os.Remove(filepath.Join(dir, "ignored", "set"))
			if want, got := l.looks(from, false), l.looks(filepath.Join(dir, "ignored"), false); got != want {
				l.find("half a fork: ignored files are missing", "it has\n%s\nwant\n%s", got, want)
			}
			_ = os.Chmod(filepath.Join(dir, "ignored", "0"), 0o755) // or only root could remove it
			l.main.Git("worktree", "remove", dir)
		},
	}
}

// looks is what can be seen of files without reading them; of the same ones, directories and times too.
func (l *lab) looks(top string, same bool) string {
	l.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && !same {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		fmt.Fprint(&b, rel, " ", info.Mode())
		if !d.IsDir() {
			fmt.Fprint(&b, " ", info.Size())
		}
		if same {
			fmt.Fprint(&b, " ", info.ModTime().UnixNano())
		}
		b.WriteByte('\n')
		return nil
	})
	gittest.Must(l.t, err)
	return b.String()
}

// checkedOut checks that a mission which was not there before has its worktree.
func (l *lab) checkedOut(dir string) func(*lab, result) {
	branches := []string{"for-each-ref", "--format=%(refname)", "refs/heads/agent/mission"}
	before := l.Git(branches...)
	return func(l *lab, _ result) {
		for ref := range strings.FieldsSeq(l.Git(branches...)) {
			if head, err := l.In(dir).Try("symbolic-ref", "HEAD"); !contains(before, ref) && (err != nil || head != ref) {
				l.find("half a mission: without its worktree", "%s: %v, %s", ref, err, head)
			}
		}
	}
}

func writing(l *lab) command {
	l.turn()
	return command{
		args:  []string{"git-agent-handoff", "write", "--mission", l.mission(), "-"},
		stdin: []byte("# What is next\n\nAfter " + l.prompt + " comes another one.\n"), then: handedOff,
	}
}

func fromOutside(l *lab) command {
	l.turn()
	l.Write("file", "left\n")
	return command{args: []string{"git-agent-handoff", "write", "--exit-type", "killed", "--mission", l.mission()}, then: handedOff}
}

// handedOff notes a handoff whose name was printed: it is acknowledged.
func handedOff(l *lab, done result) {
	if name := strings.TrimSpace(done.stdout); done.status == 0 {
		l.handoffs = append(l.handoffs, name)
	}
}

// restoreHandoff brings back a file that was there, uncommitted, when a handoff was made.
func restoreHandoff(l *lab) command {
	l.turn()
	l.try("commit what is there", "add", "--all")
	l.try("commit what is there", "commit", "-q", "-m", "went on")
	path := fmt.Sprintf("left/%d", l.n)
	l.Write(path, l.prompt+"\n")
	left := l.prompt + "\n"
	name := strings.TrimSpace(l.must(command{args: []string{"git-agent-handoff", "write", "--exit-type", "killed", "--mission", l.mission()}}).stdout)
	gittest.Must(l.t, os.Remove(filepath.Join(l.Dir, path)))
	c := command{args: []string{"git-agent-handoff", "restore", name}}
	c.then = func(l *lab, _ result) {
		before := l.Read("file")
		l.must(command{args: c.args})
		if got := l.Read(path); got != left {
			l.find("restore of a handoff does not restore", "%s is %q, want %q", path, got, left)
		}
		if got := l.Read("file"); got != before {
			l.find("restore of a handoff changes another file", "file was %q, is %q", before, got)
		}
	}
	return c
}

// recording is a turn that a person records, outside of any session.
func recording(l *lab) command {
	l.turn()
	l.n++
	prompt := fmt.Sprintf("by hand %d", l.n)
	l.Write("file", prompt+"\n")
	c := command{args: []string{"git-agent-turn", "record", "--mission", "d00dfeed", "--prompt", prompt}}
	c.then = func(l *lab, done result) {
		var times int
		for _, t := range l.list() {
			if t.Prompt != prompt {
				continue
			}
			times++
			if file, err := l.main.Try("cat-file", "blob", t.Code+":file"); err != nil || file != prompt {
				l.find("a turn recorded by hand has other code", "%q: %v, %q", prompt, err, file)
			}
		}
		if times > 1 || times == 0 && done.status == 0 {
			l.find("a turn recorded by hand is not there once", "%q: %d times", prompt, times)
		}
	}
	return c
}

// importing brings sessions of which no hook has heard: two that are new every time, and one that goes on.
func importing(l *lab) command {
	l.turn()
	if l.unheard == nil {
		l.unheard = replay.New(l.config, l.Dir, nil)
	}
	fresh := replay.New(l.config, l.Dir, nil)
	prompts := make(map[string][]string)
	for _, c := range []*replay.Client{fresh, replay.New(l.config, l.Dir, nil), l.unheard} {
		for range 3 {
			l.n++
			prompt := fmt.Sprintf("imported %d", l.n)
			c.Prompt(prompt)
			c.Tool("Read")
			c.Stop("did " + prompt)
			prompts[c.Session[len(c.Session)-8:]] = append(prompts[c.Session[len(c.Session)-8:]], prompt)
		}
		c.Flush()
	}
	c := command{args: []string{"git-agent-turn", "import"}}
	c.then = func(l *lab, _ result) {
		l.must(command{args: c.args})
		counts := make(map[string]int)
		for _, t := range l.list() {
			counts[t.Mission+" "+t.Prompt]++
		}
		for mission, list := range prompts {
			for _, prompt := range list {
				if n := counts[mission+" "+prompt]; n != 1 {
					l.find("a turn is not imported once", "%s is in mission %s %d times", prompt, mission, n)
				}
			}
		}
	}
	return c
}

func push(l *lab) command {
	l.turn()
	c := command{args: []string{"git-agent-turn", "push"}, env: l.consent()}
	c.then = func(l *lab, _ result) {
		l.must(command{args: c.args, env: c.env})
		l.same(l.Repo)
	}
	return c
}

// fetch brings what another clone has pushed: more turns of a mission, every third time a new one.
func fetch(l *lab) command {
	other := l.clone()
	l.n++
	other.Write("file", fmt.Sprintf("there %d\n", l.n))
	id := fmt.Sprintf("%08x", 0xb0000000+l.n/3)
	other.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", fmt.Sprintf("there %d", l.n)}})
	other.must(command{args: []string{"git-agent-turn", "push"}, env: other.consent()})
	c := command{args: []string{"git-agent-turn", "fetch"}}
	c.then = func(l *lab, _ result) {
		l.must(command{args: c.args})
		l.same(other.Repo)
	}
	return c
}

func remove(l *lab) command {
	dir := l.place()
	id := strings.TrimSpace(l.must(command{args: []string{"git-agent-turn", "start", "--title", "to be removed", "--worktree", dir}}).stdout)
	l.main.In(dir).Write("file", id+"\n")
	l.must(command{dir: dir, args: []string{"git-agent-turn", "record", "--prompt", "removed with " + id}})
	l.going = dir
	c := command{args: []string{"git-agent-turn", "remove", "--force", id}}
	c.then = func(l *lab, _ result) {
		l.going = ""
		if r := l.run(command{args: c.args}); r.status != 0 && r.status != 3 {
			l.find("remove can't be repeated", "%v", r)
		}
		if refs, err := l.Try("for-each-ref", "refs/**/"+id, "refs/heads/agent/mission/"+id); err != nil || refs != "" {
			l.find("remove leaves refs", "%v\n%s", err, refs)
		}
		l.absent(dir)
	}
	return c
}

// archivable is a mission with a turn, that nothing records to.
func (l *lab) archivable() (id string) {
	l.turn()
	l.n++
	id = fmt.Sprintf("%08x", 0xa0000000+l.n)
	l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", "first of " + id}})
	return id
}

// has checks which turns a mission has, wherever it is, and that it has its notes where it has its ledger. Notes that
// are still there, of a mission that is archived, go with the next archiving.
func (l *lab) has(id string, prompts ...string) {
	l.t.Helper()
	out := l.must(command{args: []string{"git-agent-turn", "list", "--mission", id, "--json"}}).stdout
	for _, prompt := range prompts {
		if strings.Count(out, `"prompt":"`+prompt+`"`) != 1 {
			l.find("a turn of an archived mission is not there once", "%q in\n%s", prompt, out)
		}
	}
	refs, err := l.main.Try("for-each-ref", "refs/agent/missions/"+id, "refs/notes/agent/"+id)
	if err != nil || strings.Contains(refs, "refs/agent/") && !strings.Contains(refs, "refs/notes/") {
		l.find("half a mission in the archive", "%v\n%s", err, refs)
	}
}

// archive puts away a mission, which then goes on.
func archive(l *lab) command {
	id := l.archivable()
	c := command{args: []string{"git-agent-turn", "archive", id}}
	c.then = func(l *lab, _ result) {
		l.must(c)
		l.has(id, "first of "+id)
		l.must(command{args: []string{"git-agent-turn", "record", "--mission", id, "--prompt", "second of " + id}})
		l.has(id, "first of "+id, "second of "+id)
		l.must(c)
		l.has(id, "first of "+id, "second of "+id)
	}
	return c
}

// archiveOut takes a mission out of the archive.
func archiveOut(l *lab) command {
	id := l.archivable()
	in := command{args: []string{"git-agent-turn", "archive", id}}
	l.must(in)
	c := command{args: []string{"git-agent-turn", "archive", "--out", id}}
	c.then = func(l *lab, _ result) {
		l.has(id, "first of "+id)
		l.must(in)
		l.must(command{args: c.args})
		l.has(id, "first of "+id)
	}
	return c
}

// restore brings back the first turn of the mission.
func restore(l *lab) command {
	l.turn()
	mission := l.mission()
	c := command{args: []string{"git-agent-turn", "restore", "--mission", mission, "1"}}
	c.then = func(l *lab, _ result) {
		l.must(command{args: c.args})
		for _, t := range l.list() {
			if t.Mission == mission && t.Turn == 1 && l.Read("file") != t.Prompt+"\n" {
				l.find("restore does not restore", "file is %q, want that of %q", l.Read("file"), t.Prompt)
			}
		}
	}
	return c
}

// restorePaths brings back one directory.
func restorePaths(l *lab) command {
	l.turn()
	c := command{args: []string{"git-agent-turn", "restore", "--mission", l.mission(), "1", "--", "new"}}
	c.then = func(l *lab, _ result) {
		before := l.Read("file")
		l.must(c)
		if l.Read("file") != before {
			l.find("restore of some paths changes another", "file was %q, is %q", before, l.Read("file"))
		}
	}
	return c
}

// revert takes back the last turn, and then brings it again.
func revert(l *lab) command {
	l.turn()
	c := command{args: []string{"git-agent-turn", "revert", "--mission", l.mission(), "latest"}}
	c.then = func(l *lab, _ result) {
		l.turn()
		l.must(c)
		if l.Read("file") == l.prompt+"\n" {
			l.find("revert does not revert", "file is still that of %q", l.prompt)
		}
		l.undoes(l.prompt)
	}
	return c
}

// undo takes back a restore.
func undo(l *lab) command {
	l.turn()
	restore := command{args: []string{"git-agent-turn", "restore", "--mission", l.mission(), "1"}}
	l.must(restore)
	return command{args: []string{"git-agent-turn", "undo"}, then: func(l *lab, _ result) {
		l.turn()
		l.must(restore)
		l.undoes(l.prompt)
	}}
}

// adopt takes the work of a fork home, takes it back, and brings it again.
func adopt(l *lab) command {
	l.turn()
	dir := l.place()
	l.must(command{args: []string{"git-agent-fork", "--print", "--no-conversation", "--worktree", dir, l.mission()}})
	there := l.main.In(dir)
	paths := []string{"adopted"}
	for i := range 20 {
		paths = append(paths, fmt.Sprintf("files/%d/%d", i, i))
	}
	text := fmt.Sprintf("adopted %d\n", l.n)
	for _, path := range paths {
		there.Write(path, text)
	}
	id := strings.TrimPrefix(there.Git("symbolic-ref", "HEAD"), "refs/heads/agent/mission/")
	l.must(command{dir: dir, args: []string{"git-agent-turn", "record", "--prompt", "there " + id}})
	l.used = dir
	c := command{args: []string{"git-agent-fork", "adopt", id}}
	adopted := func(after string) {
		for _, path := range paths {
			if got, err := os.ReadFile(filepath.Join(l.Dir, path)); err != nil || string(got) != text {
				l.find("adopt does not adopt, "+after, "%s is %q, %v; want %q", path, got, err, text)
			}
		}
		if got := l.Read("file"); got != l.prompt+"\n" {
			l.find("adopt changes what the fork has not, "+after, "file is %q", got)
		}
	}
	c.then = func(l *lab, _ result) {
		l.turn()
		undo := command{args: []string{"git-agent-turn", "undo", "--dry-run"}}
		if r := l.run(undo); strings.Contains(r.stderr, "would take back the adoption of turn "+id) { // it may be there in part
			l.undoes(l.prompt)
			for _, path := range paths {
				if got, err := os.ReadFile(filepath.Join(l.Dir, path)); err == nil && string(got) == text {
					l.find("undo leaves what was adopted", "%s is %q", path, got)
				}
			}
		}
		l.must(command{args: c.args})
		l.used = ""
		l.traces()
		adopted("once more")
		l.undoes(l.prompt)
		l.must(command{args: []string{"git-agent-turn", "undo"}})
		adopted("after a redo")
		l.undoes(l.prompt)
		l.must(command{args: []string{"git-agent-turn", "remove", "--force", id}})
	}
	return c
}

// undoes takes back a step, after which there is what a turn has left.
func (l *lab) undoes(prompt string) {
	l.t.Helper()
	l.must(command{args: []string{"git-agent-turn", "undo"}})
	if l.Read("file") != prompt+"\n" {
		l.find("undo does not undo", "file is %q, want that of %q", l.Read("file"), prompt)
	}
}
