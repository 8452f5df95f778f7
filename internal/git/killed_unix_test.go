//go:build unix

package git

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestKilledWhileReading: a git that a signal has ended says nothing about the object that was asked for.
// Another one is asked; and if that one ends the same way, the error is no word about the object either.
func TestKilledWhileReading(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	var list []Wanted
	for i := range 20 {
		h, err := r.Feed(fmt.Sprint("blob ", i, strings.Repeat("x", 1<<16)), "hash-object", "-w", "--stdin")
		gittest.Must(t, err)
		list = append(list, Wanted{object.NewHash(h), 1 << 20})
	}
	objects := find(t, r).Objects(t.Context())
	defer objects.Close()
	kill := func() {
		p, err := objects.catFile()
		gittest.Must(t, err)
		if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	check := func(obj *Object, err error) {
		t.Helper()
		if err != nil || len(obj.Content) < 1<<16 {
			t.Errorf("read: %v", err)
		}
	}

	kill()
	check(objects.ask(list[0].Hash, 1<<20))
	kill()
	if size, err := objects.size(list[0].Hash); err != nil || size < 1<<16 {
		t.Errorf("size %d, %v", size, err)
	}
	if _, err := objects.ask(object.NewHash(gittest.Hash("1")), 1<<20); err != plumbing.ErrObjectNotFound {
		t.Errorf("missing: %v", err)
	}
	for range gittest.Size(20, 4) {
		kill()
		seen := 0
		err := objects.Each(list, func(i int, obj *Object, err error) error {
			check(obj, err)
			if seen++; i == 3 {
				// It may have written all that follows, or nothing.
				_ = syscall.Kill(objects.batch.cmd.Process.Pid, syscall.SIGKILL)
			}
			return nil
		})
		if err != nil || seen != len(list) {
			t.Fatalf("read %d, %v", seen, err)
		}
	}

	dead := *objects.repo
	dead.program, dead.options = "/bin/sh", []string{"-c", "kill -KILL $$"} // whatever it is asked
	twice := dead.Objects(t.Context())
	defer twice.Close()
	if _, err := twice.ask(list[0].Hash, 1<<20); !errors.Is(err, ErrKilled) || Lost(err) {
		t.Errorf("killed twice: %v", err)
	}
	if err := twice.Each(list, func(_ int, _ *Object, err error) error { return err }); !errors.Is(err, ErrKilled) {
		t.Errorf("killed twice at the first of many: %v", err)
	}

	n := 0
	errs := make([]error, len(list))
	err := objects.questions("contents", list, errs, func(i int, _ *Object, _ int64) error {
		n++
		_ = syscall.Kill(objects.batch.cmd.Process.Pid, syscall.SIGKILL)
		return nil
	})
	for i, err := range errs {
		if err != nil {
			t.Errorf("object %d counts as damaged: %v", i, err)
		}
	}
	if !errors.Is(err, ErrKilled) && n != len(list) {
		t.Errorf("killed after each answer: %d read, %v", n, err)
	}
	check(objects.ask(list[0].Hash, 1<<20))
}
