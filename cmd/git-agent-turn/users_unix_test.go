//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

const (
	owner    = 54321
	member   = 54322 // of the owner's group
	outsider = 54323 // who may read what all may
	staff    = 54320 // the group
)

// A user works in a repository that other users work in as well.
type user struct {
	*host
	c     *claude.Client
	uid   uint32
	umask string
	told  string // by the hook of the last prompt
}

// usersOf gives a repository to the owner, shared as core.sharedRepository
// says, and returns the users.
func usersOf(h *host, umask string, uids ...uint32) []*user {
	h.t.Helper()
	program, err := exec.LookPath("git-agent-turn")
	gittest.Must(h.t, err)
	gittest.Must(h.t, gittest.Reachable(program))
	gittest.Must(h.t, gittest.Reachable(filepath.Join(h.Dir, "file")))
	var users []*user
	for _, uid := range uids {
		home := gittest.TempDir(h.t)
		gittest.Must(h.t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o666))
		u := &user{host: &host{Repo: h.In(h.Dir), t: h.t, config: home, family: h.family, env: append(gittest.Env(home), "GORACE="+os.Getenv("GORACE"))}, uid: uid, umask: umask}
		u.Repo.Env = u.env
		u.c = claude.New(home, h.Dir, func(e claude.Event) {
			give(h.t, home, uid)
			out, err := u.run(e.Payload(), "git-agent-turn", "hook")
			if e.Name == "UserPromptSubmit" {
				u.told, out = out, ""
			}
			if out != "" || err != nil {
				h.t.Errorf("hook of user %d, %s: %v\n%s", uid, e.Name, err, out)
			}
		})
		give(h.t, home, uid)
		if out, err := u.run(nil, "git", "--version"); err != nil || strings.TrimSpace(out) != h.Git("--version") {
			h.t.Skipf("the git of this test is out of reach of user %d: %v %s", uid, err, out)
		}
		users = append(users, u)
	}
	return users
}

// give gives a directory with all that is in it to a user of the staff.
func give(t testing.TB, dir string, uid uint32) {
	t.Helper()
	gittest.Must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(uid), staff)
	}))
}

// run runs a program as the user.
func (u *user) run(stdin []byte, args ...string) (string, error) {
	cmd := exec.Command("sh", append([]string{"-c", "umask " + u.umask + `; exec "$@"`, "sh"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = u.c.Cwd, u.env, bytes.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: staff, Groups: []uint32{staff}}}
	if u.uid == 0 {
		cmd.SysProcAttr = nil
	} else if u.uid == outsider {
		cmd.SysProcAttr.Credential.Gid, cmd.SysProcAttr.Credential.Groups = outsider, nil
	}
	u.family.Join(cmd)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must is run for a command that has to succeed.
func (u *user) must(args ...string) string {
	u.t.Helper()
	out, err := u.run(nil, args...)
	if err != nil {
		u.t.Errorf("user %d: %s: %v\n%s", u.uid, strings.Join(args, " "), err, out)
	}
	return out
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be several users")
	}
}

// TestFetchBesideAnother: what another user's fetch has left, which was killed, stops no fetch, and is named.
func TestFetchBesideAnother(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	needRoot(t)
	h := shared(t, "group")
	u := usersOf(h, "077", member)[0]
	bare := gittest.TempDir(t)
	h.Git("init", "-q", "--bare", bare)
	give(t, bare, owner)
	gittest.Must(t, os.Chmod(bare, 0o755))
	h.Git("remote", "add", "origin", bare)
	left := filepath.Join(h.Dir, ".git", "objects", "tmp_agent-archive-origin,1")
	gittest.Must(t, os.MkdirAll(filepath.Join(left, "info"), 0o700))
	give(t, left, owner)
	out, err := u.run(nil, "git-agent-turn", "fetch")
	if err == nil || !strings.Contains(out, "nothing new from origin\n") || !strings.Contains(out, "error: remove "+left+", which another user's fetch has left") {
		t.Errorf("fetch: %v\n%s", err, out)
	}
}

// TestUsers: two users record in one repository, in turn and at once, whoever was first, where git lets both commit.
// So do a root in a container and the owner on the host. No turn is lost, and each can use what the other has recorded.
func TestUsers(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	needRoot(t)
	for _, tt := range []struct {
		shared, umask string
		users         [2]uint32
		nightly       bool
	}{
		{"", "022", [2]uint32{0, owner}, true},
		{"", "022", [2]uint32{owner, 0}, true},
		{"", "077", [2]uint32{0, owner}, false},
		{"", "077", [2]uint32{owner, 0}, true},
		{"group", "022", [2]uint32{owner, member}, true},
		{"group", "077", [2]uint32{member, owner}, false},
		{"group", "077", [2]uint32{0, member}, true},
		{"all", "077", [2]uint32{owner, member}, true},
		{"0660", "022", [2]uint32{member, owner}, false},
	} {
		t.Run(fmt.Sprintf("%s %s %d", tt.shared, tt.umask, tt.users), func(t *testing.T) {
			t.Parallel()
			if tt.nightly {
				gittest.Nightly(t)
			}
			h := shared(t, tt.shared)
			users := usersOf(h, tt.umask, tt.users[:]...)
			for _, u := range users {
				u.must("git", "agent-turn", "init", "--agent", "claude")
			}
			turns := gittest.Size(20, 6)
			turn := func(u *user, n int) {
				u.c.Prompt(fmt.Sprintf("turn %d", n))
				h.Write(fmt.Sprintf("of %d", u.uid), fmt.Sprintf("%d\n", n))
				u.c.Stop("done")
			}
			for n := range turns {
				for _, u := range users {
					turn(u, n+1)
				}
			}
			var all sync.WaitGroup
			for _, u := range users {
				all.Go(func() {
					for n := range turns {
						turn(u, turns+n+1)
					}
				})
			}
			all.Wait()
			h.family.Await()
			for i, u := range users {
				id := u.c.Session[len(u.c.Session)-8:]
				other := users[1-i]
				if got := strings.Count(other.must("git", "agent-turn", "list", "--json", "--mission", id), "\n"); got != 2*turns {
					t.Errorf("of user %d there are %d turns, want %d", u.uid, got, 2*turns)
				}
				other.must("git", "agent-turn", "show", id+"/1")
				if out := other.must("git", "agent-turn", "show", id+"/2"); strings.Contains(out, "not signed") {
					t.Errorf("user %d does not trust what user %d has recorded:\n%s", other.uid, u.uid, out)
				}
			}
			// What one changes of all that is recorded, the other goes on with.
			for i, u := range users {
				id, other := u.c.Session[len(u.c.Session)-8:], users[1-i]
				out, _ := other.run([]byte(fmt.Sprintf("of %d", u.uid)), "git", "agent-turn", "purge", "--fixed", "--yes") // it stays in the conversation
				other.must("git", "agent-turn", "archive", id)
				other.must("git", "agent-turn", "housekeep")
				other.must("git", "agent-turn", "doctor", "--repair")
				turn(u, 2*turns+i+1)
				turn(other, 2*turns+i+1)
				if got := strings.Count(other.must("git", "agent-turn", "list", "--json", "--mission", id), "\n"); got != 2*turns+i+1 {
					t.Errorf("of user %d there are %d turns after a purge, want %d\n%s", u.uid, got, 2*turns+i+1, out)
				}
			}
			if log := h.log(); log != "" {
				t.Errorf("the log: %s", log)
			}
			h.fsck()
		})
	}
}

// TestUsersBeside: sessions of two users in one checkout hear of each other.
func TestUsersBeside(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	needRoot(t)
	for _, tt := range []struct {
		shared, umask string
		users         [2]uint32
	}{
		{"", "077", [2]uint32{0, owner}},
		{"", "022", [2]uint32{owner, 0}},
		{"group", "077", [2]uint32{member, owner}},
	} {
		h := shared(t, tt.shared)
		users := usersOf(h, tt.umask, tt.users[:]...)
		for _, u := range users {
			u.must("git", "agent-turn", "init", "--agent", "claude")
		}
		for i, want := range []bool{false, true, true, false} {
			u, other := users[i%2], users[1-i%2]
			u.c.Prompt(fmt.Sprintf("prompt %d", i))
			if got := strings.Contains(u.told, "(mission "+other.c.Session[len(other.c.Session)-8:]+", since"); got != want || !want && u.told != "" {
				t.Errorf("%q %s: user %d is told %q at prompt %d", tt.shared, tt.umask, u.uid, u.told, i)
			}
		}
		if log := h.log(); log != "" {
			t.Errorf("%q %s: the log: %s", tt.shared, tt.umask, log)
		}
	}
}

// shared is a host whose repository belongs to the owner, and to the staff as
// core.sharedRepository says.
func shared(t testing.TB, setting string) *host {
	t.Helper()
	h := newHost(t)
	gittest.Must(t, os.RemoveAll(filepath.Join(h.Dir, ".git/agent")))
	if setting != "" {
		h.Git("init", "-q", "--shared="+setting)
		gittest.Must(t, filepath.WalkDir(h.Dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(path, fs.ModeSetgid|0o775)
			}
			return err
		}))
	}
	give(t, h.Dir, owner)
	h.Env = append(h.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	return h
}

// TestUsersHeld: what a colleague has purged waits for both users of a repository, and holds for both when one of them
// decides.
func TestUsersHeld(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	needRoot(t)
	h, host := shared(t, "group"), gittest.New(t, "--bare")
	users := usersOf(h, "077", owner, member)
	host.Git("init", "-q", "--bare", "--shared=group")
	give(t, host.Dir, owner)
	gittest.Must(t, gittest.Reachable(host.Dir))
	home := gittest.TempDir(t)
	key := gittest.Key(home, "colleague")
	gittest.Must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o666))
	for _, u := range users {
		path := filepath.Join(u.config, ".config", "git-agent", "allowed_signers")
		gittest.Must(t, os.WriteFile(path, []byte("colleague "+key+"\n"), 0o600))
		give(t, u.config, u.uid)
	}
	h.Git("remote", "add", "origin", host.Dir)
	h.Git("config", "agent."+host.Dir+".push", "all")
	give(t, h.Dir, owner)
	users[0].must("git", "push", "-q", "origin", "main")
	for _, id := range []string{"a1b2c3d4", "b1b2c3d4"} {
		users[0].must("git", "agent-turn", "record", "--mission", id, "--prompt", "of "+id)
	}
	users[0].must("git", "agent-turn", "push")
	for _, command := range []string{
		"git clone -q " + host.Dir + " clone", "git -C clone agent-turn fetch", "git -C clone agent-turn purge --mission a1b2c3d4 --mission b1b2c3d4 --yes",
		"git -C clone -c agent." + host.Dir + ".push=all agent-turn purge --push --yes",
	} {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = home, gittest.Env(home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	waits := func(u *user, want int) {
		t.Helper()
		out, err := u.run(nil, "git", "agent-turn", "fetch")
		if n := strings.Count(out, "colleague has purged more of it"); n != want || (err == nil) != (want == 0) {
			t.Errorf("user %d is told, %v:\n%s", u.uid, err, out)
		}
	}
	waits(users[0], 2)
	waits(users[1], 2)
	if out := users[1].must("git", "agent-turn", "fetch", "--dry-run"); strings.Count(out, "\n") != 2 {
		t.Errorf("what waits is\n%s", out)
	}
	typed := func(u *user, answers string) {
		t.Helper()
		if out, err := u.run([]byte(answers), "script", "-qec", "git agent-turn fetch", os.DevNull); err != nil {
			t.Errorf("user %d: %v\n%s", u.uid, err, out)
		}
	}
	typed(users[1], "keep\nyes\n")
	for _, u := range users {
		waits(u, 0)
		if out := u.must("git", "agent-turn", "fetch", "--dry-run"); !strings.Contains(out, "a1b2c3d4: colleague") || !strings.Contains(out, "you keep it") || strings.Contains(out, "b1b2c3d4") {
			t.Errorf("what is kept is\n%s", out)
		}
	}
	if refs := h.Git("for-each-ref", "--format=%(refname)", "refs/agent/missions"); refs != "refs/agent/missions/a1b2c3d4" {
		t.Errorf("the missions are\n%s", refs)
	}
	h.fsck()
}

// TestReaders: who may only read in a repository reads what was recorded there, and is told that nothing can be recorded.
func TestReaders(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	needRoot(t)
	for _, tt := range []struct {
		shared string
		reader uint32
	}{
		{"", outsider},
		{"0640", member},
	} {
		h := shared(t, tt.shared)
		if tt.shared == "0640" {
			gittest.Must(t, os.Chmod(filepath.Join(h.Dir, ".git"), fs.ModeSetgid|0o750))
		}
		users := usersOf(h, "022", owner, tt.reader)
		mine, theirs := users[0], users[1]
		mine.must("git", "agent-turn", "init", "--agent", "claude")
		mine.c.Prompt("one")
		h.Write("kept.txt", "changed\n")
		mine.c.Stop("done")
		mine.c.Flush()
		h.family.Await()
		id := mine.c.Session[len(mine.c.Session)-8:]
		for _, args := range [][]string{
			{"missions"},
			{"list", "--mission", id},
			{"show", id + "/1"},
			{"diff", id + "/1"},
			{"log"},
			{"search", "one"},
			{"blame", "kept.txt"},
		} {
			out := theirs.must(append([]string{"git", "agent-turn"}, args...)...)
			if strings.Contains(out, "permission denied") {
				t.Errorf("%q: user %d: %s: %s", tt.shared, theirs.uid, strings.Join(args, " "), out)
			}
		}
		if out, err := theirs.run(nil, "git", "agent-turn", "doctor"); err == nil || !strings.Contains(out, "ermission denied") {
			t.Errorf("%q: doctor of user %d: %v\n%s", tt.shared, theirs.uid, err, out)
		}
	}
}

// TestHiddenWorktree: git does not list a worktree whose entry a user may not look at. Its mission stays all the same.
func TestHiddenWorktree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	needRoot(t)
	for _, of := range []string{".", "fork/HEAD", "fork/gitdir", "fork"} {
		h := shared(t, "")
		u := usersOf(h, "022", owner)[0]
		u.must("git", "agent-turn", "init", "--agent", "claude")
		above := gittest.TempDir(t)
		give(t, above, owner)
		top := filepath.Join(above, "fork")
		u.must("git", "agent-turn", "start", "--worktree", top)
		at := h.In(top)
		at.Env = h.Env
		id := strings.TrimPrefix(at.Git("symbolic-ref", "--short", "HEAD"), "agent/mission/")
		at.Write("unsaved", "unsaved\n")
		u.must("git", "-C", top, "agent-turn", "record", "--mission", id, "--prompt", "one")
		u.must("git", "agent-turn", "finish", id, "-m", "finished")
		at.Write("unsaved", "again\n")
		secret := filepath.Join(h.Dir, ".git/worktrees", of)
		gittest.Must(t, os.Lchown(secret, 0, 0))
		gittest.Must(t, os.Chmod(secret, 0o700))
		for _, args := range [][]string{
			{"remove", id}, {"remove", "--older-than", "0h"}, {"finish", "--remove", id}, {"archive", id},
		} {
			out, err := u.run(nil, append([]string{"git", "agent-turn"}, args...)...)
			if !strings.Contains(out, "may not look at "+filepath.Clean(secret)) {
				t.Errorf("%s: %s: %v\n%s", of, strings.Join(args, " "), err, out)
			}
		}
		if out, err := at.Try("show-ref", "--verify", "refs/heads/agent/mission/"+id, "refs/agent/missions/"+id); err != nil {
			t.Errorf("%s: %v %s", of, err, out)
		}
		u.must("git", "agent-turn", "remove", "--force", id)
	}
}
