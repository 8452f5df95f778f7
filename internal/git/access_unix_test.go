//go:build unix

package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/test/gittest"
)

// TestModeOfPacks compares our packs with git's, for every kind of core.sharedRepository.
func TestModeOfPacks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, setting := range []string{"", "umask", "false", "0", "group", "true", "yes", "1", "all", "world", "everybody", "2", "0600", "0640", "0660", "0644"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			r := committed(t)
			if setting != "" {
				r.Git("config", "core.sharedRepository", setting)
			}
			r.Git("repack", "-q", "-a", "-d")
			want := packModes(t, r)
			o := find(t, r).Objects(context.Background())
			defer o.Close()
			if _, err := o.Write(plumbing.BlobObject, []byte("ours")); err != nil {
				t.Fatal(err)
			}
			for path := range want {
				gittest.Must(t, os.Remove(path))
			}
			gittest.Must(t, o.Flush())
			for path, got := range packModes(t, r) {
				for theirs, mode := range want {
					if filepath.Ext(path) == filepath.Ext(theirs) && got != mode {
						t.Errorf("ours is %v, git's %v: %s", got, mode, path)
					}
				}
			}
		})
	}
}

func packModes(t *testing.T, r *gittest.Repo) map[string]fs.FileMode {
	t.Helper()
	modes := make(map[string]fs.FileMode)
	files, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		gittest.Must(t, err)
		modes[file] = info.Mode()
	}
	return modes
}

// TestReadable: others can read what they can reach.
func TestReadable(t *testing.T) {
	t.Parallel()
	r := committed(t)
	repo := find(t, r)
	gittest.Must(t, gittest.Reachable(r.Dir))
	for _, tt := range []struct {
		mode fs.FileMode
		dirs []string
		want bool
	}{
		{0o700, []string{".git/objects/pack"}, false},
		{0o711, []string{".git/objects/pack"}, false},
		{0o711, []string{".", ".git", ".git/objects"}, true},
		{0o700, []string{".git"}, false},
		{0o700, []string{"."}, false},
		{0o755, nil, true},
	} {
		for _, dir := range []string{".", ".git", ".git/objects", ".git/objects/pack"} {
			gittest.Must(t, os.Chmod(filepath.Join(r.Dir, dir), 0o755))
		}
		for _, dir := range tt.dirs {
			gittest.Must(t, os.Chmod(filepath.Join(r.Dir, dir), tt.mode))
		}
		if got := repo.Readable(); got != tt.want {
			t.Errorf("%v with %v: readable is %t", tt.dirs, tt.mode, got)
		}
	}
	if err := repo.KeepPrivate(t.Context()); err != nil || repo.Readable() {
		t.Errorf("KeepPrivate: %v, readable is %t", err, repo.Readable())
	}
}
