//go:build unix

package purge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

// The missions of the world by what they are; forks have ids that nobody chose.
const (
	whole    = "a1b2c3d4" // has the secret in everything that a mission has
	clean    = "b1b2c3d4" // in nothing
	archived = "c1b2c3d4"
	old      = "d1b2c3d4" // archived, in nothing
)

// A world is a repository in which a secret stands everywhere.
type world struct {
	*gittest.Repo
	t    *testing.T
	home string
	fork string // of the whole one, attached
	deep string // of that
	loss string // of the whole one, from before the secret

	mine     string   // a commit of the user's that names the secret
	others   []string // unreachable objects of the user's
	dangling string   // one that has the secret
}

func (w *world) client(dir, id string) *replay.Client {
	c := replay.New(w.home, dir, nil)
	if id != "" {
		c.Session = "5e550000-0000-4000-8000-0000" + id
		c.Path = filepath.Join(filepath.Dir(c.Path), c.Session+".jsonl")
	}
	c.Hook = func(e replay.Event) {
		cmd := exec.Command("git-agent-turn", "hook")
		cmd.Dir, cmd.Env, cmd.Stdin = dir, w.Env, bytes.NewReader(e.Payload())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			w.t.Errorf("hook of %s: %v\n%s", e.Name, err, out)
		}
	}
	return c
}

func (w *world) write(path, text string) {
	w.t.Helper()
	gittest.Must(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	gittest.Must(w.t, os.WriteFile(path, []byte(text), 0o666))
}

// printed adds what a tool has printed to a client's file.
func (w *world) printed(c *replay.Client, text string) {
	w.t.Helper()
	c.Flush()
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": replay.NewID(), "sessionId": c.Session, "timestamp": "2026-11-20T12:00:00.000Z",
		"message":       map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}}},
		"toolUseResult": map[string]any{"stdout": text},
	})
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(c.Path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			_, err = f.Write(append(line, '\n'))
			_ = f.Close()
		}
	}
	gittest.Must(w.t, err)
}

// run runs a program, and returns its exit status and all that it printed.
func (w *world) run(stdin string, args ...string) (status int, out string) {
	w.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.Dir, w.Env, strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func (w *world) must(args ...string) string {
	w.t.Helper()
	status, out := w.run("", args...)
	if status != 0 {
		w.t.Fatalf("%q: exit status %d\n%s", args, status, out)
	}
	return out
}

// forked makes a fork with a worktree, and returns its mission and where it is.
func (w *world) forked(turn string) (mission, dir string) {
	w.t.Helper()
	dir = filepath.Join(gittest.TempDir(w.t), "fork")
	cmd := exec.Command("git-agent-fork", turn, "--print", "--no-conversation", "--worktree", dir)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	out, err := cmd.Output()
	var f struct{ Mission string }
	if err == nil {
		err = json.Unmarshal(out, &f)
	}
	if err != nil || f.Mission == "" {
		w.t.Fatalf("fork of %s: %v\n%s", turn, err, out)
	}
	return f.Mission, dir
}

// newEmpty makes a repository with a commit, in which turns are recorded. args are for git init.
func newEmpty(t *testing.T, args ...string) *world {
	t.Helper()
	r := gittest.New(t, args...)
	w := &world{Repo: r, t: t, home: filepath.Dir(r.Dir)}
	w.Env = append(slices.Clone(r.Env), "CLAUDE_CONFIG_DIR="+w.home)
	w.Git("config", "gc.auto", "0")
	w.Write("work", "zero\n")
	w.Write(".gitignore", "*.log\n")
	w.Commit("first")
	w.must("git-agent-turn", "init")
	return w
}

// newWorld makes the world.
func newWorld(t *testing.T, args ...string) *world {
	t.Helper()
	w := newEmpty(t, args...)
	main := w.Git("rev-parse", "HEAD")
	coded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("=", 70) + secret + strings.Repeat("=", 70)))
	escaped := `{"a": "{\"key\": \"hunter2\\u002dsecret-key\"}", "b": "hunter2\u002dsecret\u002dkey"}`

	// Missions that have nothing of it, or have it and are archived.
	for _, id := range []string{clean, old, archived} {
		c := w.client(w.Dir, id)
		for n := range 3 {
			text := "harmless"
			if id == archived && n == 1 {
				text = secret
			}
			c.Prompt(fmt.Sprintf("%s %s %d", text, id, n))
			w.Write("work", fmt.Sprintf("%s %d: %s\n", id, n, text))
			c.Stop("said " + text)
		}
		c.End("other")
	}
	w.Write("work", "zero\n")

	// One that has it in everything.
	c := w.client(w.Dir, whole)
	c.Prompt("find the needle")
	w.Write("work", "one\n")
	c.Stop("found")
	c.Prompt("use " + secret)
	w.Write("work", "two\n")
	w.Write("untracked.conf", "key = \""+secret+"\"\n")
	w.Write("sub/deep/nested.json", escaped+"\n")
	w.Write("sub/wrapped", "-----BEGIN X-----\n"+folded(coded, 64)+"\n-----END X-----\n")
	w.Write("sub/blob.bin", "\x00\x01"+secret+"\x00")
	c.Tool("Bash")
	w.printed(c, "     1\tkey = \""+secret+"\"\n     2\t"+escaped+"\n     3\t"+folded(coded, 76))
	c.Tool("Agent")
	beside := strings.TrimSuffix(c.Path, ".jsonl") + "/subagents/agent-a11"
	w.write(beside+".meta.json", `{"agentType":"Explore","description":"x","toolUseId":"toolu_1"}`)
	w.write(beside+".jsonl", `{"type":"user","isSidechain":true,"agentId":"a11","uuid":"u1","parentUuid":null,"timestamp":"2026-11-20T12:00:00.000Z","message":{"role":"user","content":"look for `+secret+`"}}`+"\n")
	c.Stop("used " + secret)
	w.handOff()
	c.Prompt("again")
	w.Write("work", "three\n")
	c.Stop("done")

	// Forks of it: from before, from the turn itself, and of that. A commit of the agent's own is the user's.
	loss, _ := w.forked(whole + "/1")
	fork, dir := w.forked(whole + "/2")
	f := w.client(dir, "")
	f.Prompt("commit " + secret)
	w.write(filepath.Join(dir, "committed.conf"), "it is "+secret+"\n")
	f.Stop("committed")
	f.Prompt("and now something else")
	w.write(filepath.Join(dir, "work"), "of the fork\n")
	f.Stop("done")
	deep, dir := w.forked(fork + "/4")
	d := w.client(dir, "")
	d.Prompt("deeper")
	w.write(filepath.Join(dir, "deep"), "clean\n")
	d.Tool("Bash")
	w.printed(d, secret)
	d.Stop("done")
	w.loss, w.fork, w.deep = loss, fork, deep
	w.must("git-agent-turn", "archive", archived, old)

	// What is the user's: a commit that names it, objects that nothing refers to, and a pack in which they lie with ours.
	w.mine = w.Git("commit-tree", "-p", main, "-m", "rotate "+secret, main+"^{tree}")
	w.Git("update-ref", "refs/heads/mine", w.mine)
	feed := func(text string, args ...string) string {
		out, err := w.Feed(text, args...)
		gittest.Must(t, err)
		return out
	}
	for n := range 3 {
		w.others = append(w.others, feed(fmt.Sprintf("what a user may still want, %d\n%s", n, strings.Repeat("and more of it\n", 50)), "hash-object", "-w", "--stdin"))
	}
	tree := feed("100644 blob "+w.others[0]+"\tlost\n", "mktree")
	w.others = append(w.others, tree, w.Git("commit-tree", "-m", "a lost commit", tree))
	w.dangling = feed("what a user may still want, 1\n"+strings.Repeat("and more of it\n", 50)+secret, "hash-object", "-w", "--stdin")
	ours := strings.Fields(w.Git("rev-list", "--objects", "--no-object-names", "refs/agent/missions/"+whole+"~2"))
	pack := feed(strings.Join(append(append(ours, w.others...), w.dangling), "\n")+"\n", "pack-objects", "-q", filepath.Join(w.Dir, ".git/objects/pack/pack"))
	w.Write(".git/objects/pack/pack-"+pack+".keep", "the user's\n")
	w.Git("prune-packed")
	w.Write(".git/agent/log", "2026-11-20T12:00:00Z something went wrong with "+secret+"\n")
	return w
}

// handOff hands the whole mission off, from a pane of tmux that shows the secret and is logged.
func (w *world) handOff() {
	w.t.Helper()
	w.Write("work", "two\nand "+secret+"\n") // what is not recorded yet
	w.write(filepath.Join(w.home, "handoff.md"), "# Handoff\n\nThe key is "+secret+".\n")
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			w.t.Fatal("tmux is missing")
		}
		w.t.Skip("tmux is missing")
	}
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path ends at 108 bytes
	gittest.Must(w.t, err)
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	w.Env = append(w.Env, "TMUX="+socket+",1,0", "TMUX_PANE=%0", "LC_ALL=C.UTF-8")
	tmux := func(args ...string) { w.must(append([]string{"tmux", "-S", socket}, args...)...) }
	tmux("-f", "/dev/null", "new-session", "-d", "-x", "60", "-y", "10", "--", "sh", "-c", "tmux -S "+socket+" wait-for go; echo it says "+secret+"; tmux -S "+socket+" wait-for -S shown; exec sleep 1000")
	defer func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() }()
	log := strings.TrimSpace(w.must("git-agent-handoff", "log", "start", "--tmux", "%0"))
	tmux("wait-for", "-S", "go")
	tmux("wait-for", "shown")
	for !strings.Contains(w.must("git-agent-handoff", "log", "show", log), secret) {
		// tmux writes the log a moment later
	}
	w.must("git-agent-handoff", "write", "--mission", whole, "--summary", "remember "+secret, "--tmux", "%0", filepath.Join(w.home, "handoff.md"))
	w.Env = w.Env[:len(w.Env)-3]
	w.Write("work", "two\n")
}

// saying are the objects that have the secret.
func (w *world) saying() (list []string) {
	w.t.Helper()
	out, err := w.Feed("", "cat-file", "--batch-all-objects", "--batch", "--unordered")
	gittest.Must(w.t, err)
	for rest := out + "\n"; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		var name, kind string
		var size int
		if _, err := fmt.Sscan(line, &name, &kind, &size); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		if says([]byte(after[:size])) {
			list = append(list, name)
		}
		rest = after[size+1:]
	}
	return list
}

// refs are the refs, by their names.
func (w *world) refs() map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(w.Git("for-each-ref", "--format=%(refname) %(objectname)")) {
		name, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = hash
	}
	return all
}

// TestWorld: one secret in every place, taken out.
func TestWorld(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, format := range []string{"files", "reftable"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var args []string
			if format != "files" {
				args = []string{"--ref-format=" + format}
				if out, err := exec.Command("git", "init", "-q", args[0], gittest.TempDir(t)).CombinedOutput(); err != nil {
					t.Skipf("this git has no reftable: %s", out)
				}
			}
			newWorld(t, args...).purge()
		})
	}
}

func (w *world) purge() {
	t := w.t
	t.Helper()
	found := w.saying()
	packed := w.Git("count-objects", "-v")
	if len(found) < 20 || !strings.Contains(packed, "packs: ") || strings.Contains(packed, "packs: 1\n") || strings.HasPrefix(packed, "count: 0\n") {
		t.Fatalf("the world has the secret in %d objects only: %s", len(found), packed)
	}
	data := filepath.Join(w.home, ".local", "share", "git-agent")
	if files := sayingFiles(t, data); len(files) < 5 { // document, patch, snapshot, record, log
		t.Fatalf("of ours there are %q", files)
	}
	tips := make(map[string]string) // of archived ones too
	for _, id := range []string{archived, old} {
		w.must("git-agent-turn", "archive", "--out", id)
	}
	was := w.refs()
	for _, id := range []string{archived, old} {
		tips[id] = was["refs/agent/missions/"+id]
		w.must("git-agent-turn", "archive", id)
	}
	before := &world{Repo: w.In(filepath.Join(gittest.TempDir(t), "before.git")), t: t, home: w.home}
	gittest.Must(t, os.CopyFS(before.Dir, os.DirFS(filepath.Join(w.Dir, ".git"))))
	before.Git("config", "core.bare", "true")
	status := w.must("git", "status", "--porcelain")

	exit, said := w.run(secret, "git-agent-turn", "purge", "--fixed", "--yes")
	t.Log(said)
	if exit != 1 || says([]byte(said)) || !strings.Contains(said, w.mine[:12]) {
		t.Errorf("purge: exit status %d, want 1, and the user's commit %s named, and nothing quoted\n%s", exit, w.mine, said)
	}

	// Nothing has it but the user's commit, in no spelling.
	if got := w.saying(); !slices.Equal(got, []string{w.mine}) {
		t.Errorf("the secret is in %q, want it in %s alone", got, w.mine)
		for _, h := range got {
			t.Logf("%s: %.300s", h, w.Git("cat-file", "-p", h))
		}
	}
	for _, file := range sayingFiles(t, filepath.Join(w.Dir, ".git")) {
		if file != filepath.Join("objects", w.mine[:2], w.mine[2:]) {
			t.Errorf("the file %s has the secret", file)
		}
	}
	if got := sayingFiles(t, data); len(got) > 0 {
		t.Errorf("of ours %q have the secret", got)
	}

	// What is the user's is as it was.
	for _, h := range w.others {
		if got, want := w.Git("cat-file", "-p", h), before.Git("cat-file", "-p", h); got != want {
			t.Errorf("%s was %q, and is %q", h, want, got)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(w.Dir, ".git/objects/pack/pack-*.keep")); len(kept) == 0 {
		t.Error("the user's pack is not kept any more")
	}
	if got := w.must("git", "status", "--porcelain"); got != status {
		t.Errorf("the status is\n%s, was\n%s", got, status)
	}
	if out, err := w.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		t.Errorf("fsck: %v\n%s", err, out)
	}

	// What takes the place of each mission is that mission.
	for _, id := range []string{archived, old} {
		w.must("git-agent-turn", "archive", "--out", id)
	}
	is := w.refs()
	for _, id := range []string{old, clean, w.loss} {
		for _, ref := range []string{"refs/agent/missions/" + id, "refs/notes/agent/" + id, "refs/heads/agent/mission/" + id} {
			if is[ref] != was[ref] {
				t.Errorf("%s was %s, and is %s", ref, was[ref], is[ref])
			}
		}
	}
	for _, ref := range []string{"refs/heads/main", "refs/heads/mine"} {
		if is[ref] != was[ref] {
			t.Errorf("%s was %s, and is %s", ref, was[ref], is[ref])
		}
	}
	c := comparison{t: t, was: before.Repo, is: w.Repo, commits: make(map[string]string), blobs: make(map[[2]string]bool)}
	ids := []string{whole, archived, w.fork, w.deep, old, clean, w.loss}
	for _, id := range ids {
		c.ledger("refs/agent/missions/"+id, was["refs/agent/missions/"+id], is["refs/agent/missions/"+id])
	}
	for _, id := range ids {
		c.notes(id, was["refs/notes/agent/"+id], is["refs/notes/agent/"+id])
		if branch := "refs/heads/agent/mission/" + id; was[branch] != "" && is[branch] != c.commits[was[branch]] {
			t.Errorf("%s was %s, and is %s, want %s", branch, was[branch], is[branch], c.commits[was[branch]])
		}
	}
	if c.changed == 0 || c.same == 0 {
		t.Errorf("%d texts are as they were, and %d are redacted", c.same, c.changed)
	}
	t.Logf("%d objects had the secret; of the missions %d texts are as they were, %d redacted, %d left out", len(found), c.same, c.changed, c.left)

	// Signatures are git's as well.
	signers := filepath.Join(w.home, "signers")
	w.write(signers, "dev "+w.must("git-agent-turn", "trust", "key"))
	for _, id := range ids {
		for _, h := range strings.Fields(w.Git("rev-list", "--first-parent", "refs/agent/missions/"+id)) {
			if status, out := w.run("", "git", "-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", h); status != 0 {
				t.Errorf("event %s of %s: %s", h, id, out)
			}
		}
	}

	// And everything works.
	for _, id := range ids {
		turns := strings.Count(w.must("git-agent-turn", "list", "--json", "--mission", id), "\n")
		if want := map[string]int{whole: 3, w.loss: 1, w.fork: 4, w.deep: 5}[id]; turns != max(want, 3) && turns != want {
			t.Errorf("mission %s has %d turns", id, turns)
		}
		for n := 1; n <= turns; n++ {
			if out := w.must("git-agent-turn", "show", "--conversation", fmt.Sprintf("%s/%d", id, n)); strings.Contains(out, "unknown") {
				t.Errorf("show %s/%d:\n%s", id, n, out)
			}
		}
		w.must("git-agent-fork", fmt.Sprintf("%s/%d", id, turns), "--no-worktree", "--print")
	}
	if out := w.must("git-agent-turn", "search", "redacted:purged"); !strings.Contains(out, whole[:4]) {
		t.Errorf("search says %s", out)
	}
	if out := w.must("git-agent-handoff", "show", "--document", whole+"/1"); !strings.Contains(out, mark) {
		t.Errorf("the handoff's document is %s", out)
	}
	w.must("git-agent-turn", "missions")
	w.must("git-agent-turn", "doctor")
	w.Git("gc", "-q", "--prune=now")
	if out, err := w.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		t.Errorf("after a gc: %v\n%s", err, out)
	}
}

// A comparison holds what is against what was.
type comparison struct {
	t                   *testing.T
	was, is             *gittest.Repo
	commits             map[string]string // what took the place of each
	blobs               map[[2]string]bool
	same, changed, left int
}

// ledger compares the events of a mission, and what they keep.
func (c *comparison) ledger(name, was, is string) {
	c.t.Helper()
	events := func(r *gittest.Repo, tip string) (list [][]string) {
		for line := range strings.Lines(r.Git("rev-list", "--first-parent", "--reverse", "--parents", tip)) {
			list = append(list, strings.Fields(line))
		}
		return list
	}
	before, after := events(c.was, was), events(c.is, is)
	if len(before) != len(after) {
		c.t.Errorf("%s had %d events, and has %d", name, len(before), len(after))
		return
	}
	for i := range before {
		if len(before[i]) != len(after[i]) {
			c.t.Errorf("event %s was written with the parents %q, and now %q", before[i][0], before[i], after[i])
			continue
		}
		for n := 2; n < len(before[i]); n++ { // what it keeps
			c.code(before[i][n], after[i][n])
		}
	}
	for i := range before {
		c.commit(before[i][0], after[i][0], true)
	}
}

// code compares commits with states, and all before them.
func (c *comparison) code(was, is string) {
	c.t.Helper()
	parents := func(r *gittest.Repo, h string) []string { return strings.Fields(r.Git("log", "-1", "--format=%P", h)) }
	for seen := c.commits[was]; seen == ""; seen = c.commits[was] {
		c.commit(was, is, false)
		p, q := parents(c.was, was), parents(c.is, is)
		if len(p) == 0 && len(q) == 0 || len(p) != len(q) {
			if len(p) != len(q) {
				c.t.Errorf("commit %s had the parents %q, and %s has %q", was, p, is, q)
			}
			return
		}
		was, is = p[0], q[0]
	}
	if c.commits[was] != is {
		c.t.Errorf("commit %s became %s and %s", was, c.commits[was], is)
	}
}

func (c *comparison) commit(was, is string, ledger bool) {
	c.t.Helper()
	if before, seen := c.commits[was]; seen {
		if before != is {
			c.t.Errorf("commit %s became %s and %s", was, before, is)
		}
		return
	}
	c.commits[was] = is
	if was == is {
		return
	}
	const format = "--format=%an%n%ae%n%ad%n%cn%n%ce%n%cd%n%B"
	if a, b := c.was.Git("log", "-1", format, was), c.is.Git("log", "-1", format, is); !redacted(c.follow(a), b) {
		c.t.Errorf("commit %s was\n%s\nand %s is\n%s", was, a, is, b)
	}
	type entry struct{ mode, hash string }
	files := func(r *gittest.Repo, h string) map[string]entry {
		all := make(map[string]entry)
		for line := range strings.SplitSeq(strings.TrimSuffix(r.Git("ls-tree", "-r", "-z", h), "\x00"), "\x00") {
			what, path, _ := strings.Cut(line, "\t")
			f := strings.Fields(what)
			if len(f) == 3 {
				all[path] = entry{f[0], f[2]}
			}
		}
		return all
	}
	before, after := files(c.was, was), files(c.is, is)
	added := maps.Clone(after)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		a, b := before[path], after[path]
		switch {
		case b.hash == "":
			c.left++
			if !strings.HasSuffix(path, ".bin") {
				c.t.Errorf("%s of %s is left out of %s", path, was, is)
			}
		case a.mode != b.mode:
			c.t.Errorf("%s of %s had mode %s, and has %s", path, was, a.mode, b.mode)
		case ledger && strings.HasSuffix(path, ".json"):
			c.record(path, a.hash, b.hash, after[strings.NewReplacer("turns/", "transcript/", ".json", ".jsonl").Replace(path)].hash)
		default:
			c.blob(path, a.hash, b.hash)
		}
		delete(added, path)
	}
	for path := range added {
		c.t.Errorf("%s is new in %s", path, is)
	}
}

// follow is a text with the commits that took the place of others, and for the texts that quote them.
func (c *comparison) follow(text string) string {
	for from, to := range c.commits {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

func (c *comparison) blob(path, was, is string) {
	c.t.Helper()
	if done := [2]string{was, is}; was == is || c.blobs[done] {
		c.same++
		return
	} else {
		c.blobs[done] = true
	}
	a, b := c.was.Git("cat-file", "blob", was), c.is.Git("cat-file", "blob", is)
	if c.changed++; !redacted(c.follow(a), b) {
		c.t.Errorf("%s was\n%s\nand is\n%s", path, a, b)
	}
}

// record compares records of turns and handoffs: but for what is redacted, sizes and the hashes that follow, they are equal.
func (c *comparison) record(path, was, is, segment string) {
	c.t.Helper()
	if done := [2]string{was, is}; was == is || c.blobs[done] {
		c.same++
		return
	} else {
		c.blobs[done] = true
	}
	size := ""
	if segment != "" {
		size = c.is.Git("cat-file", "-s", segment)
	}
	c.changed++
	c.json(path, c.was.Git("cat-file", "blob", was), c.is.Git("cat-file", "blob", is), size)
}

func (c *comparison) json(name, was, is, size string) {
	c.t.Helper()
	var a, b map[string]any
	gittest.Must(c.t, json.Unmarshal([]byte(was), &a))
	if err := json.Unmarshal([]byte(is), &b); err != nil {
		c.t.Errorf("%s is no JSON any more: %v\n%s", name, err, is)
		return
	}
	if skipped, ok := b["skipped"].([]any); ok && a["skipped"] == nil {
		for _, s := range skipped {
			if m, _ := s.(map[string]any); m["why"] != "purged" || m["path"] != "sub/blob.bin" {
				c.t.Errorf("%s skips %v", name, s)
			}
		}
		delete(b, "skipped")
	}
	var compare func(path string, a, b any)
	compare = func(path string, a, b any) {
		switch a := a.(type) {
		case map[string]any:
			b, _ := b.(map[string]any)
			if len(a) != len(b) {
				c.t.Errorf("%s: %s had %d members, and has %d", name, path, len(a), len(b))
			}
			for key := range a {
				compare(path+"."+key, a[key], b[key])
			}
		case []any:
			b, _ := b.([]any)
			if len(a) != len(b) {
				c.t.Errorf("%s: %s had %d elements, and has %d", name, path, len(a), len(b))
				return
			}
			for i := range a {
				compare(path, a[i], b[i])
			}
		case string:
			b, _ := b.(string)
			if to, ok := c.commits[a]; ok && to == b || redacted(a, b) {
				return
			}
			c.t.Errorf("%s: %s was %q, and is %q", name, path, a, b)
		default:
			switch {
			case a == b, path == ".agents.bytes":
			case path == ".transcript.bytes" && fmt.Sprint(b) == size:
			default:
				c.t.Errorf("%s: %s was %v, and is %v", name, path, a, b)
			}
		}
	}
	compare("", a, b)
}

// notes compares the notes of a mission.
func (c *comparison) notes(id, was, is string) {
	c.t.Helper()
	list := func(r *gittest.Repo, tip string) map[string]string {
		all := make(map[string]string)
		if tip == "" {
			return all
		}
		for line := range strings.Lines(r.Git("notes", "--ref="+tip+"^{commit}", "list")) {
			f := strings.Fields(line)
			all[f[1]] = r.Git("cat-file", "blob", f[0])
		}
		return all
	}
	before, after := list(c.was, was), list(c.is, is)
	for commit, text := range before {
		to := c.commits[commit]
		lines, now := strings.Split(strings.TrimSpace(text), "\n"), strings.Split(strings.TrimSpace(after[to]), "\n")
		if to == "" || len(lines) != len(now) {
			c.t.Errorf("mission %s: the note of %s was\n%s\nand that of %s is\n%s", id, commit, text, to, after[to])
			continue
		}
		for i := range lines {
			var r struct{ Transcript struct{ Bytes json.Number } }
			_ = json.Unmarshal([]byte(now[i]), &r)
			c.json("a note of "+id, lines[i], now[i], r.Transcript.Bytes.String())
		}
		delete(after, to)
	}
	for commit, text := range after {
		c.t.Errorf("mission %s: a new note of %s: %s", id, commit, text)
	}
}
