package git

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

func TestDelta(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return string(b)
	}
	tree, more := noise(4000), noise(300)
	for _, tt := range []struct {
		name, base, target string
		most               int // bytes of the delta; 0 if it is not worth it
	}{
		{"nothing in common", noise(1000), noise(1000), 0},
		{"nothing", "", "", 0},
		{"nothing before", "", tree, 0},
		{"shorter than a word", "abc", "abcabc", 0},
		{"the same", tree, tree, 12},
		{"one entry more", tree[:2000] + tree[2020:], tree, 45},
		{"one entry less", tree, tree[:2000] + tree[2020:], 20},
		{"two hashes changed", tree, tree[:77] + noise(20) + tree[97:3000] + noise(20) + tree[3020:], 75},
		{"at the beginning", tree, more[:50] + tree, 65},
		{"at the end", tree, tree + more, 330},
		{"another order", tree, tree[2000:] + tree[:2000], 25},
		{"more than one copy can have", strings.Repeat(tree, 50), strings.Repeat(tree, 50) + "more", 60},
		{"bytes that are zero", tree + strings.Repeat("\x00", 0x10000) + more, strings.Repeat("\x00", 0x10000) + more, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := new(differ).delta([]byte(tt.base), []byte(tt.target))
			if tt.most == 0 {
				if got != nil {
					t.Errorf("%d bytes, want none", len(got))
				}
				return
			}
			if len(got) == 0 || len(got) > tt.most {
				t.Errorf("%d bytes, want at most %d", len(got), tt.most)
			}
			if made, err := packfile.PatchDelta([]byte(tt.base), got); err != nil || string(made) != tt.target {
				t.Errorf("it makes something else of %d bytes (%v)", len(made), err)
			}
		})
	}
}

// FuzzDelta: what a delta makes is the target, one after the other with the same tables.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("some text that is long enough, and that again"), []byte("that is long enough, and that again, and more"))
	f.Fuzz(func(t *testing.T, base, target []byte) {
		var d differ
		for _, pair := range [][2][]byte{{base, target}, {target, base}, {bytes.Repeat(base, 9), bytes.Repeat(base, 5)}} {
			got := d.delta(pair[0], pair[1])
			if got == nil {
				continue
			}
			if made, err := packfile.PatchDelta(pair[0], got); err != nil || !bytes.Equal(made, pair[1]) {
				t.Errorf("of %q comes %q, want %q (%v)", pair[0], made, pair[1], err)
			}
		}
	})
}
