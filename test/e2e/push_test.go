//go:build e2e

package e2e

import (
	"testing"

	"gitagent/test/gittest"
)

// When the client has ended, what its session recorded is at the remote: the machine may vanish
// now.
func TestPushed(t *testing.T) {
	r := newNightly(t)
	bare := gittest.New(t, "--bare")
	r.repo.Git("remote", "add", "origin", bare.Dir)
	r.repo.Git("config", "agent."+bare.Dir+".push", "all")
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	arrived := func() {
		t.Helper()
		const format = "--format=%(refname) %(objectname)"
		want := r.repo.Git("for-each-ref", format, "refs/agent/missions/", "refs/notes/")
		if got := bare.Git("for-each-ref", format); want == "" || got != want {
			t.Errorf("the remote has %q, want %q", got, want)
		}
	}
	arrived()
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	arrived()
	r.check(r.done("T1"), r.done("T2"))
}
