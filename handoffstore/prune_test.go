package handoffstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

func TestSurplus(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	a, b, c := artifact{"a", day(1), 10}, artifact{"b", day(2), 20}, artifact{"c", day(3), 30}
	for _, tt := range []struct {
		name   string
		before time.Time
		most   int64
		want   string
	}{
		{"no bounds", time.Time{}, 0, ""},
		{"old ones", day(2), 0, "a"},
		{"just large enough", time.Time{}, 60, ""},
		{"too large", time.Time{}, 59, "a"},
		{"only the newest", time.Time{}, 30, "b a"},
		{"not even that", time.Time{}, 29, "c b a"},
		{"both", day(3), 10, "c b a"},
	} {
		var names []string
		for _, a := range surplus([]artifact{b, a, c}, tt.before, tt.most) {
			names = append(names, a.name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %q goes, want %q", tt.name, got, tt.want)
		}
	}
}

func TestStamped(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"one-20260101-000000": true, "one-20260101-000000-2": true, "a-b-20260101-000000-100": true,
		"": false, "-": false, "one": false, "20260101-000000": false, "one-20260199-000000": false, "one-20260101-000000-": false,
		"one-20260101-000000-x": false, "one-20260101-000000-2222222": false, "one20260101-000000": false,
	} {
		if at, ok := stamped(name); ok != want || ok && at.Format(time.DateOnly) != "2026-01-01" {
			t.Errorf("%q: %v, %t", name, at, ok)
		}
	}
}

// TestPruneArtifacts: nothing goes but our own files.
func TestPruneArtifacts(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := PruneArtifacts(filepath.Join(data, "none"), time.Now(), 0); err != nil {
		t.Errorf("without any: %v", err)
	}
	elsewhere := t.TempDir()
	const old, again, mixed, fresh = "one-20260101-000000", "one-20260101-000000-2", "two-20260102-000000", "one-20261120-000000"
	for _, path := range []string{
		old + "/" + docFile, old + "/" + patchFile, again + "/" + recordFile, mixed + "/" + docFile, mixed + "/mine", fresh + "/" + docFile,
		"mine-20260101/" + docFile, "three-20260199-000000/" + docFile, "four-20260101-000000/mine",
	} {
		write(t, filepath.Join(data, "handoffs", path))
	}
	write(t, filepath.Join(elsewhere, docFile))
	for link, to := range map[string]string{"link-20260101-000000": elsewhere, fresh + "/" + patchFile: filepath.Join(elsewhere, docFile)} {
		gittest.Must(t, os.Symlink(to, filepath.Join(data, "handoffs", link)))
	}
	gittest.Must(t, PruneArtifacts(data, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 0))
	var left []string
	err := fs.WalkDir(os.DirFS(filepath.Join(data, "handoffs")), ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			left = append(left, path)
		}
		return err
	})
	want := []string{
		"four-20260101-000000/mine", "link-20260101-000000", "mine-20260101/" + docFile, fresh + "/" + docFile, fresh + "/" + patchFile,
		"three-20260199-000000/" + docFile, mixed + "/mine",
	}
	if slices.Sort(want); err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q (%v), want %q", left, err, want)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, docFile)); err != nil {
		t.Errorf("through a link: %v", err)
	}
	if _, err := os.Stat(filepath.Join(data, "handoffs", old)); err == nil {
		t.Error("an empty directory stays")
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	gittest.Must(t, os.WriteFile(path, []byte("text"), 0o600))
}
