package remote_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// origin is a remote of a new repository, which nothing is sent to.
func origin(t *testing.T) *remote.Remote {
	t.Helper()
	in := gittest.New(t)
	in.Git("remote", "add", "origin", "https://host.example/repo.git")
	repo, err := git.Find(in.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := remote.Open(t.Context(), workspace.New(repo, config.Default()), "origin")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWaiting: a mission waits from when it is queued until it is taken out, however often.
func TestWaiting(t *testing.T) {
	t.Parallel()
	r := origin(t)
	const one, two = record.ID("00000001"), record.ID("00000002")
	for _, id := range []record.ID{one, two, one} {
		if err := r.Later(id); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := r.Pending(); err != nil || !slices.Equal(ids, []record.ID{one, two}) || !r.Waits(one) {
		t.Errorf("there wait %v, %v", ids, err)
	}
	for range 2 {
		if err := r.Dequeue(one); err != nil {
			t.Fatal(err)
		}
	}
	if r.Waits(one) || !r.Waits(two) || !r.Await(t.Context(), one) {
		t.Error("another mission was taken out")
	}
	if status, err := r.QueueStatus(); err != nil || status.Waiting != 1 || status.Failures != 0 {
		t.Errorf("%+v, %v", status, err)
	}
}

// TestAccount: failures at the same time are all counted, and a success ends them.
func TestAccount(t *testing.T) {
	t.Parallel()
	r := origin(t)
	if err := r.LearnName(t.Context(), "00000001", "00000002"); err != nil {
		t.Fatal(err)
	}
	const times = 8
	var all sync.WaitGroup
	for range times {
		all.Go(func() {
			if err := r.Account(t.Context(), errors.New("it is away")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if known := r.Learned(); known.Failures != times || known.Failed.IsZero() || known.Name("00000001") != "00000002" {
		t.Errorf("%+v is known", known)
	}
	for _, why := range []error{remote.ErrRejected, errors.New("it is away")} {
		if err := r.Account(t.Context(), fmt.Errorf("push: %w", why)); err != nil {
			t.Fatal(err)
		}
		if status, err := r.QueueStatus(); err != nil || status.Rejected != (why == remote.ErrRejected) {
			t.Errorf("after %v the status is %+v, %v", why, status, err)
		}
	}
	if err := r.Account(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if known := r.Learned(); known.Rejected || known.Failures != 0 || !known.Failed.IsZero() || known.Name("00000001") != "00000002" {
		t.Errorf("%+v is known after a success", known)
	}
}
