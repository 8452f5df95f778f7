//go:build unix

package pusher_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// TestOvertaken: a push was killed, and what it had started at the host goes on: it moves the refs, or
// holds their locks, while the next push is there. That is no rejection, and all arrives.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, hook := range map[string]string{
		"moved":  `case $1 in $kind*) git update-ref "$1" "$3";; esac` + "\n",
		"locked": `case $1 in $kind*) if test -e seen; then rm -f "$1.lock"; else mkdir -p "${1%/*}"; : >seen; : >"$1.lock"; fi;; esac` + "\n",
	} {
		for _, kind := range []string{"refs/agent/", "refs/notes/", "refs/heads/agent/"} {
			for _, everything := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s, all %t", name, kind, everything), func(t *testing.T) {
					t.Parallel()
					host := remotelab.NewHost(t)
					c := remotelab.CloneOf(t, host.Dir)
					ids := []record.ID{remotelab.Mission, "00000001"}
					for i, id := range ids {
						if c.Turn(id, "one"); i == 0 {
							c.Git("switch", "-qc", "agent/mission/"+string(id))
							c.Turn(id, "two")
						}
					}
					writeHook(t, host, "update", strings.ReplaceAll(hook, "$kind", kind))
					if everything {
						all, err := pusher.PushAll(t.Context(), c.Origin(), nil)
						if err != nil || len(all) != len(ids) {
							t.Errorf("%d of %d missions: %v", len(all), len(ids), err)
						}
						for _, p := range all {
							if p.Branch != nil {
								t.Errorf("%s: %v", p.Mission, p.Branch)
							}
						}
					} else {
						for _, id := range ids {
							if p := c.Push(id); p.Branch != nil {
								t.Errorf("%s: %v", p.Mission, p.Branch)
							}
						}
					}
					if got, want := remotelab.AgentRefs(host), remotelab.AgentRefs(c.Repo); !maps.Equal(got, want) {
						t.Errorf("the host has\n%v\nwant\n%v", got, want)
					}
				})
			}
		}
	}
}

// TestTurnBesidePush: a turn ends while an older one is on its way. The remote's refspec, that of a mirror, takes nothing
// of ours back to what was pushed.
func TestTurnBesidePush(t *testing.T) {
	t.Parallel()
	host := remotelab.NewHost(t)
	c := remotelab.CloneOf(t, host.Dir)
	c.Git("config", "--replace-all", "remote.origin.fetch", "+refs/*:refs/*")
	c.Git("switch", "-qc", "agent/mission/"+string(remotelab.Mission))
	c.Turn(remotelab.Mission, "one")
	begun, goOn := filepath.Join(host.Dir, "begun"), filepath.Join(host.Dir, "go-on")
	for _, pipe := range []string{begun, goOn} {
		gittest.Must(t, syscall.Mkfifo(pipe, 0o600))
	}
	writeHook(t, host, "pre-receive", "rm hooks/pre-receive; echo >begun; cat go-on\n")
	pushed := make(chan error)
	go func() {
		_, err := pusher.Push(t.Context(), c.Origin(), remotelab.Mission)
		pushed <- err
	}()
	_, err := os.ReadFile(begun)
	gittest.Must(t, err)
	c.Turn(remotelab.Mission, "two")
	want := remotelab.AgentRefs(c.Repo)
	gittest.Must(t, os.WriteFile(goOn, nil, 0))
	gittest.Must(t, <-pushed)
	if got := remotelab.AgentRefs(c.Repo); !maps.Equal(got, want) {
		t.Errorf("the refs are\n%v\nand were\n%v", got, want)
	}
}
