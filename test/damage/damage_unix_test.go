//go:build unix

package damage

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

var whole = flag.Bool("whole", false, "damage every ref and object, rather than a sample")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.Programs{M: m}.Run())
}

// The missions of the world.
const (
	passive  = "a1b2c3d4"
	attached = "deadbeef"
)

// A world is a repository with missions, and a remote that has all of it.
type world struct {
	*gittest.Repo
	home    string
	origin  string            // where the first one is, of which this may be a copy
	refs    string            // as git lists them
	objects []string          // hashes, all of them loose
	said    map[string]answer // what each command says of it
}

// commands are those that read. FORK stands for the mission that is a fork.
var commands = []string{
	"turn", "turn missions", "turn missions --json", "turn list --all", "turn list --mission a1b2c3d4", "turn list --mission deadbeef --states",
	"turn list --mission a1b2c3d4 --tokens", "turn show a1b2c3d4/1", "turn show a1b2c3d4/2", "turn show --conversation a1b2c3d4", "turn show --transcript a1b2c3d4/2",
	"turn show --json deadbeef/1", "turn show --patch deadbeef/2", "turn diff a1b2c3d4/2", "turn log", "turn tree", "turn search needle",
	"turn blame work", "turn why work 1", "turn export --format agent-trace HEAD", "turn summary", "turn restore --dry-run a1b2c3d4/1",
	"handoff list --all", "handoff show a1b2c3d4/1", "handoff show --document a1b2c3d4/1", "handoff prime a1b2c3d4", "handoff grep --handoff a1b2c3d4/1 needle",
	"turn diff a1b2c3d4/1 a1b2c3d4/2", "fork compare FORK",
}

// newWorld makes the world with the programs, as a person and two clients would.
func newWorld(t *testing.T) *world {
	r := gittest.New(t)
	home := filepath.Dir(r.Dir)
	w := &world{Repo: r, home: home, origin: r.Dir}
	r.Write("work", "zero\n")
	r.Commit("first")
	w.must(t, "git-agent-turn", "init")
	c := w.client(t, "5e550000-0000-4000-8000-0000"+passive)
	w.turn(c, "find the needle", func() { r.Write("work", "zero\none\n") })
	w.turn(c, "now the hay", func() { r.Write("work", "zero\none\ntwo\n"); r.Write("dir/more", "more\n") })
	r.Write(".git/handoff.md", "# Handoff\n\nThe needle is in the hay.\n")
	w.must(t, "git-agent-handoff", "write", "--mission", passive, "--summary", "the needle is found", filepath.Join(r.Dir, ".git/handoff.md"))
	c.End("other")
	w.must(t, "git-agent-fork", passive+"/1", "--no-worktree", "--print")
	r.Git("switch", "-q", "-c", "agent/mission/"+attached)
	d := w.client(t, "5e550000-0000-4000-8000-000011111111")
	w.turn(d, "on a branch", func() { r.Write("branch", "1\n") })
	w.turn(d, "and more", func() { r.Write("branch", "1\n2\n") })
	for n := range 9 {
		w.turn(d, fmt.Sprintf("file %d", n), func() { r.Write(fmt.Sprintf("files/%d", n), fmt.Sprintln(n)) })
	}
	d.End("other")
	remote := filepath.Join(home, "remote.git")
	r.Git("init", "-q", "--bare", remote)
	r.Git("remote", "add", "origin", remote)
	r.Git("push", "-q", "origin", "refs/agent/*:refs/agent/*", "refs/notes/*:refs/notes/*", "refs/heads/*:refs/heads/*")
	r.Git("repack", "-adq")
	packs, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/pack-*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	data := r.Read(".git/objects/pack/" + filepath.Base(packs[0]))
	gittest.Must(t, os.RemoveAll(filepath.Join(r.Dir, ".git/objects/pack")))
	if _, err := r.Feed(data, "unpack-objects", "-q"); err != nil {
		t.Fatal(err)
	}
	w.refs = w.state()
	w.objects = strings.Fields(r.Git("cat-file", "--batch-check=%(objectname)", "--batch-all-objects"))
	keeper := strings.TrimSpace(r.Git("for-each-ref", "--count=1", "--format=%(objectname)", "refs/agent/kept")) // in every sample
	w.objects = slices.Insert(slices.DeleteFunc(w.objects, func(h string) bool { return h == keeper }), 0, keeper)
	fork := regexp.MustCompile(`refs/agent/missions/(\w+)`).FindAllStringSubmatch(w.refs, -1)
	for _, m := range fork {
		if m[1] != passive && m[1] != attached {
			for i, c := range commands {
				commands[i] = strings.ReplaceAll(c, "FORK", m[1])
			}
		}
	}
	w.said = make(map[string]answer)
	for _, c := range commands {
		w.said[c] = w.run(t, c)
	}
	return w
}

func (w *world) client(t *testing.T, session string) *replay.Client {
	c := replay.New(w.home, w.Dir, nil)
	c.Session = session
	c.Path = filepath.Join(filepath.Dir(c.Path), session+".jsonl")
	c.Hook = func(e replay.Event) {
		cmd := exec.Command("git-agent-turn", "hook")
		cmd.Dir, cmd.Env, cmd.Stdin = w.Dir, w.Env, bytes.NewReader(e.Payload())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("hook of %s: %v\n%s", e.Name, err, out)
		}
	}
	return c
}

func (w *world) turn(c *replay.Client, prompt string, do func()) {
	c.Prompt(prompt)
	c.Tool("Write")
	do()
	c.Stop("done: " + prompt)
	c.Flush()
}

func (w *world) must(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// copied is a copy of the world, with the same remote.
func (w *world) copied(t *testing.T) *world {
	t.Helper()
	home := gittest.TempDir(t)
	r := &world{Repo: w.In(filepath.Join(home, "repo")), home: home, origin: w.origin, refs: w.refs, objects: w.objects, said: w.said}
	r.Env = append(slices.Clone(w.Env), "XDG_RUNTIME_DIR="+home)
	gittest.Must(t, os.CopyFS(r.Dir, os.DirFS(w.Dir)))
	return r
}

// An answer is what a command says.
type answer struct {
	status         int
	stdout, stderr string
}

// times are how long ago something was.
var times = regexp.MustCompile(` *\b(less than a|about a|\d+) ?(s|second|seconds|m|minute|minutes)\b`)

// partly are the commands that say whose lines are. A state of another turn that is not here is nothing unusual to
// them, as it may not be in a shallow clone: they answer by what is left.
var partly = regexp.MustCompile(`^turn (log|summary|blame|why|export)\b`)

// blanks are as many as a column is wide.
var blanks = regexp.MustCompile(` +`)

// run runs a command, which must end, and not crash.
func (w *world) run(t *testing.T, command string) answer {
	t.Helper()
	words := strings.Fields(command)
	cmd := exec.Command("git-agent-"+words[0], words[1:]...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the status says it
	a := answer{cmd.ProcessState.ExitCode(), blanks.ReplaceAllString(times.ReplaceAllString(strings.NewReplacer(w.Dir, "DIR", w.origin, "DIR").Replace(stdout.String()), ""), " "), stderr.String()}
	if a.status < 0 || a.status > 3 || strings.Contains(a.stdout+a.stderr, "goroutine ") {
		t.Errorf("%s: exit status %d\n%.3000s", command, a.status, a.stderr)
	}
	return a
}

// A harm is something that is done to a world.
type harm struct {
	name string
	do   func(t *testing.T, w *world)
}

// change replaces a file of the repository's, which may be read-only; nil removes it.
func (w *world) change(t *testing.T, path string, to func([]byte) []byte) {
	t.Helper()
	path = filepath.Join(w.Dir, ".git", path)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		if data = to(data); data != nil {
			err = os.WriteFile(path, data, 0o644)
		}
	}
	gittest.Must(t, err)
}

func gone([]byte) []byte      { return nil }
func cut(data []byte) []byte  { return data[:len(data)/2] }
func empty([]byte) []byte     { return []byte{} }
func flip(data []byte) []byte { data[len(data)*2/3] ^= 0x10; return data }
func onObject(hash string, to func([]byte) []byte) func(*testing.T, *world) {
	return func(t *testing.T, w *world) { w.change(t, "objects/"+hash[:2]+"/"+hash[2:], to) }
}

// objectHarms are all that can be done to the objects.
func objectHarms(w *world) []harm {
	var list []harm
	for i, hash := range w.objects {
		kind := w.Git("cat-file", "-t", hash)
		list = append(list, harm{"gone " + kind + " " + hash, onObject(hash, gone)}, harm{"cut " + kind + " " + hash, onObject(hash, cut)})
		if i%2 == 0 {
			list = append(list, harm{"empty " + kind + " " + hash, onObject(hash, empty)})
		} else {
			list = append(list, harm{"flipped " + kind + " " + hash, onObject(hash, flip)})
		}
	}
	return list
}

// refHarms are all that can be done to our refs, but for what nobody can tell from a removal by hand.
func refHarms(w *world) []harm {
	var list []harm
	for line := range strings.Lines(w.refs) {
		_, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.Contains(ref, "agent") {
			continue
		}
		for name, to := range map[string]func([]byte) []byte{"gone": gone, "cut": cut, "empty": empty} {
			list = append(list, harm{name + " " + ref, func(t *testing.T, w *world) { w.change(t, ref, to) }})
		}
	}
	slices.SortFunc(list, func(a, b harm) int { return strings.Compare(a.name, b.name) })
	return list
}

// packHarms flip a byte at each twentieth of a pack of everything, and of its index.
func packHarms(*world) []harm {
	var list []harm
	for _, ext := range []string{"pack", "idx"} {
		for part := range 20 {
			list = append(list, harm{fmt.Sprintf("%s at %d%%", ext, part*5), func(t *testing.T, w *world) {
				w.Git("repack", "-adq")
				packs, err := filepath.Glob(filepath.Join(w.Dir, ".git/objects/pack/pack-*."+ext))
				if err != nil || len(packs) != 1 {
					t.Fatal(packs, err)
				}
				w.change(t, "objects/pack/"+filepath.Base(packs[0]), func(data []byte) []byte {
					data[len(data)*part/20] ^= 0x10
					return data
				})
			}})
		}
	}
	return list
}

// says reports whether an answer names what is missing, and what to do.
func says(a answer) bool {
	both := a.stderr + a.stdout
	return strings.Contains(both, "git agent-turn doctor --repair") || strings.Contains(both, "(no longer exists here)")
}

// A tally counts answers.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

// look runs the commands in a damaged world. Each says what it says of the whole one, or names what is missing.
func (c *tally) look(t *testing.T, w *world) {
	t.Helper()
	for _, command := range commands {
		was, now := w.said[command], w.run(t, command)
		what := "as before"
		switch {
		case now.status == was.status && now.stdout == was.stdout:
		case says(now):
			what = "names it"
		case now.status == 0 && partly.MatchString(command):
			what = "answers by what is left"
		default:
			what = "says nothing"
			t.Errorf("%s: status %d, and not a word of it:\n%.2000s\n%.400s", command, now.status, now.stderr, now.stdout)
		}
		c.mu.Lock()
		c.counts[what]++
		c.mu.Unlock()
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newWorld(t)
	for _, c := range commands {
		if a := w.said[c]; a.status != 0 {
			t.Errorf("%s, of the whole repository: status %d\n%s", c, a.status, a.stderr)
		}
	}
	for _, part := range []struct {
		name  string
		harms []harm
		short int // one of so many of them
	}{
		{"objects", objectHarms(w), 83},
		{"refs", refHarms(w), 4}, // files of single ones
		{"packs", packHarms(w), 5},
	} {
		step := part.short
		if *whole {
			step = 1
		} else if gittest.Whole() {
			step = max(1, step/2)
		}
		c := &tally{counts: make(map[string]int)}
		done := 0
		t.Run(part.name, func(t *testing.T) {
			if part.name == "refs" && w.InTables() {
				t.Skip("no ref has a file in reftables")
			}
			limit := make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
			for i := 0; i < len(part.harms); i += step {
				h := part.harms[i]
				done++
				t.Run(strings.ReplaceAll(h.name, " ", "-"), func(t *testing.T) {
					t.Parallel()
					limit <- struct{}{}
					defer func() { <-limit }()
					copied := w.copied(t)
					h.do(t, copied)
					if !strings.HasPrefix(h.name, "gone refs/") { // as if somebody had deleted it
						c.look(t, copied)
					}
					copied.repaired(t)
				})
			}
		})
		t.Logf("%s: %d of %d harms; what commands said: %v", part.name, done, len(part.harms), c.counts)
	}
	t.Run("ends", w.ends)
	t.Logf("%d objects, %d refs, %d commands", len(w.objects), strings.Count(w.refs, "\n")+1, len(commands))
}

// state is what the refs are, and what no keeper keeps. Notes that were written
// anew have another history, and keepers are other commits.
func (w *world) state() string {
	return w.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/agent/missions", "refs/heads") + "\n" +
		w.Git("for-each-ref", "--format=%(tree) %(refname)", "refs/notes") + "\n" +
		w.Git("rev-list", "--glob=refs/agent/missions", "--not", "--glob=refs/agent/kept")
}

// remedies are the commands that doctor leaves to a person.
var remedies = regexp.MustCompile(`(?m)^ +remedy: git (update-ref .*|branch .*)$`)

// repaired repairs the world, and expects it to be as it was.
func (w *world) repaired(t *testing.T) {
	t.Helper()
	a := w.run(t, "turn doctor --repair")
	hints := remedies.FindAllStringSubmatch(a.stdout, -1)
	if a.status != 0 && hints == nil {
		t.Errorf("doctor --repair: status %d\n%s%s", a.status, a.stdout, a.stderr)
	}
	for _, hint := range hints { // what it doesn't decide itself
		if out, err := w.Try(strings.Fields(hint[1])...); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if hints != nil {
		w.run(t, "turn doctor --repair")
	}
	if out, err := w.Try("fsck", "--full"); err != nil {
		t.Errorf("fsck after the repair: %v\n%s", err, out)
	}
	if now := w.state(); now != w.refs {
		t.Errorf("the refs are now\n%s\nand were\n%s", now, w.refs)
	}
	have := strings.Fields(w.Git("cat-file", "--batch-check=%(objectname)", "--batch-all-objects"))
	lost := make(map[string]bool)
	for _, hash := range w.objects {
		lost[hash] = true
	}
	for _, hash := range have {
		delete(lost, hash)
	}
	if len(lost) > 0 {
		t.Errorf("lost: %q", slices.Sorted(maps.Keys(lost)))
	}
	if a := w.run(t, "turn doctor --repair"); a.status != 0 || !strings.Contains(a.stdout, "nothing is damaged") {
		t.Errorf("a second repair: status %d\n%s%s", a.status, a.stdout, a.stderr)
	}
}
