package git

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestError(t *testing.T) {
	t.Parallel()
	repo := find(t, committed(t))
	ctx := context.Background()
	_, err := repo.Output(ctx, nil, "-c", "x.y=z", "cat-file", "-e", "0123456789")
	var e *Error
	if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "git cat-file: ") || strings.HasSuffix(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
	if Status(err) != 128 || Status(nil) != -1 || Status(errors.New("x")) != -1 {
		t.Errorf("Status = %d", Status(err))
	}
	if err := repo.Run(ctx, nil, nil, nil, "rev-parse", "--verify", "--quiet", "none"); Status(err) != 1 {
		t.Errorf("Run: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := repo.Output(canceled, nil, "version"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := repo.Start(canceled, "cat-file", "--batch"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	repo := find(t, committed(t))
	ctx := context.Background()
	start := func(args ...string) *Process {
		t.Helper()
		p, err := repo.Start(ctx, args...)
		gittest.Must(t, err)
		return p
	}
	large := strings.Repeat("x", 1<<20) // more than a pipe holds, both ways
	p := start("hash-object", "--stdin")
	if out, err := p.Finish([]byte(large)); err != nil || len(out) != gittest.Digits()+1 {
		t.Errorf("Finish = %q, %v", out, err)
	}
	p.Kill() // has no effect any more
	p = start("stripspace")
	if out, err := p.Finish([]byte(large)); err != nil || len(out) != len(large)+1 {
		t.Errorf("Finish = %d bytes, %v", len(out), err)
	}
	p = start("version") // does not read its input
	if out, err := p.Finish([]byte(large)); len(out) == 0 {
		t.Errorf("Finish = %q, %v", out, err)
	}
	p = start("cat-file", "--no-such-flag")
	if _, err := p.Finish(nil); Status(err) != 129 {
		t.Errorf("Finish: %v", err)
	}
	p = start("cat-file", "--batch")
	p.Kill()
	p.Kill()
}

// Git is interrupted, not killed, so that it removes its lock files.
func TestCancelDropsLocks(t *testing.T) {
	t.Parallel()
	r := committed(t)
	repo := find(t, r)
	lock := filepath.Join(r.Dir, r.LockOf("refs/agent/x"))
	ctx, cancel := context.WithCancel(context.Background())
	p, err := repo.Start(ctx, "update-ref", "--stdin")
	gittest.Must(t, err)
	if _, err := p.Stdin.Write([]byte("start\ncreate refs/agent/x HEAD\nprepare\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("start: ok\nprepare: ok\n"))
	for n := 0; n < len(answer); {
		m, err := p.Stdout.Read(answer[n:])
		gittest.Must(t, err)
		n += m
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Fatal("the ref is not locked, so this tests nothing")
	}
	cancel()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.Is(err, context.Canceled) && !errors.As(err, &exit) {
		t.Errorf("Wait: %v", err)
	}
	if _, err := os.Lstat(lock); err == nil {
		t.Error("the lock is still there")
	}
}

// TestPipe: git has printed all, and ended, before anybody reads; nothing of it is lost.
func TestPipe(t *testing.T) {
	t.Parallel()
	repo := find(t, committed(t))
	ctx := context.Background()
	want, err := repo.Output(ctx, nil, "cat-file", "-p", "HEAD")
	gittest.Must(t, err)
	out, ended, err := repo.Pipe(ctx, nil, "cat-file", "-p", "HEAD")
	gittest.Must(t, err)
	defer out.Close()
	if err := <-ended; err != nil {
		t.Errorf("git ended: %v", err)
	}
	if got, err := io.ReadAll(out); string(got) != string(want) || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	none, ended, err := repo.Pipe(ctx, nil, "cat-file", "-p", "none")
	gittest.Must(t, err)
	defer none.Close()
	if err := <-ended; Status(err) != 128 || !strings.Contains(err.Error(), "Not a valid object") {
		t.Errorf("git ended: %v", err)
	}
}

// TestSplit: each piece is handed over, and neither git's failure nor that of who takes them is missed.
func TestSplit(t *testing.T) {
	t.Parallel()
	repo := find(t, committed(t))
	ctx := context.Background()
	var got []string
	take := func(piece []byte) error {
		got = append(got, string(piece))
		return nil
	}
	if err := repo.Split(ctx, strings.NewReader("a\nb\x00c\n\n"), '\n', take, "stripspace"); err != nil || !slices.Equal(got, []string{"a", "b\x00c"}) {
		t.Errorf("%q, %v", got, err)
	}
	if err := repo.Split(ctx, nil, '\n', take, "cat-file", "-p", "none"); Status(err) != 128 {
		t.Errorf("git ended: %v", err)
	}
	enough := errors.New("enough")
	endless := strings.NewReader(strings.Repeat("x\n", 1<<20))
	if err := repo.Split(ctx, endless, '\n', func([]byte) error { return enough }, "stripspace"); err != enough {
		t.Errorf("it went on: %v", err)
	}
}
