package pusher_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/purge"
	"gitagent/internal/purgemap"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// inWay checks that an error names the refs that are in the way of one of ours.
func inWay(t *testing.T, err error, ours, remote string, by ...string) {
	t.Helper()
	e := (*git.InWayError)(nil)
	if !errors.As(err, &e) || e.Ref != ours || e.Remote != remote || strings.Join(e.By, " ") != strings.Join(by, " ") {
		t.Errorf("the error is %v (%+v), want %q in the way of %s at %q", err, e, by, ours, remote)
	}
}

// TestPushInWay: refs of others' at a host in the way of the map of purges or the archive keep nothing else from it, are
// named, and stay.
func TestPushInWay(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, ours := range []string{purgemap.Ref, ledger.ArchiveRef, ledger.ArchiveKeepRef} {
		t.Run(filepath.Base(ours), func(t *testing.T) {
			t.Parallel()
			dir, a, b := newTeam(t)
			host := a.In(dir + "/host")
			const other record.ID = "c1b2c3d4"
			a.turn(other, "to be archived")
			a.pushAll()
			junk := host.Git("rev-parse", "refs/heads/main")
			host.Git("update-ref", ours+"/x", junk)
			a.archives(other)
			a.turn(remotelab.Mission, "one more")
			a.pushAll() // missions go
			a.purge()
			_, err := pusher.PushPurges(t.Context(), a.origin())
			if ours == purgemap.Ref {
				inWay(t, err, ours, "origin", ours+"/x")
			} else if err != nil {
				t.Errorf("purges: %v", err)
			}
			if found := holds(host, spilled, true); len(found) > 0 {
				t.Errorf("the host has %v", found)
			}
			_, err = pusher.PushArchive(t.Context(), a.origin())
			if ours != purgemap.Ref {
				inWay(t, err, ours, "origin", ours+"/x")
			} else if err != nil {
				t.Errorf("archive: %v", err)
			}
			probe, err := pusher.Try(t.Context(), a.origin())
			if err != nil || probe.Refs != nil {
				t.Fatal(err, probe.Refs)
			}
			inWay(t, probe.InWay, ours, "origin", ours+"/x")
			b.fetch() // what is there keeps nobody from fetching
			if got := host.Git("rev-parse", ours+"/x"); got != junk {
				t.Errorf("%s/x is %s now", ours, got)
			}

			host.Git("update-ref", "-d", ours+"/x")
			a.pushPurges()
			a.pushArchive()
			want := map[string]string{purgemap.Ref: a.Git("rev-parse", purgemap.Ref), ledger.ArchiveRef: a.Git("rev-parse", ledger.ArchiveRef)}
			for ref, tip := range want {
				if got := host.Git("rev-parse", ref); got != tip {
					t.Errorf("%s there is %s, want %s", ref, got, tip)
				}
			}
		})
	}
}

// TestInWayHere: such refs here are named before a purge or an archive changes anything.
func TestInWayHere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	_, a, _ := newTeam(t)
	for _, ours := range []string{purgemap.Ref, ledger.ArchiveRef, ledger.ArchiveKeepRef} {
		a.Git("update-ref", ours+"/x", "HEAD")
		before := remotelab.AgentRefs(a.Repo)
		var err error
		if ours != purgemap.Ref {
			_, err = missionstore.Archive(t.Context(), a.workspace(), []record.ID{remotelab.Mission}, nil, false)
		} else {
			p := &purge.Purge{Workspace: a.workspace(), Target: purgerewrite.Target{Missions: []record.ID{remotelab.Mission}}}
			var plan *purge.Plan
			if plan, err = p.Plan(t.Context()); err == nil {
				_, err = plan.Execute(t.Context())
				plan.Close()
			}
		}
		inWay(t, err, ours, "", ours+"/x")
		after := remotelab.AgentRefs(a.Repo)
		for ref, tip := range before {
			if after[ref] != tip {
				t.Errorf("%s was %s and is %s", ref, tip, after[ref])
			}
		}
		if purge.Unfinished(a.workspace().Store) {
			t.Error("a purge was begun")
		}
		a.Git("update-ref", "-d", ours+"/x")
	}
}

// TestPushDeletesNothing: the push of a mission asserts that the host has no map, and takes no other ref for it, such as
// the map in a mirror below another name.
func TestPushDeletesNothing(t *testing.T) {
	t.Parallel()
	dir, a, _ := newTeam(t)
	host := a.In(dir + "/host")
	junk := host.Git("rev-parse", "refs/heads/main")
	others := []string{"refs/agent/purges/charges", "refs/agent/xpurges", "refs/heads/refs/agent/purges", "refs/heads/of/refs/agent/purges", "refs/backup/refs/agent/purges"}
	for _, ref := range others {
		host.Git("update-ref", ref, junk)
	}
	a.turn(remotelab.Mission, "one more")
	p, err := pusher.Push(t.Context(), a.origin(), remotelab.Mission)
	if err != nil || !p.Sent {
		t.Errorf("%+v, %v, want that it is sent", p, err)
	}
	for _, ref := range others {
		if got := remotelab.RefsOf(host, ref)[ref]; got != junk {
			t.Errorf("%s is %q, want what it was", ref, got)
		}
	}
}
