package ledger

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestArchiveVectors reads the vectors that docs/format.md names. They were made with plain git.
func TestArchiveVectors(t *testing.T) {
	_, objects := openEmpty(t)
	names, err := filepath.Glob(gittest.Vectors("testdata/archive") + "/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			header, body, _ := strings.Cut(string(content), "\n\n")
			wantIndex, wantKeep, ok := strings.Cut(strings.TrimPrefix(header, "index: "), "\nkeep: ")
			if !ok {
				t.Fatalf("its header is %q", header)
			}
			changes := make(map[record.ID]ArchiveEntry)
			for line := range strings.Lines(body) {
				var e ArchiveEntry
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				if got := string(e.line()); got != line {
					t.Errorf("%q is written as %q", line, got)
				}
				changes[e.ID] = e
			}
			empty, err := OpenArchive(objects, object.Hash{})
			if err != nil {
				t.Fatal(err)
			}
			x := with(t, empty, changes)
			if keep, err := x.Keep(); x.Tip.String() != wantIndex || objects.Format().Text(keep) != wantKeep || err != nil {
				t.Errorf("%s and %s, %v; want %s and %s", x.Tip, keep, err, wantIndex, wantKeep)
			}
		})
	}
}
