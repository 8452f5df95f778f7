package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestArchiveFetch fetches one commit from a host that has the same archive. Of the commits that keep it git tells the host
// of none that is there: each would be walked down from, here and, to the very last object, there.
func TestArchiveFetch(t *testing.T) {
	for _, protocol := range []string{"0", "2"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			r, objects := openEmpty(t)
			main := r.Commit("main")
			entries := make(map[record.ID]ArchiveEntry)
			for i, c := range commits(t, objects, 300) {
				id := record.ID(fmt.Sprintf("%08x", i))
				entries[id] = ArchiveEntry{ID: id, Ledger: c}
			}
			empty, err := OpenArchive(objects, object.Hash{})
			if err != nil {
				t.Fatal(err)
			}
			index := with(t, empty, entries)
			moves, err := index.Moves(nil)
			if err == nil {
				err = objects.Flush()
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range moves {
				r.Git("update-ref", m.Ref, m.New.String())
			}
			keep, err := index.Keep()
			if err != nil {
				t.Fatal(err)
			}
			host := r.In(gittest.TempDir(t))
			host.Git("init", "-q", "--bare", ".")
			r.Git("push", "-q", host.Dir, main+":refs/heads/main", index.Tip.String()+":"+ArchiveRef, keep.String()+":"+ArchiveKeepRef)
			host.Git("update-ref", "refs/heads/main", host.Git("commit-tree", "-p", main, "-m", "theirs", main+"^{tree}"))
			kept := strings.Fields(host.Git("rev-list", ArchiveKeepRef))

			trace := filepath.Join(t.TempDir(), "trace")
			r.Env = append(slices.Clip(r.Env), "GIT_TRACE_PACKET="+trace)
			r.Git("-c", "protocol.version="+protocol, "fetch", "-q", host.Dir, "main")
			told, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			haves := regexp.MustCompile(`fetch(?:-pack)?> have (\w+)`).FindAllSubmatch(told, -1)
			if len(haves) == 0 {
				t.Fatalf("git tells the host of nothing:\n%s", told)
			}
			for _, have := range haves {
				if slices.Contains(kept, string(have[1])) {
					t.Errorf("git tells the host of %s, which keeps what is archived", have[1])
				}
			}
		})
	}
}
