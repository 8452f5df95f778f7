package turns_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
	"gitagent/turns"
)

// The disk is full: nothing is left behind, wherever that shows.
func TestForkDiskFull(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name string
		use  func(f *turns.Fork, full string)
	}{
		{"of the worktree", func(f *turns.Fork, full string) { f.Worktree = filepath.Join(full, "fork") }},
		{"of the client", func(f *turns.Fork, full string) { f.Config = full }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			full := filepath.Join(l.config, "full")
			if err := os.Mkdir(full, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=64k"); err != nil {
				t.Skipf("a disk that is full needs the right to mount one: %v", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(full, 0); err != nil {
					t.Error(err)
				}
			})
			c := l.client()
			l.turn(c, "first "+strings.Repeat("long ", 40_000), l.write("big.txt", strings.Repeat("big\n", 50_000)))
			f := l.forkOf(l.list(own(c))[0])
			tt.use(&f, full)
			before := l.everything()
			_, err := l.recorder(l.Dir).Fork(context.Background(), f)
			if err == nil || strings.Contains(err.Error(), "what is left") {
				t.Fatalf("Fork: %v, want an error that leaves nothing", err)
			}
			if after := l.everything(); after != before {
				t.Errorf("%v\nleaves\n%s\nthere was\n%s", err, after, before)
			}
			left, err := filepath.Glob(filepath.Join(full, "*"))
			if err != nil || len(left) > 1 || len(left) == 1 && filepath.Base(left[0]) != "projects" {
				t.Errorf("on the disk there is %q, %v", left, err)
			}
			if files, _ := filepath.Glob(filepath.Join(full, "projects", "*", "*")); len(files) > 0 {
				t.Errorf("on the disk there is %q", files)
			}
		})
	}
}
