//go:build unix

package pusher_test

import (
	"fmt"
	"maps"
	"strings"
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
