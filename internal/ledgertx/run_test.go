package ledgertx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

const mission = record.ID("a1b2c3d4")

// event adds one event to the mission, which it begins if there is none. before
// is called in each attempt, when all but the writing is done.
func event(ctx context.Context, w *workspace.Workspace, subject string, before func(attempt int, tx *ledgertx.Tx)) error {
	attempt := 0
	job := ledgertx.Of(ledgertx.Job{Mission: mission, At: time.Now(), What: subject})
	return ledgertx.Run(ctx, w, job, func(ctx context.Context, tx *ledgertx.Tx) error {
		attempt++
		if err := tx.Open(ctx); err != nil {
			return err
		}
		if tx.Ledger == nil {
			tx.Begin(&record.Mission{Created: tx.At})
		}
		if err := tx.Append(subject, nil); err != nil {
			return err
		}
		before(attempt, tx)
		return tx.Commit(ctx)
	})
}

func nothing(int, *ledgertx.Tx) {}

// subjects are those of the mission's events, the oldest first.
func subjects(l *lab.Lab) []string {
	list := strings.Split(l.Git("log", "--first-parent", "--reverse", "--format=%s", mission.Ref()), "\n")
	for i, s := range list {
		list[i] = strings.TrimPrefix(s, string(mission)+": ")
	}
	return list[1:] // the first one began it
}

// Events of several processes of one mission are all there, one after the other.
func TestRunAtOnce(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			if err := event(t.Context(), l.Workspace(l.Dir), fmt.Sprint("event ", i), nothing); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := slices.Sorted(slices.Values(subjects(l)))
	if want := []string{"event 0", "event 1", "event 2", "event 3", "event 4", "event 5"}; !slices.Equal(got, want) {
		t.Errorf("events are %q, want %q", got, want)
	}
	l.Fsck()
}

// One whose ref another git moves meanwhile starts over, from where the mission
// was left, each time.
func TestRunStartsOver(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	w := l.Workspace(l.Dir)
	gittest.Must(t, event(t.Context(), w, "one", nothing))
	one := l.Git("rev-parse", mission.Ref())
	gittest.Must(t, event(t.Context(), w, "two", nothing))
	attempts := 0
	err := event(t.Context(), w, "three", func(attempt int, _ *ledgertx.Tx) {
		switch attempts = attempt; attempt {
		case 1:
			l.Git("update-ref", "-d", mission.Ref())
		case 2:
			l.Git("update-ref", mission.Ref(), one)
		case 3:
			l.Git("update-ref", "-d", mission.Ref())
		}
	})
	if got := subjects(l); err != nil || attempts != 4 || !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("after %d attempts, %v, the events are %q", attempts, err, got)
	}
}

// Where one of the refs is locked by somebody else, none has moved, the error
// names the lock, and it works once that is gone.
func TestRunLocked(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	w := l.Workspace(l.Dir)
	gittest.Must(t, event(t.Context(), w, "one", nothing))
	refs, head := l.Git("for-each-ref"), object.NewHash(l.Git("rev-parse", "HEAD"))
	locked := l.LockOf("refs/heads/mine")
	l.Write(locked, "")
	mine := func(_ int, tx *ledgertx.Tx) { tx.Move("refs/heads/mine", head, object.Hash{}) }
	ctx := limit.With(t.Context(), limit.Limits{Lock: time.Millisecond})
	if err := event(ctx, w, "two", mine); !errors.As(err, new(*git.LockedError)) || !strings.Contains(err.Error(), ".lock") {
		t.Errorf("a locked ref: %v", err)
	}
	if now := l.Git("for-each-ref"); now != refs {
		t.Errorf("refs were\n%s\nand are\n%s", refs, now)
	}
	l.Remove(locked)
	if err := event(t.Context(), w, "two", mine); err != nil || !slices.Equal(subjects(l), []string{"one", "two"}) || l.Git("rev-parse", "mine") != head.String() {
		t.Errorf("unlocked: %v, %q", err, subjects(l))
	}
}

// Git copies the notes of a mission that it rewrites, until that is left; values
// of the user's own stay, and a configuration that stays locked is left alone.
func TestRewrites(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	w := l.Workspace(l.Dir)
	values := func() string {
		out, _ := l.Try("config", "--local", "--get-all", "notes.rewriteRef")
		return strings.ReplaceAll(strings.TrimSpace(out), "\n", " ")
	}
	l.Git("config", "--add", "notes.rewriteRef", "refs/notes/mine")
	both := "refs/notes/mine " + mission.NotesRef()
	for range 2 {
		if ledgertx.FollowRewrites(t.Context(), w, mission); values() != both {
			t.Errorf("followed are %q, want %q", values(), both)
		}
	}
	l.Write(".git/config.lock", "")
	soon := limit.With(t.Context(), limit.Limits{Index: time.Millisecond})
	if ledgertx.LeaveRewrites(soon, w, mission); values() != both {
		t.Errorf("in a locked configuration there are %q", values())
	}
	l.Remove(".git/config.lock")
	if ledgertx.LeaveRewrites(t.Context(), w, mission); values() != "refs/notes/mine" {
		t.Errorf("left are %q", values())
	}
}

// A configuration that another process has locked is waited for: one that is written right now, and
// many at once.
func TestRewritesAtOnce(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	w := l.Workspace(l.Dir)
	var all sync.WaitGroup
	l.Write(".git/config.lock", "")
	began := make(chan struct{}, 8)
	for i := range 8 {
		all.Go(func() {
			began <- struct{}{}
			id := record.ID(fmt.Sprintf("a1b2c3d%d", i))
			ledgertx.FollowRewrites(t.Context(), w, id)
			ledgertx.LeaveRewrites(t.Context(), w, id)
		})
	}
	for range 8 {
		<-began
	}
	l.Remove(".git/config.lock")
	all.Wait()
	if out, err := l.Try("config", "--local", "--get-all", "notes.rewriteRef"); err == nil {
		t.Errorf("left are %q", out)
	}
	if log := w.Store.LogTail(1 << 10); len(log) > 0 {
		t.Errorf("the log says %s", log)
	}
}
