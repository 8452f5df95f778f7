//go:build unix

package damage

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ends damages the beginning and the end of the only pack, of which git reads nothing then. No remote has it: what is
// whole in it is found all the same.
func (w *world) ends(t *testing.T) {
	for name, to := range map[string]func([]byte) []byte{
		"signature": func(data []byte) []byte { data[2] ^= 1; return data },
		"number":    func(data []byte) []byte { data[9] ^= 1; return data },
		"checksum":  func(data []byte) []byte { data[len(data)-3] ^= 1; return data },
		"both":      func(data []byte) []byte { data[0], data[len(data)-1] = 0, data[len(data)-1]^1; return data },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.copied(t)
			w.Git("remote", "remove", "origin")
			w.Git("repack", "-adq")
			all := w.Git("cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
			packs, err := filepath.Glob(filepath.Join(w.Dir, ".git/objects/pack/pack-*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatal(packs, err)
			}
			w.change(t, "objects/pack/"+filepath.Base(packs[0]), to)
			if a := w.run(t, "turn doctor --repair"); a.status != 0 || !strings.Contains(a.stdout, " 0 are not; the whole ones are written again") {
				t.Errorf("doctor --repair: status %d\n%s%s", a.status, a.stdout, a.stderr)
			}
			now := strings.Fields(w.Git("cat-file", "--batch-check=%(objectname)", "--batch-all-objects"))
			for hash := range strings.FieldsSeq(all) {
				if _, ok := slices.BinarySearch(now, hash); !ok {
					t.Errorf("%s is lost", hash)
				}
			}
			if a := w.run(t, "turn doctor --repair"); a.status != 0 || !strings.Contains(a.stdout, "nothing is damaged") {
				t.Errorf("a second repair: status %d\n%s%s", a.status, a.stdout, a.stderr)
			}
		})
	}
}
