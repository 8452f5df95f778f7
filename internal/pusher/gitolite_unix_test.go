//go:build unix

package pusher_test

import (
	"errors"
	"maps"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestGitolite uses a self-hosted server with its own rules about who may write which refs.
func TestGitolite(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host, _, _ := remotelab.Gitolite(t)
	open := func() *remotelab.Clone {
		return remotelab.CloneOf(t, host.URL+"/testing", "-c", "core.sshCommand="+host.Command)
	}
	here := open()
	here.Write("file", "1\n")
	here.Commit("first")
	here.Git("push", "-q", "origin", "HEAD:refs/heads/main")
	here.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	here.Turn(remotelab.Mission, "one")
	if p := here.Push(remotelab.Mission); !p.Sent || p.Branch != nil {
		t.Errorf("push: %+v", p)
	}
	there := open()
	remotelab.Equal(t, "fetch", there.Fetch(remotelab.Mission), []string{"a1b2c3d4 new"})
	if got, want := remotelab.AgentRefs(there.Repo), remotelab.AgentRefs(here.Repo); len(got) != 3 || !maps.Equal(got, want) {
		t.Errorf("the other clone has %v, want %v", got, want)
	}

	// Branches only.
	admin := remotelab.CloneOf(t, host.URL+"/gitolite-admin", "-c", "core.sshCommand="+host.Command)
	admin.Write("conf/gitolite.conf", "repo gitolite-admin\n  RW+ = dev\nrepo testing\n  RW+ refs/heads/ = dev\n")
	admin.Commit("branches only")
	admin.Git("push", "-q")
	there.Turn(remotelab.Mission, "two")
	before := remotelab.AgentRefs(there.Repo)
	if p, err := pusher.Push(t.Context(), there.Origin(), remotelab.Mission); !errors.Is(err, pusher.ErrRejected) {
		t.Errorf("push: %+v, %v", p, err)
	}
	there.Agree(host.URL+"/testing", "code")
	if p := there.Push(remotelab.Mission); p.Sent || p.Branch != nil {
		t.Errorf("push of an unchanged branch: %+v", p)
	}
	if got := remotelab.AgentRefs(there.Repo); !maps.Equal(got, before) {
		t.Errorf("our refs became %v", got)
	}
}
