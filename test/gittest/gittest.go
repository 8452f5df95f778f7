// Package gittest makes real git repositories for tests.
//
// Every repository lies in the test's temporary directory, and git runs in it
// with an empty configuration, fixed names and dates, and no environment of
// the developer's own, so hashes are the same on every machine.
package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// Repo is a repository for one test.
type Repo struct {
	Dir string // top of the worktree, or of the bare repository; symbolic links resolved
	Env []string
	t   testing.TB
}

// New makes an empty repository whose branch is main.
// args are handed to git init, for instance "--bare" or "--object-format=sha256".
func New(t testing.TB, args ...string) *Repo {
	t.Helper()
	return made(t, strings.Join(args, " "), func(r *Repo) {
		if err := os.Mkdir(r.Dir, 0o777); err != nil {
			t.Fatal(err)
		}
		r.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	})
}

// Files is New for a test of what git keeps in files below refs, whatever the format of other repositories is.
func Files(t testing.TB) *Repo {
	t.Helper()
	return made(t, "files", func(r *Repo) {
		if err := os.Mkdir(r.Dir, 0o777); err != nil {
			t.Fatal(err)
		}
		r.Env = append(r.Env, "GIT_DEFAULT_REF_FORMAT=files")
		r.Git("init", "-q", "-b", "main")
	})
}

// Tables is New for a test of reftables, which git has from 2.45 on.
func Tables(t testing.TB) *Repo {
	t.Helper()
	if out, err := exec.Command("git", "init", "-h").Output(); !bytes.Contains(out, []byte("--ref-format")) {
		t.Skipf("this git has no reftables (%v)", err)
	}
	return New(t, "--ref-format=reftable")
}

// Elsewhere is New for a test of refs, in files or reftables, that are in another directory, which git has from 2.54 on.
func Elsewhere(t testing.TB, backend string) *Repo {
	t.Helper()
	r := New(t)
	refs := filepath.Join(TempDir(t), "refs")
	if err := errors.Join(os.RemoveAll(filepath.Join(r.Dir, ".git")), os.Mkdir(refs, 0o777)); err != nil {
		t.Fatal(err)
	}
	s := *r
	s.Env = append(slices.Clone(r.Env), "GIT_REFERENCE_BACKEND="+backend+"://"+filepath.ToSlash(refs))
	s.Git("init", "-q", "-b", "main")
	if _, err := r.Try("config", "extensions.refStorage"); err != nil {
		t.Skip("this git has refs in no other directory")
	}
	return r
}

// InTables reports whether the refs are in reftables.
func (r *Repo) InTables() bool {
	r.t.Helper()
	format, err := r.Try("rev-parse", "--show-ref-format")
	return err == nil && format == "reftable" // older ones print the flag
}

// RefFiles skips a test of what can only happen to the file of one ref.
func (r *Repo) RefFiles() {
	r.t.Helper()
	if r.InTables() {
		r.t.Skip("no ref has a file in reftables")
	}
}

// LockOf returns the file with which git locks a ref, by its full name or HEAD, below the worktree. Of reftables there
// is one for all refs.
func (r *Repo) LockOf(ref string) string {
	r.t.Helper()
	if r.InTables() {
		return ".git/reftable/tables.list.lock"
	}
	return ".git/" + ref + ".lock"
}

// Like makes a repository like every other one of that name: New's, with what the first one was given.
func Like(t testing.TB, name string, give func(r *Repo)) *Repo {
	t.Helper()
	r := made(t, "like "+name, func(r *Repo) {
		*r = *New(t)
		give(r)
	})
	r.Git("update-index", "-q", "--refresh") // its files are other ones
	return r
}

// all has what repositories were made of, by name: a copy costs a fraction of running git.
var all sync.Map

func made(t testing.TB, name string, first func(r *Repo)) *Repo {
	t.Helper()
	files, _ := all.LoadOrStore(name, sync.OnceValues(func() (fs.FS, error) {
		home := TempDir(t)
		r := &Repo{Dir: filepath.Join(home, "repo"), Env: Env(home), t: t}
		first(r)
		return read(r.Dir)
	}))
	home := TempDir(t)
	r := &Repo{Dir: filepath.Join(home, "repo"), Env: Env(home), t: t}
	dir, err := files.(func() (fs.FS, error))()
	if err == nil {
		err = os.CopyFS(r.Dir, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read reads a directory into memory, without the samples of hooks.
func read(dir string) (fs.FS, error) {
	files := make(fstest.MapFS)
	return files, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || strings.HasSuffix(path, ".sample") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		switch target := ""; info.Mode().Type() {
		case 0:
			file.Data, err = os.ReadFile(path)
		case fs.ModeSymlink:
			target, err = os.Readlink(path)
			file.Data = []byte(target)
		}
		files[filepath.ToSlash(path[len(dir)+1:])] = file
		return err
	})
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TempDir is t.TempDir with symbolic links resolved, as git prints paths. It lies in memory, if there
// is room, but in make nightly.
func TempDir(t testing.TB) string {
	t.Helper()
	if Whole() || memory() == "" {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir, err := os.MkdirTemp(memory(), "gittest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Reachable lets other users pass through the directories of tests that dir lies in.
func Reachable(dir string) error {
	for dir = filepath.Dir(dir); ; dir = filepath.Dir(dir) {
		if !strings.HasPrefix(dir, "/dev/shm/") && !strings.HasPrefix(dir, filepath.Clean(os.TempDir())+string(filepath.Separator)) {
			return nil
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
}

// Env is the environment that git runs in: home is its home directory,
// and nothing of the developer's configuration or of an outer git is in it,
// but for the formats that new repositories have by GIT_DEFAULT_HASH and GIT_DEFAULT_REF_FORMAT.
//
// The home directory gets a key to sign ledgers with, as `git agent-turn init` makes one; the same in
// every home, so all repositories of a test are those of one user. See [Key].
func Env(home string) []string {
	Key(home, "dev")
	foreground(home)
	env := []string{
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_RUNTIME_DIR=" + home,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TEST_FSYNC=0", // no test cuts the power
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.invalid", "GIT_AUTHOR_DATE=2026-11-20T12:00:00Z",
		"GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.invalid", "GIT_COMMITTER_DATE=2026-11-20T12:00:00Z",
		"LC_ALL=C", "TZ=UTC",
	}
	for _, name := range []string{"PATH", "TMPDIR", "SYSTEMROOT", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// foreground has git pack in the foreground what it packs by itself: from 2.54 on it does at two small packs.
func foreground(home string) {
	dir := filepath.Join(home, ".config", "git")
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config"), []byte("[maintenance]\n\tautoDetach = false\n"), 0o666)
	}
	if err != nil {
		panic(err)
	}
}

// In is the same repository seen from another directory, for instance a linked worktree.
func (r *Repo) In(dir string) *Repo {
	return &Repo{Dir: dir, Env: r.Env, t: r.t}
}

// Git runs git and returns its standard output without the last newline. The test fails if git does.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.Pipe("", args...)
}

// Says fails the test if git says anything else.
func (r *Repo) Says(want string, args ...string) {
	r.t.Helper()
	if got := r.Git(args...); got != want {
		r.t.Errorf("git %s says %q, want %q", strings.Join(args, " "), got, want)
	}
}

// Try is Git for a command that may fail.
func (r *Repo) Try(args ...string) (string, error) {
	return r.Feed("", args...)
}

// Feed is Try with standard input.
func (r *Repo) Feed(stdin string, args ...string) (string, error) {
	// From 2.54 on, git packs in the background whenever there are two small packs.
	cmd := exec.Command("git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), err
}

// Pipe is Git with standard input.
func (r *Repo) Pipe(stdin string, args ...string) string {
	r.t.Helper()
	out, err := r.Feed(stdin, args...)
	Must(r.t, err)
	return out
}

// Write writes a file below the worktree, making its directories.
func (r *Repo) Write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.Dir, name)
	Must(r.t, os.MkdirAll(filepath.Dir(path), 0o777))
	Must(r.t, os.WriteFile(path, []byte(content), 0o666))
}

// Read returns the content of a file below the worktree.
func (r *Repo) Read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// Commit adds everything and commits it, and returns the commit's hash.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return r.Git("rev-parse", "HEAD")
}

// Do takes the steps of a script, which "; " separates: "a=text" writes a file
// of one line and "a:text" one without a line feed, "rm a b" removes files or
// directories, "ln target a" makes a symbolic link, "chmod 755 a" changes a
// mode, "commit message" is [Repo.Commit], and "git add a" is [Repo.Git].
func (r *Repo) Do(script string) {
	r.t.Helper()
	for step := range strings.SplitSeq(script, "; ") {
		words := strings.Fields(step)
		switch at := strings.IndexAny(step, "=:"); {
		case len(words) > 1 && words[0] == "git":
			r.Git(words[1:]...)
		case len(words) > 1 && words[0] == "commit":
			r.Commit(strings.TrimPrefix(step, "commit "))
		case len(words) > 1 && words[0] == "rm":
			for _, name := range words[1:] {
				Must(r.t, os.RemoveAll(filepath.Join(r.Dir, name)))
			}
		case len(words) == 3 && words[0] == "ln":
			path := filepath.Join(r.Dir, words[2])
			Must(r.t, os.MkdirAll(filepath.Dir(path), 0o777))
			Must(r.t, os.Symlink(words[1], path))
		case len(words) == 3 && words[0] == "chmod":
			mode, err := strconv.ParseUint(words[1], 8, 32)
			Must(r.t, err)
			Must(r.t, os.Chmod(filepath.Join(r.Dir, words[2]), fs.FileMode(mode)))
		case at > 0 && step[at] == '=':
			r.Write(step[:at], step[at+1:]+"\n")
		case at > 0:
			r.Write(step[:at], step[at+1:])
		default:
			r.t.Fatalf("%q is no step of a script", step)
		}
	}
}

// ForwardOnly makes a bare repository reject every push that would delete a ref or set one back.
// What git has for this (receive.denyDeletes, receive.denyNonFastForwards) looks at branches alone.
func (r *Repo) ForwardOnly() {
	r.t.Helper()
	none := Hash("0")
	hook := "#!/bin/sh\n# ref old new\ntest $3 != " + none + " && { test $2 = " + none + " || git merge-base --is-ancestor $2 $3; }\n"
	if err := os.WriteFile(filepath.Join(r.Dir, "hooks", "update"), []byte(hook), 0o777); err != nil {
		r.t.Fatal(err)
	}
}

// AgeLocks makes the lock files that a killed git has left as old as they get.
func (r *Repo) AgeLocks() {
	r.t.Helper()
	then := time.Now().Add(-time.Minute)
	err := filepath.WalkDir(filepath.Join(r.Dir, ".git"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			err = os.Chtimes(path, then, then)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}
