package blame

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// TestMessagesAreNotKept: anybody may push thousands of commits with messages of megabytes in a pack of one, and a
// question about all of them keeps none.
func TestMessagesAreNotKept(t *testing.T) {
	gittest.Check(t)
	r := gittest.New(t)
	since := r.Commit("since")
	var in strings.Builder
	long := strings.Repeat("a", 1<<20)
	const commits = 30
	for i := range commits {
		message := fmt.Sprintf("%d\n\n%s\n", i, long)
		fmt.Fprintf(&in, "commit refs/heads/big\ncommitter Eve <eve@example.invalid> 1795000000 +0000\ndata %d\n%s\n", len(message), message)
		if i == 0 {
			fmt.Fprintf(&in, "from %s\n", since)
		}
	}
	if out, err := r.Feed(in.String(), "fast-import", "--quiet"); err != nil {
		t.Fatal(err, out)
	}
	in.Reset()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	h, err := Open(t.Context(), workspace.New(repo, config.Default()))
	gittest.Must(t, err)
	defer h.Close()
	tip, err := object.ParseHash(r.Git("rev-parse", "big"))
	gittest.Must(t, err)
	from, err := object.ParseHash(r.Git("rev-parse", "main"))
	gittest.Must(t, err)
	a := &landing{h: h, Landing: Landing{Commit: tip, Since: from, Base: from}}
	before := live()
	gittest.Must(t, a.list(t.Context()))
	if kept := live() - before; kept > commits<<20/2 {
		t.Errorf("it keeps %d KB of %d commits", kept>>10, commits)
	}
	if len(a.commits) != commits {
		t.Errorf("%d commits are known, of %d", len(a.commits), commits)
	}
}

// live is how many bytes are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
