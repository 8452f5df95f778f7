package recorder

import (
	"slices"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/journal"
)

// TestLastLeft: what was seen by a look that was not over when the calls began is no state before them.
func TestLastLeft(t *testing.T) {
	t.Parallel()
	tree := object.NewHash("1234567890123456789012345678901234567890")
	for _, tt := range []struct {
		name    string
		entries []*journal.Entry
		want    int64 // its At, 0 for none
	}{
		{"none", nil, 0},
		{"the last", []*journal.Entry{{At: 80, Tree: tree}, {At: 90, Tree: tree}}, 90},
		{"at that moment", []*journal.Entry{{At: 100, Tree: tree}}, 100},
		{"later", []*journal.Entry{{At: 90, Tree: tree}, {At: 101, Tree: tree}}, 90},
		{"a claim", []*journal.Entry{{At: 80, Tree: tree}, {At: 90}}, 80},
		{"over before", []*journal.Entry{{At: 80, Tree: tree}, {At: 90, Took: 10, Tree: tree}}, 90},
		{"not over", []*journal.Entry{{At: 80, Took: 5, Tree: tree}, {At: 90, Took: 11, Tree: tree}}, 80},
	} {
		var got int64
		if e := lastLeft(tt.entries, 100); e != nil {
			got = e.At
		}
		if got != tt.want {
			t.Errorf("%s: the state of %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestAnyLater: a visit that began before others were seen says nothing of what came since.
func TestAnyLater(t *testing.T) {
	t.Parallel()
	tree := object.NewHash("1234567890123456789012345678901234567890")
	for _, tt := range []struct {
		name    string
		entries []*journal.Entry // the newest first
		want    bool
	}{
		{"none", nil, false},
		{"earlier", []*journal.Entry{{At: 99, Tree: tree}}, false},
		{"later", []*journal.Entry{{At: 101, Tree: tree}, {At: 99}}, true},
		{"a claim", []*journal.Entry{{At: 101}, {At: 99, Tree: tree}}, true},
		{"behind one that began before", []*journal.Entry{{At: 98, Base: tree}, {At: 150, Tree: tree}}, true},
		{"behind two", []*journal.Entry{{At: 98, Base: tree}, {At: 97, Base: tree}, {At: 90, Tree: tree}}, false},
	} {
		if got := anyLater(slices.Values(tt.entries), 100); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
