package turns

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// keepingHead gives a repository a mission whose events keep HEAD: an oldest one that can't be looked into, and
// then so many that record something else. Each has a turn, which ended in another commit.
func keepingHead(t *testing.T, r *gittest.Repo, id record.ID, events int) {
	t.Helper()
	var b strings.Builder
	event := func(keeps string, files ...string) {
		fmt.Fprintf(&b, "commit %s\ncommitter S <s@s> 1700000000 +0000\ndata 1\nx\n%s", id.Ref(), keeps)
		for i := 0; i < len(files); i += 2 {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", files[i], len(files[i+1]), files[i+1])
		}
	}
	head := r.Git("rev-parse", "HEAD")
	mission := fmt.Sprintf(`{"v":1,"id":%q,"created":"2026-01-02T03:04:05Z"}`, id)
	event("", "mission.json", mission)
	event("merge "+head+"\nD mission.json\n", "broken", "")
	for n := 1; n <= events; n++ {
		record := fmt.Sprintf(`{"v":1,"kind":"turn","mission":%q,"turn":%d,"at":"2026-01-02T03:04:05Z","outcome":"done","code":"%0*d"}`, id, n, gittest.Digits(), 1)
		event("merge "+head+"\n", "mission.json", mission, ledger.TurnPath("turns", n, ".json"), record)
	}
	if _, err := r.Feed(b.String(), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
}

// TestKept: of a ledger whose events keep a commit, so many are looked into, the newest.
func TestKept(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	r.Write("a", "1\n")
	r.Commit("first")
	keepingHead(t, r, "a0a0a0a0", maxLookedOfOne)
	keepingHead(t, r, "b0b0b0b0", maxLookedOfOne-1)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	w := workspace.New(repo, config.Default())
	if s, err := Find(t.Context(), w, "a0a0a0a0", "HEAD"); err != nil || s.In != "a0a0a0a0" || !s.Saved || s.Turn.Turn != maxLookedOfOne {
		t.Errorf("%v, %v", s, err)
	}
	objects := repo.Objects(t.Context())
	defer objects.Close()
	all := readings{maxEvents, maxLooked, maxRecords}
	for _, tt := range []struct {
		name       string
		id         record.ID
		left, then readings
		err        bool
	}{
		{"as many as are looked into", "a0a0a0a0", all, readings{maxEvents - 102, maxLooked - 100, maxRecords - 100*leastRecord}, false},
		{"one less, so the oldest is", "b0b0b0b0", all, readings{maxEvents - 101, maxLooked - 100, maxRecords}, true},
		{"few events are left", "b0b0b0b0", readings{10, 1000, maxRecords}, readings{0, 990, maxRecords - 99*leastRecord}, false},
		{"few looks are left", "b0b0b0b0", readings{1000, 10, maxRecords}, readings{899, 0, maxRecords - 99*leastRecord}, false},
		{"few records are left", "a0a0a0a0", readings{1000, 1000, 10 * leastRecord}, readings{898, 900, 0}, false},
		{"nothing is left", "a0a0a0a0", readings{1000, 0, 0}, readings{898, 0, 0}, false},
	} {
		k := commitFinder{ctx: t.Context(), repo: repo, objects: objects, commit: object.NewHash(r.Git("rev-parse", "HEAD")), left: tt.left}
		s, err := k.state(tt.id)
		if (err != nil) != tt.err || err == nil && (s == nil || !s.Saved) || k.left != tt.then {
			t.Errorf("%s: %v, %v; %+v is left, want %+v", tt.name, s, err, k.left, tt.then)
		}
	}
}
