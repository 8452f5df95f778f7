package recording

import (
	"slices"
	"testing"
)

func TestAliases(t *testing.T) {
	t.Parallel()
	mounts := parseMounts(`20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:5 / /proc rw - proc proc rw
22 20 8:1 /home/dev/secret /mnt/all rw - ext4 /dev/sda1 rw
23 20 8:1 /home/dev/secret/repo /in\040side rw - ext4 /dev/sda1 rw
24 20 8:2 /home/dev/secret /elsewhere rw - ext4 /dev/sdb1 rw
25 20 8:2 / /home/dev/disk rw - ext4 /dev/sdb1 rw
`)
	for path, want := range map[string][]string{
		"/in side/.git":            {"/home/dev/secret/repo/.git", "/mnt/all/repo/.git"},
		"/mnt/all/repo":            {"/home/dev/secret/repo", "/in side"},
		"/home/dev/secret/repo/.g": {"/mnt/all/repo/.g", "/in side/.g"},
		"/home/dev/open":           nil,
		"/elsewhere/x":             {"/home/dev/disk/home/dev/secret/x"},
		"/home/dev/disk/a":         nil,
		"/in sides/a":              nil,
	} {
		if got := aliases(mounts, path); !slices.Equal(got, want) {
			t.Errorf("%s is also %q, want %q", path, got, want)
		}
	}
}
