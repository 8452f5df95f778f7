package statedir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestLock lets many take one lock: never two at once.
func TestLock(t *testing.T) {
	t.Parallel()
	dir := In(t.TempDir(), "not")
	holders, most := 0, 0
	var count sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			l, err := dir.Lock(context.Background(), "there/lock")
			if err != nil {
				t.Error(err)
				return
			}
			count.Lock()
			holders++
			most = max(most, holders)
			count.Unlock()
			count.Lock()
			holders--
			count.Unlock()
			l.Release()
		})
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d held the lock at once", most)
	}
}

func TestLockGivesUp(t *testing.T) {
	t.Parallel()
	dir := In(t.TempDir(), "dir")
	held, err := dir.Lock(context.Background(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := dir.Lock(ctx, "lock"); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock of a file that is held = %v", err)
	}
}

// TestNote leaves a note behind, as a process does that dies, and reads it as the next holder.
func TestNote(t *testing.T) {
	t.Parallel()
	dir := In(t.TempDir(), "dir")
	take := func() *Lock {
		l, err := dir.Lock(context.Background(), "lock")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	at := time.Unix(1_800_000_000, 5)
	for _, tt := range []struct {
		name string
		hold func(*Lock)
		want Note
	}{
		{"nothing was noted", func(*Lock) {}, Note{}},
		{"two files", func(l *Lock) { _ = l.Note(Note{At: at, Words: []string{"/a b/HEAD", "/c\nd"}}) }, Note{At: at, Words: []string{"/a b/HEAD", "/c\nd"}}},
		{"a note that nobody took back stays", func(*Lock) {}, Note{At: at, Words: []string{"/a b/HEAD", "/c\nd"}}},
		{"long", func(l *Lock) { _ = l.Note(Note{At: at, Words: []string{"/a"}, Long: true}) }, Note{At: at, Words: []string{"/a"}, Long: true}},
		{"done", func(l *Lock) { _ = l.Done() }, Note{}},
		{"done with something", func(l *Lock) { _ = l.With(Note{At: at, Words: []string{"a"}}, func() error { return nil }) }, Note{}},
		{"half a note", func(l *Lock) { _, _ = l.file.WriteString("x") }, Note{}},
	} {
		l := take()
		tt.hold(l)
		l.Release()
		l = take()
		got := l.Left()
		if !got.At.Equal(tt.want.At) || !slices.Equal(got.Words, tt.want.Words) || got.Long != tt.want.Long {
			t.Errorf("%s: left %v, want %v", tt.name, got, tt.want)
		}
		l.Release()
		if tt.want.Words == nil {
			_ = os.Truncate(dir.Path("lock"), 0)
		}
	}
}

// TestLockOfDeadProcess: the system releases the lock of a process that was killed.
func TestLockOfDeadProcess(t *testing.T) {
	if dir := os.Getenv("TEST_LOCK_AND_WAIT"); dir != "" {
		held, err := In(dir, "d").Lock(context.Background(), "x")
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release()
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed; where nothing can go on, Go ends the process
		return
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockOfDeadProcess$")
	cmd.Env = append(os.Environ(), "TEST_LOCK_AND_WAIT="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("locked"))
	if _, err := out.Read(line); err != nil || string(line) != "locked" {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := In(dir, "d").Lock(ctx, "x"); err == nil {
		t.Error("the lock of a living process was taken")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	held, err := In(dir, "d").Lock(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	held.Release()
}
