package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
)

func TestTakeEnvironment(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, env := range [][]string{
		{"GIT_OPTIONAL_LOCKS=0"},
		{"GIT_LITERAL_PATHSPECS=1"},
		{"GIT_ICASE_PATHSPECS=1"},
		{"GIT_GLOB_PATHSPECS=1"},
		{"GIT_CEILING_DIRECTORIES=/"},
		{"GIT_INDEX_VERSION=4"},
		{"GIT_TRACE=1"},
		{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=status.short", "GIT_CONFIG_VALUE_0=true"},
		{"GIT_CONFIG_PARAMETERS='core.fileMode=true' 'status.relativePaths=false' 'status.branch=false'"},
		{"GIT_EXTERNAL_DIFF=false"},
		{"GIT_PAGER=false", "PAGER=false"},
	} {
		t.Run(env[0], func(t *testing.T) {
			t.Parallel()
			r := base(t)
			edit(t, r, "a=changed; d/[x]*=new; rm b")
			r.Env = append(r.Env, env...)
			check(t, r)
		})
	}
}

// Where the user's environment forbids optional locks, the private index still learns.
func TestTakeOptionalLocks(t *testing.T) {
	t.Parallel()
	r := base(t)
	r.Env = append(r.Env, "GIT_OPTIONAL_LOCKS=0")
	passive(t, r)
	passive(t, r)
	if !strings.Contains(r.Read(".git/agent/index"), untrackedCache) {
		t.Error("the private index has no untracked cache")
	}
}

// What git itself sets, for instance for a hook that runs an agent, is about another
// repository or another index. It must not reach the git that we run.
func TestTakeInsideAHook(t *testing.T) {
	gittest.Check(t)
	r, other := base(t), base(t)
	t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.Dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.Dir, ".git/other-index"))
	t.Setenv("GIT_OBJECT_DIRECTORY", filepath.Join(other.Dir, ".git/objects"))
	t.Setenv("GIT_PREFIX", "d/")
	t.Setenv("GIT_CONFIG", "/dev/null")
	t.Setenv("GIT_ATTR_SOURCE", "HEAD:nowhere")
	before := state(t, other)
	edit(t, r, "a=changed; check")
	sameState(t, other, before)
}

// The user's own attributes, for all repositories.
func TestTakeGlobalAttributes(t *testing.T) {
	gittest.Check(t)
	dir := gittest.TempDir(t)
	r := base(t)
	r.Env = append(r.Env, "XDG_CONFIG_HOME="+dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	gittest.Must(t, os.MkdirAll(filepath.Join(dir, "git"), 0o777))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "git/attributes"), []byte("* text\n"), 0o666))
	r.Write("a", "one\r\n")
	check(t, r)
}

func TestTakeSettings(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, settings := range [][]string{
		{"core.untrackedCache", "true"},
		{"core.untrackedCache", "false"},
		{"core.untrackedCache", "keep"},
		{"feature.manyFiles", "true"},
		{"index.version", "4"},
		{"index.skipHash", "true"},
		{"core.preloadIndex", "false"},
		{"core.quotePath", "true"},
		{"core.ignoreCase", "true"},
		{"core.precomposeUnicode", "true"},
		{"core.logAllRefUpdates", "always"},
		{"core.compression", "0"},
		{"core.sharedRepository", "group"},
		{"status.showUntrackedFiles", "no"},
		{"status.showStash", "true"},
		{"status.renames", "copies"},
		{"status.submoduleSummary", "true"},
		{"diff.renames", "copies"},
		{"diff.ignoreSubmodules", "all"},
		{"diff.noprefix", "true"},
		{"diff.orderFile", "/nowhere"},
		{"add.ignoreErrors", "true"},
		{"color.ui", "always"},
		{"column.ui", "always"},
		{"core.pager", "false"},
	} {
		t.Run(settings[0]+"="+settings[1], func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			r := base(t)
			setConfig(t, r, settings...)
			edit(t, r, "git update-index --refresh; a=changed; git add a; git mv d/one d/moved; x/y=new; rm b")
			check(t, r)
		})
	}
}

// A program that tells git which files have changed is asked by none of ours: it may not know.
func TestTakeFsmonitor(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, script := range map[string]string{
		"says that everything changed": "#!/bin/sh\nprintf 'token\\0/\\0'\n",
		"fails":                        "#!/bin/sh\nexit 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			r.Write(".git/monitor", script)
			edit(t, r, "chmod 755 .git/monitor; git config core.fsmonitor .git/monitor; git status; a=changed")
			edit(t, r, "x/y=new; check; b=changed; check")
		})
	}
	r := base(t)
	r.Write(".git/monitor", "#!/bin/sh\nprintf 'token\\0'\n")
	edit(t, r, "chmod 755 .git/monitor; git config core.fsmonitor .git/monitor; git status; a=changed")
	r.Says("", "status", "--porcelain", "a") // so it deceives git
	holds(t, r, take(t, r, false), "a", "changed")
	holds(t, r, take(t, r, true), "a", "changed")
}

// TestTakeAfterCheckOut: what our git wrote is looked at again, whatever core.ignoreStat says.
func TestTakeAfterCheckOut(t *testing.T) {
	t.Parallel()
	r := base(t)
	setConfig(t, r, "core.ignoreStat", "true")
	before := take(t, r, true)
	edit(t, r, "a=changed")
	gittest.Must(t, take(t, r, true).CheckOut(context.Background(), before.Tree, Checkout{}))
	edit(t, r, "a=again; touch a")
	holds(t, r, take(t, r, false), "a", "again")
}

// No hook of the user's runs: post-index-change would be told of an index that is not the user's.
func TestTakeRunsNoHooks(t *testing.T) {
	t.Parallel()
	r := base(t)
	ran := filepath.Join(gittest.TempDir(t), "ran")
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout"} {
		r.Write(".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>"+ran+"\n")
		chmod(t, r, ".git/hooks/"+hook, 0o755)
	}
	edit(t, r, "a=changed; git add a")
	if _, err := os.Stat(ran); err != nil {
		t.Fatal("git add runs no hook, so this tests nothing")
	}
	gittest.Must(t, os.Remove(ran))
	edit(t, r, "b=changed; new=n")
	take(t, r, false)
	take(t, r, true)
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("hooks ran: %q", b)
	}
}

// Root reads everything, so that only a part of this is tested as root.
func TestTakeUnreadable(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	edit(t, r, "a=changed; chmod 0 a; new=n; chmod 0 new; b=changed")
	if _, err := os.ReadFile(filepath.Join(r.Dir, "a")); err == nil {
		t.Log("not tested: this user reads files without permission to")
		check(t, r)
		return
	}
	edit(t, r, "closed/f=f; chmod 0 closed; chmod 0 d; x/y/f=f; chmod 0 x/y; .gitignore=/i*")
	edit(t, r, "k/f=f; .gitattributes=k/f ident")
	take(t, r, false) // through git, so that the private index has k/f
	edit(t, r, "chmod 0 k")
	edit(t, r, "i/f=f; chmod 0 i; i2/i3/f=f; chmod 0 i2/i3; git init -q nested; nested/in/f=f; chmod 0 nested/in")
	for _, dir := range []string{"closed", "d", "k", "x/y", "i", "i2/i3", "nested/in"} {
		defer chmod(t, r, dir, 0o777)
	}
	for _, publish := range []bool{false, false, true} { // with an untracked cache, too
		s := take(t, r, publish)
		skips(t, s, record.Skip{Path: "a", Why: record.WhyUnreadable}, record.Skip{Path: "new", Why: record.WhyUnreadable},
			record.Skip{Path: "closed/", Why: record.WhyUnreadable}, record.Skip{Path: "d/", Why: record.WhyUnreadable},
			record.Skip{Path: "k/", Why: record.WhyUnreadable}, record.Skip{Path: "x/y/", Why: record.WhyUnreadable}, record.Skip{Path: "nested/", Why: record.WhyRepository})
		holds(t, r, s, "b", "changed")
		holds(t, r, s, "d/one", "1") // as it was
		holds(t, r, s, "k/f", "f")
	}
}

// Somebody else's lock on the user's index is none of our business.
func TestTakeWhileIndexIsLocked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	edit(t, r, ".git/index.lock:somebody else's; a=changed; new=n")
	for _, publish := range []bool{false, true, false} {
		s := take(t, r, publish)
		for name, want := range map[string]string{"a": "changed", "new": "n", "b": "b"} {
			holds(t, r, s, name, want)
		}
		if got := r.Read(".git/index.lock"); got != "somebody else's" {
			t.Errorf("index.lock = %q", got)
		}
	}
}

// A git that was killed leaves the private index locked. Its age does not matter:
// nobody else has a right to it.
func TestTakeWhilePrivateIndexIsLocked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, age := range []time.Duration{0, time.Hour} {
		r := base(t)
		edit(t, r, "check; .git/agent/index.lock:half an index")
		at := time.Now().Add(-age)
		gittest.Must(t, os.Chtimes(filepath.Join(r.Dir, ".git/agent/index.lock"), at, at))
		edit(t, r, "a=changed; check")
		if _, err := os.Lstat(filepath.Join(r.Dir, ".git/agent/index.lock")); err == nil {
			t.Error("the lock is still there")
		}
	}
}

// A process that dies may leave the private index in any state, and no origin.
func TestTakeAfterCrash(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	edit(t, r, "a=changed; check")
	for _, name := range []string{".git/agent/index", ".git/agent/index.origin", ".git/agent/index.new"} {
		for _, content := range []string{"", "x", strings.Repeat("x", 1000)} {
			r.Write(name, content)
			check(t, r)
		}
		remove(t, r, name)
		check(t, r)
	}
	edit(t, r, "rm .git/agent; check")
}

func TestTakeManyUntracked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	most := gittest.Size(policy.MaxUntrackedFiles, 500)
	take := func() *Snapshot {
		s, err := tryTake(t, r, func(o *Options) { o.Policy.MaxUntrackedFiles = most })
		gittest.Must(t, err)
		return s
	}
	for i := range most {
		r.Write(fmt.Sprintf("cache/%d/%d", i%50, i), fmt.Sprintf("%d\n", i))
	}
	sameTree(t, take(), wantTree(t, r, nil))
	r.Write("cache/one-too-many", "x\n")
	want := wantTree(t, r, []record.Skip{{Path: "cache/0", Why: record.WhyTooMany}})
	s := take()
	sameTree(t, s, want)
	skips(t, s, record.Skip{Path: "cache/0/", Why: record.WhyTooMany})
}

func TestTakePolicy(t *testing.T) {
	t.Parallel()
	r := base(t)
	r.Write(".env", "A=committed\n")
	r.Write("big", strings.Repeat("committed\n", 10))
	r.Git("add", "-f", ".env", "big")
	r.Git("commit", "-q", "-m", "the user's decision")
	for name, content := range map[string]string{
		".env": "A=changed\n", "big": strings.Repeat("changed\n", 20), // tracked: always taken
		"conf/.env": "B=1\n", "id_ed25519": "key\n", "large": strings.Repeat("x", 101), "fits": strings.Repeat("x", 100), "x/build/y": "y\n", "build": "a file\n",
		"a.log": "log\n", "keep.log": "log\n", "staged.log": "the user's decision too\n",
	} {
		r.Write(name, content)
	}
	r.Git("add", "staged.log")
	for _, publish := range []bool{false, true} {
		s, err := tryTake(t, r, func(o *Options) {
			o.Publish = publish
			o.Policy.MaxFileSize = 100
			o.Policy.Exclude = []string{"*.log", "!keep.log", "build/"}
		})
		gittest.Must(t, err)
		skipped := []record.Skip{{Path: "conf/.env", Why: record.WhySecret}, {Path: "id_ed25519", Why: record.WhySecret}, {Path: "large", Why: record.WhySize}, {Path: "x/build/y", Why: record.WhyExcluded}, {Path: "a.log", Why: record.WhyExcluded}}
		skips(t, s, skipped...)
		sameTree(t, s, wantTree(t, r, skipped))
	}
	fsck(t, r)
}

// What the private index remembers of untracked files does not make them tracked.
func TestTakePolicyOfRememberedFiles(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	limits := func(o *Options) { o.Policy.MaxFileSize, o.Policy.MaxUntrackedFiles = 1000, 2*maxPlainFiles }
	for i := range 2 * maxPlainFiles {
		r.Write(fmt.Sprintf("new/%03d", i), "small\n")
	}
	expect := func(skipped ...record.Skip) {
		t.Helper()
		for range 2 {
			s, err := tryTake(t, r, limits)
			gittest.Must(t, err)
			sameTree(t, s, wantTree(t, r, skipped))
			skips(t, s, skipped...)
		}
	}
	expect()
	r.Write("new/000", strings.Repeat("x", 1001)) // has grown
	expect(record.Skip{Path: "new/000", Why: record.WhySize})
	r.Write("new/000", "small again\n")
	expect()
	r.Write("other/1", "one too many\n")
	expect(record.Skip{Path: "new/", Why: record.WhyTooMany})
	r.Git("add", "new") // now they are the user's
	expect()
	edit(t, r, "git rm -q -r --cached new; rm other new/001 new/002; new/003=changed")
	expect()
}

// Eight worktrees of one repository at once.
func TestTakeConcurrently(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	for i := range 8 {
		dir := filepath.Join(gittest.TempDir(t), "linked")
		r.Git("worktree", "add", "-q", "-b", fmt.Sprint("b", i), dir)
		t.Run("", func(t *testing.T) {
			t.Parallel()
			w := r.In(dir)
			for n := range 3 {
				w.Write(fmt.Sprint("new", n), fmt.Sprint("the same in all ", n, "\n"))
				w.Write("a", fmt.Sprint("own ", i, n, "\n"))
				if n == 1 {
					for m := range maxPlainFiles {
						w.Write(fmt.Sprint("many/", m), fmt.Sprint("the same in all ", m, "\n"))
					}
				}
				for _, publish := range []bool{false, true} {
					sameTree(t, take(t, w, publish), wantTree(t, w, nil))
				}
			}
		})
	}
	t.Cleanup(func() { fsck(t, r) })
}
