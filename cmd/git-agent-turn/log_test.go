package main

import (
	"bufio"
	"context"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

// TestListRevs: git has listed all commits, and ended, before anybody reads: whoever looks at the turns of each may
// take longer, and loses none.
func TestListRevs(t *testing.T) {
	r := gittest.New(t)
	for _, message := range []string{"one", "two", "three"} {
		r.Commit(message)
	}
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	out, ended, err := listRevs(context.Background(), repo, []string{"HEAD", "--"})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := <-ended; err != nil {
		t.Errorf("git ended: %v", err)
	}
	n := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n++
	}
	if n < 3 {
		t.Errorf("read %d commits", n)
	}
}
