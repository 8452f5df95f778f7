package ledgertx_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// Where a mission stands after others have moved its ref, or a writer has died,
// and what the user is told of it.
func TestLeft(t *testing.T) {
	t.Parallel()
	all := []string{"one", "two", "three"}
	for _, tt := range []struct {
		name string
		do   func(l *lab.Lab, tip string) // after the events of all
		want []string
		told string // the beginning of what is said
	}{
		{"nothing has happened", func(*lab.Lab, string) {}, all, ""},
		{"moved back by one event", func(l *lab.Lab, tip string) { l.Git("update-ref", mission.Ref(), tip+"~1") }, all, "something other than git-agent moved mission a1b2c3d4 from "},
		{"moved back by two", func(l *lab.Lab, tip string) { l.Git("update-ref", mission.Ref(), tip+"~2") }, all, "something other than git-agent moved mission a1b2c3d4 from "},
		{"to what is no ledger", func(l *lab.Lab, _ string) { l.Git("update-ref", mission.Ref(), "HEAD") }, all, "something other than git-agent moved mission a1b2c3d4 from "},
		{"deleted", func(l *lab.Lab, _ string) { l.Git("update-ref", "-d", mission.Ref()) }, all, "something other than git-agent deleted the ref of mission a1b2c3d4"},
		{"deleted, and what keeps it, too", func(l *lab.Lab, _ string) {
			l.Git("update-ref", "-d", mission.Ref())
			moveKeeper(l, object.Hash{})
		}, all, "something other than git-agent deleted the ref of mission a1b2c3d4"},
		{"given up", func(l *lab.Lab, _ string) {
			gittest.Must(l.T, l.Workspace(l.Dir).GiveUp(mission))
			l.Git("update-ref", "-d", mission.Ref())
		}, nil, ""},
		{"another one goes on with it", func(l *lab.Lab, tip string) {
			l.Git("update-ref", mission.Ref(), l.Git("commit-tree", "-m", "four", "-p", tip, tip+"^{tree}"))
		}, append(slices.Clone(all), "four"), ""},
		{"another one went on with it, and that was deleted and collected", func(l *lab.Lab, tip string) {
			w := l.Workspace(l.Dir)
			gittest.Must(l.T, w.Trust.Leave(mission, object.NewHash(gittest.Hash("1")), w.Repo.Format()))
			l.Git("update-ref", "-d", mission.Ref())
		}, all, "something other than git-agent deleted the ref of mission a1b2c3d4"},
		{"another one went on with it, which was seen, and it was deleted", func(l *lab.Lab, tip string) {
			l.Git("update-ref", mission.Ref(), l.Git("commit-tree", "-m", "four", "-p", tip, tip+"^{tree}"))
			_, err := ledger.List(l.T.Context(), l.Workspace(l.Dir).Repo)
			gittest.Must(l.T, err)
			l.Git("update-ref", "-d", mission.Ref())
		}, append(slices.Clone(all), "four"), "something other than git-agent deleted the ref of mission a1b2c3d4"},
		{"another one has moved it to the side", func(l *lab.Lab, tip string) {
			l.Git("update-ref", mission.Ref(), l.Git("commit-tree", "-m", "other", "-p", tip+"~1", tip+"^{tree}"))
		}, all, "something other than git-agent moved mission a1b2c3d4 from "},
		{"a writer died before its transaction", func(l *lab.Lab, tip string) {
			next := l.Git("commit-tree", "-m", "four", "-p", tip, tip+"^{tree}")
			gittest.Must(l.T, l.Workspace(l.Dir).Trust.Own(mission, object.NewHash(next), object.NewHash(tip)))
		}, all, ""},
		{"so it did, and the next one's refs were locked", func(l *lab.Lab, tip string) {
			next := l.Git("commit-tree", "-m", "four", "-p", tip, tip+"^{tree}")
			gittest.Must(l.T, l.Workspace(l.Dir).Trust.Own(mission, object.NewHash(next), object.NewHash(tip)))
			locked := l.LockOf("refs/heads/mine")
			l.Write(locked, "")
			ctx := limit.With(l.T.Context(), limit.Limits{Lock: time.Millisecond})
			if event(ctx, l.Workspace(l.Dir), "four", func(_ int, tx *ledgertx.Tx) {
				tx.Move("refs/heads/mine", object.NewHash(tip), object.Hash{})
			}) == nil {
				l.T.Error("it was not locked")
			}
			l.Remove(locked)
		}, all, ""},
		{"so it did, and then it was moved back", func(l *lab.Lab, tip string) {
			next := l.Git("commit-tree", "-m", "four", "-p", tip, tip+"^{tree}")
			gittest.Must(l.T, l.Workspace(l.Dir).Trust.Own(mission, object.NewHash(next), object.NewHash(tip)))
			l.Git("update-ref", mission.Ref(), tip+"~1")
		}, append(slices.Clone(all), "four"), "something other than git-agent moved mission a1b2c3d4 from "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			l.Write("f", "1\n")
			l.Commit("first")
			for _, subject := range all {
				gittest.Must(t, event(t.Context(), l.Workspace(l.Dir), subject, nothing))
			}
			tt.do(l, l.Git("rev-parse", mission.Ref()))
			w := l.Workspace(l.Dir)
			var told []string
			w.Say = func(text, done string) { told = append(told, text+"; "+done) }
			for i := range 3 { // the third time there is nothing to be said
				var busy *statedir.Lock
				if i == 0 { // another process of ours has the mission
					var err error
					busy, err = l.Workspace(l.Dir).Store.LockMission(t.Context(), mission)
					gittest.Must(t, err)
				}
				var got []string
				missions, err := ledger.List(t.Context(), w.Repo)
				gittest.Must(t, err)
				if busy != nil {
					busy.Release()
				}
				if i == 0 && told != nil {
					t.Errorf("told are %q while another process has the mission", told)
				}
				if tip := missions[mission]; !tip.IsZero() {
					got = strings.Split(l.Git("log", "--first-parent", "--reverse", "--format=%s", tip.String()), "\n")[1:]
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("the events are %q, want %q", got, tt.want)
				}
			}
			if tt.told == "" && told != nil || tt.told != "" && (len(told) != 1 || !strings.HasPrefix(told[0], tt.told)) {
				t.Errorf("told are %q, want %q", told, tt.told)
			}
			l.Fsck()
		})
	}
}

// What is gone is said once, and the mission goes on from where it is.
func TestLeftLost(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	w := l.Workspace(l.Dir)
	for _, subject := range []string{"one", "two"} {
		gittest.Must(t, event(t.Context(), w, subject, nothing))
	}
	gone := object.NewHash(strings.Repeat("1", len(l.Git("rev-parse", mission.Ref()))))
	gittest.Must(t, w.Trust.Leave(mission, gone, w.Repo.Format()))
	var told []string
	w.Say = func(text, _ string) { told = append(told, text) }
	for range 2 {
		_, err := ledger.List(t.Context(), w.Repo)
		gittest.Must(t, err)
	}
	gittest.Must(t, event(t.Context(), w, "three", nothing))
	if got, want := subjects(l), []string{"one", "two", "three"}; !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "what was recorded here last of mission a1b2c3d4, in "+gone.String()) {
		t.Errorf("told are %q", told)
	}
}

// What was taken back is kept, though what kept it was rewritten, too.
func TestLeftIsKept(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	w := l.Workspace(l.Dir)
	w.Say = func(string, string) {}
	for _, subject := range []string{"one", "two"} {
		gittest.Must(t, event(t.Context(), w, subject, nothing))
	}
	tip := l.Git("rev-parse", mission.Ref())
	other := l.Git("commit-tree", "-m", "filtered", "-p", tip+"~1", tip+"^{tree}")
	l.Git("update-ref", mission.Ref(), other)
	moveKeeper(l, object.NewHash(other))
	for range 2 {
		missions, err := ledger.List(t.Context(), w.Repo)
		gittest.Must(t, err)
		if got := missions[mission].String(); got != tip {
			t.Errorf("the mission is at %s, want %s", got, tip)
		}
		l.Git("update-ref", "-d", mission.Ref())
		l.Git("reflog", "expire", "--expire=now", "--all")
		l.Git("prune", "--expire=now")
	}
}

// Somebody who moves the ref all the time costs no event.
func TestLeftAtOnce(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	gittest.Must(t, event(t.Context(), l.Workspace(l.Dir), "begun", nothing))
	begun := l.Git("rev-parse", mission.Ref())
	var writers, mover sync.WaitGroup
	done := make(chan struct{})
	mover.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_, _ = l.Try("update-ref", mission.Ref(), begun) // it may be locked
			}
		}
	})
	const several = 4
	for i := range several {
		writers.Go(func() {
			for k := range several {
				if err := event(t.Context(), l.Workspace(l.Dir), fmt.Sprint("event ", i, k), nothing); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	mover.Wait()
	_, err := ledger.List(t.Context(), l.Workspace(l.Dir).Repo)
	gittest.Must(t, err)
	if got := subjects(l); len(got) != several*several+1 {
		t.Errorf("the events are %q", got)
	}
	l.Fsck()
}

func moveKeeper(l *lab.Lab, to object.Hash) {
	l.T.Helper()
	w := l.Workspace(l.Dir)
	held, err := w.Store.LockMission(l.T.Context(), mission)
	gittest.Must(l.T, err)
	defer held.Release()
	gittest.Must(l.T, w.Keeper(mission).Move(l.T.Context(), held, to))
}
