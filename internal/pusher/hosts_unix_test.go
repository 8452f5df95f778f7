//go:build unix

package pusher_test

import (
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// A door is a way to a bare repository.
type door struct {
	name string
	like bool // another door already shows what is rejected here, and how
	// open returns the URL of the repository, and the configuration that a clone needs.
	open func(t *testing.T, host *gittest.Repo) (url string, config []string)
}

func doors() []door {
	return []door{
		{"path", false, func(_ *testing.T, host *gittest.Repo) (string, []string) { return host.Dir, nil }},
		{"file", true, func(_ *testing.T, host *gittest.Repo) (string, []string) { return "file://" + host.Dir, nil }},
		{"git daemon", false, func(t *testing.T, host *gittest.Repo) (string, []string) {
			return remotelab.GitDaemon(t, filepath.Dir(host.Dir)) + "/repo", nil
		}},
		{"http", false, func(t *testing.T, host *gittest.Repo) (string, []string) {
			return remotelab.HTTP(t, host), nil
		}},
		{"http with a password", true, func(t *testing.T, host *gittest.Repo) (string, []string) {
			u, err := url.Parse(remotelab.HTTP(t, host, "dev"))
			if err != nil {
				t.Fatal(err)
			}
			u.User = url.UserPassword("dev", "not-a-secret")
			return u.String(), nil
		}},
		{"ssh", false, func(t *testing.T, host *gittest.Repo) (string, []string) {
			s := remotelab.SSHD(t, "")
			return s.URL + host.Dir, []string{"core.sshCommand=" + s.Command}
		}},
	}
}

// through clones the repository through a door.
func (d door) through(t *testing.T, host *gittest.Repo) func(args ...string) *remotelab.Clone {
	u, config := d.open(t, host)
	return func(args ...string) *remotelab.Clone {
		for _, c := range config {
			args = append(args, "-c", c)
		}
		return remotelab.CloneOf(t, u, args...)
	}
}

// TestHosts combines every kind of transport with various kinds of hosts.
func TestHosts(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, d := range doors() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			t.Run("plain", func(t *testing.T) { t.Parallel(); travels(t, remotelab.NewHost(t), d) })
			// In the short form the daemon stands in for the others.
			if d.like || !gittest.Whole() && d.name != "git daemon" {
				return
			}
			t.Run("strict", func(t *testing.T) {
				t.Parallel()
				host := remotelab.NewHost(t)
				host.Git("config", "receive.fsckObjects", "true")
				host.ForwardOnly()
				host.Git("config", "receive.advertisePushOptions", "true")
				travels(t, host, d)
				if got := host.Read("options"); got != "ci.skip\n" {
					t.Errorf("the branch was pushed with the options %q", got)
				}
			})
			t.Run("not atomic", func(t *testing.T) {
				t.Parallel()
				host := remotelab.NewHost(t)
				host.Git("config", "receive.advertiseAtomic", "false")
				travels(t, host, d)
			})
			t.Run("refused", func(t *testing.T) { t.Parallel(); refused(t, remotelab.NewHost(t), d) })
		})
	}
}

// writeHook installs a hook on a host.
func writeHook(t *testing.T, host *gittest.Repo, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(host.Dir, "hooks", name), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
}

// travels takes an attached and a passive mission to the host and on to another clone.
func travels(t *testing.T, host *gittest.Repo, d door) {
	writeHook(t, host, "pre-receive", `test -z "$GIT_PUSH_OPTION_COUNT" || test "$GIT_PUSH_OPTION_COUNT" = 0 || echo "$GIT_PUSH_OPTION_0" >options`+"\n")
	open := d.through(t, host)
	here, there := open(), open("--filter=blob:none")
	passive := record.ID("00000001")
	here.Turn(passive, "one")
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "one")
	here.Turn(remotelab.Mission, "two")
	for _, id := range []record.ID{passive, remotelab.Mission} {
		if p := here.Push(id); !p.Sent || p.As != id || p.Branch != nil {
			t.Errorf("push: %+v", p)
		}
	}
	if got, want := remotelab.AgentRefs(host), remotelab.AgentRefs(here.Repo); len(got) != 5 || !maps.Equal(got, want) {
		t.Errorf("the host has %v, want %v", got, want)
	}
	remotelab.Equal(t, "fetch", there.Fetch(), []string{"00000001 new", "a1b2c3d4 new"})
	remotelab.Equal(t, "turns", there.Prompts(remotelab.Mission), []string{"one", "two"})
	there.Turn(passive, "two")
	there.PushAll()
	remotelab.Equal(t, "fetch", here.Fetch(passive), []string{"00000001 forward"})
}

// refused tests hosts that reject what is pushed.
func refused(t *testing.T, host *gittest.Repo, d door) {
	open := d.through(t, host)
	here := open()
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "one")
	rejected := func(what string) {
		t.Helper()
		before := remotelab.AgentRefs(here.Repo)
		if _, err := pusher.Push(t.Context(), here.Origin(), remotelab.Mission); !errors.Is(err, pusher.ErrRejected) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := pusher.PushAll(t.Context(), here.Origin(), nil); !errors.Is(err, pusher.ErrRejected) {
			t.Errorf("%s: everything: %v", what, err)
		}
		if got := remotelab.AgentRefs(here.Repo); !maps.Equal(got, before) {
			t.Errorf("%s: our refs became %v", what, got)
		}
		if got := remotelab.AgentRefs(host); len(got) > 0 {
			t.Errorf("%s: the host has %v", what, got)
		}
	}
	writeHook(t, host, "pre-receive", "exit 1\n")
	rejected("rejected by a hook")
	writeHook(t, host, "pre-receive", "exit 0\n")

	writeHook(t, host, "update", "case $1 in refs/notes/*) exit 1; esac\n")
	rejected("notes rejected: the ledger must not arrive alone")

	writeHook(t, host, "update", "case $1 in refs/heads/*) exit 1; esac\n")
	if p := here.Push(remotelab.Mission); p.Branch == nil || !p.Sent {
		t.Errorf("branch rejected: %+v", p)
	}
	if got := remotelab.RefsOf(host, "refs/agent/", "refs/notes/"); len(got) != 2 {
		t.Errorf("branch rejected: the host has %v", got)
	}
	if got := remotelab.RefsOf(host, "refs/heads/agent/"); len(got) != 0 {
		t.Errorf("branch rejected: the host has %v", got)
	}
	writeHook(t, host, "update", "exit 0\n")

	here.Push(remotelab.Mission)
	here.Turn(remotelab.Mission, "two")
	host.Git("update-ref", "refs/heads/agent/mission/a1b2c3d4", "main") // the branch is rewritten
	other := open()
	other.Git("switch", "-q", "agent/mission/a1b2c3d4")
	other.Write("rewritten", "\n")
	other.Commit("rewritten")
	other.Git("push", "-q", "origin", "HEAD")
	if p := here.Push(remotelab.Mission); p.Branch == nil || !p.Sent {
		t.Errorf("branch rewritten: %+v", p)
	}
	remotelab.Equal(t, "fetch", other.Fetch(remotelab.Mission), []string{"a1b2c3d4 new"})
	remotelab.Equal(t, "turns", other.Prompts(remotelab.Mission), []string{"one", "two"})
}

// TestNoDoor: authentication is missing, or only reading is allowed. Nobody is asked for a
// password, and nothing is lost.
func TestNoDoor(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	closed := remotelab.HTTP(t, host, "dev")
	readOnly := remotelab.NewHost(t)
	readOnly.Git("config", "http.receivepack", "false")
	readable := remotelab.HTTP(t, readOnly)
	noDaemon := remotelab.NewHost(t)
	noDaemon.Git("config", "daemon.receivepack", "false")
	daemon := remotelab.GitDaemon(t, filepath.Dir(noDaemon.Dir))
	for _, tt := range []struct{ name, url string }{
		{"no password", closed},
		{"a wrong password", strings.Replace(closed, "http://", "http://dev:wrong@", 1)},
		{"read-only http", readable},
		{"read-only daemon", daemon + "/repo"},
		{"no repository", readable + "-not"},
		{"nobody listens", "http://127.0.0.1:1/repo"},
		{"no directory", host.Dir + "/nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			here := remotelab.CloneOf(t, host.Dir)
			here.Git("remote", "set-url", "origin", tt.url)
			here.Agree(tt.url, "all")
			here.Turn(remotelab.Mission, "one")
			before := remotelab.AgentRefs(here.Repo)
			if p, err := pusher.Push(t.Context(), here.Origin(), remotelab.Mission); err == nil || errors.Is(err, pusher.ErrRejected) {
				t.Errorf("push: %+v, %v", p, err)
			}
			if got := remotelab.AgentRefs(here.Repo); !maps.Equal(got, before) {
				t.Errorf("our refs became %v", got)
			}
		})
	}
}
