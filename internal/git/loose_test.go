package git

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/test/gittest"
)

// TestFlushLoose: git reads what is written one by one, of any size, and so do we; many become a pack.
func TestFlushLoose(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, maxLoose + 1} {
		r := gittest.New(t)
		repo, err := Find(r.Dir)
		gittest.Must(t, err)
		gittest.Must(t, os.Chmod(filepath.Join(r.Dir, ".git", "objects"), 0o775|os.ModeSetgid))
		o := repo.Objects(t.Context())
		defer o.Close()
		contents := make(map[string][]byte)
		for i := range n {
			content := bytes.Repeat(fmt.Appendf(nil, "line %d of %d\n", i, n), 1+2000*(i%2))
			h, err := o.Write(plumbing.BlobObject, content)
			gittest.Must(t, err)
			contents[h.String()] = content
		}
		gittest.Must(t, o.FlushLoose())
		gittest.Must(t, o.FlushLoose()) // nothing is left
		for h, content := range contents {
			if got := r.Git("cat-file", "blob", h); got+"\n" != string(content) {
				t.Errorf("git reads %d bytes of %s, want %d", len(got), h, len(content))
			}
			info, err := os.Stat(filepath.Join(r.Dir, ".git", "objects", h[:2]))
			if loose := n <= maxLoose; (err == nil) != loose || loose && info.Mode().Perm() != 0o775 {
				t.Errorf("%d objects: the directory of one is %v, %v", n, info, err)
			}
		}
		if out := r.Git("fsck", "--strict", "--no-dangling"); out != "" {
			t.Error(out)
		}
	}
}
