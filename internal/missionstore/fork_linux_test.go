package missionstore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/internal/missionstore"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// The disk is full: nothing is left behind, wherever that shows.
func TestForkDiskFull(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name string
		use  func(f *missionstore.ForkPlan, full string)
	}{
		{"of the worktree", func(f *missionstore.ForkPlan, full string) { f.Worktree = filepath.Join(full, "fork") }},
		{"of the client", func(f *missionstore.ForkPlan, full string) { f.Config = full }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			full := filepath.Join(l.Config, "full")
			gittest.Must(t, os.Mkdir(full, 0o777))
			if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=64k"); err != nil {
				t.Skipf("a disk that is full needs the right to mount one: %v", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(full, 0); err != nil {
					t.Error(err)
				}
			})
			c := l.Client()
			l.Turn(c, "first "+strings.Repeat("long ", 40_000), l.Writes("big.txt", strings.Repeat("big\n", 50_000)))
			f := l.ForkOf(l.List(lab.Own(c))[0])
			tt.use(&f, full)
			before := leavings(l)
			_, err := missionstore.Fork(context.Background(), l.Workspace(l.Dir), f)
			if err == nil || strings.Contains(err.Error(), "what is left") {
				t.Fatalf("Fork: %v, want an error that leaves nothing", err)
			}
			if after := leavings(l); after != before {
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
