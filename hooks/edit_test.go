package hooks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gitagent/test/gittest"
)

// files makes a directory with the given files, by relative path.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, name)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return dir
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	gittest.Must(t, err)
	return string(data)
}

// names lists the files in dir, to show that no temporary file is left.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	gittest.Must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func installAt(t *testing.T, path string) {
	t.Helper()
	edit, err := PlanInstall(path, entries)
	gittest.Must(t, err)
	gittest.Must(t, edit.Apply())
}

func removeAt(t *testing.T, path string) {
	t.Helper()
	edit, err := Plan(path, func(settings []byte) ([]byte, error) { return Remove(settings, entries) })
	gittest.Must(t, err)
	gittest.Must(t, edit.Apply())
}

func TestApply(t *testing.T) {
	t.Parallel()
	const before = "{\n\t\"model\": \"opus\"\n}"
	dir := files(t, map[string]string{"settings.json": before})
	path := filepath.Join(dir, "settings.json")

	edit, err := PlanInstall(path, entries)
	gittest.Must(t, err)
	if got := contents(t, path); got != before || !edit.Changes() || string(edit.Before) != before {
		t.Fatalf("planning wrote %q, or says %t, %q", got, edit.Changes(), edit.Before)
	}
	gittest.Must(t, edit.Apply())
	if got := contents(t, path); got != string(edit.After) || !strings.Contains(got, "git-agent-turn hook") {
		t.Errorf("wrote %s", got)
	}
	again, err := PlanInstall(path, entries)
	if err != nil || again.Changes() {
		t.Errorf("a second time there is something to write, or error %v", err)
	}
	removeAt(t, path)
	if got := contents(t, path); got != before {
		t.Errorf("removed: %q", got)
	}
	if got := names(t, dir); got != "settings.json" {
		t.Errorf("left behind: %s", got)
	}
}

func TestApplyMissing(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"other": ""})
	path := filepath.Join(dir, "repo", ".claude", "settings.json")
	removeAt(t, path)
	if got := names(t, dir); got != "other" {
		t.Errorf("removing from nothing made %s", got)
	}
	installAt(t, path)
	if got, want := contents(t, path), string(golden(t, "object", "installed"))+"\n"; got != want {
		t.Errorf("got %s", got)
	}
	// The mode is that of any other new file.
	if got, want := mode(t, path), mode(t, filepath.Join(dir, "other")); got != want {
		t.Errorf("mode %v, want %v", got, want)
	}
	removeAt(t, path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was made for our entries is still there: %v", err)
	}

	// What somebody else has added stays, and so does a file that a link leads to by now.
	installAt(t, path)
	text := strings.Replace(contents(t, path), "{", `{"model": "opus",`, 1)
	gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
	removeAt(t, path)
	if got := contents(t, path); !strings.Contains(got, "opus") || strings.Contains(got, "git-agent") {
		t.Errorf("removed: %q", got)
	}
	gittest.Must(t, os.Remove(path))
	installAt(t, path)
	moved := filepath.Join(dir, "moved")
	gittest.Must(t, os.Rename(path, moved))
	if err := os.Symlink(moved, path); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	removeAt(t, path)
	if got := contents(t, path); got != "{}\n\n" {
		t.Errorf("removed behind a link: %q", got)
	}
}

// A file as a whole is made, replaced and removed, with the link that leads to it, but not what is behind that.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"target": "mine"})
	path := filepath.Join(dir, "new", "plugin.js")
	for _, tt := range []struct {
		content []byte
		changes bool
	}{{nil, false}, {[]byte("one"), true}, {[]byte("one"), false}, {[]byte{}, true}, {nil, true}, {nil, false}} {
		edit, err := PlanFile(path, tt.content)
		gittest.Must(t, err)
		edit.Top = dir
		if edit.Changes() != tt.changes {
			t.Errorf("%q changes something: %t", tt.content, edit.Changes())
		}
		gittest.Must(t, edit.Apply())
		if tt.content != nil && contents(t, path) != string(tt.content) {
			t.Errorf("got %q, want %q", contents(t, path), tt.content)
		}
		if _, err := os.Lstat(filepath.Dir(path)); tt.content == nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("its directory, which is empty: %v", err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	edit, err := PlanFile(link, nil)
	if err == nil {
		err = edit.Apply()
	}
	if _, e := os.Lstat(link); err != nil || !errors.Is(e, fs.ErrNotExist) || contents(t, filepath.Join(dir, "target")) != "mine" {
		t.Errorf("a link: %v, %v", err, e)
	}
	// Changed since: it is somebody's.
	edit, err = PlanFile(path, []byte("ours"))
	gittest.Must(t, err)
	gittest.Must(t, edit.Apply())
	edit, err = PlanFile(path, nil)
	gittest.Must(t, err)
	gittest.Must(t, os.WriteFile(path, []byte("theirs"), 0o600))
	if err := edit.Apply(); !errors.Is(err, ErrChanged) || contents(t, path) != "theirs" {
		t.Errorf("changed in the meantime: %v", err)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	gittest.Must(t, err)
	return info.Mode()
}

func TestApplyKeepsMode(t *testing.T) {
	t.Parallel()
	for _, want := range []fs.FileMode{0o600, 0o640, 0o666, 0o400} {
		path := filepath.Join(files(t, map[string]string{"settings.json": "{}"}), "settings.json")
		gittest.Must(t, os.Chmod(path, want))
		installAt(t, path)
		if got := mode(t, path); got != want {
			t.Errorf("mode %v became %v", want, got)
		}
	}
}

func TestApplyFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"dotfiles/claude.json": "{}", "home/x": ""})
	link, target := filepath.Join(dir, "home", "settings.json"), filepath.Join(dir, "dotfiles", "claude.json")
	gittest.Must(t, os.Symlink(filepath.Join("..", "dotfiles", "claude.json"), link))
	installAt(t, link)
	if mode(t, link)&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if got := contents(t, target); !strings.Contains(got, "git-agent-turn hook") {
		t.Errorf("the target has %s", got)
	}
	if got := names(t, filepath.Join(dir, "dotfiles")) + " " + names(t, filepath.Join(dir, "home")); got != "claude.json settings.json x" {
		t.Errorf("left behind: %s", got)
	}

	gittest.Must(t, os.Remove(target))
	if _, err := PlanInstall(link, entries); err == nil || !strings.HasSuffix(err.Error(), "a symbolic link to nothing") {
		t.Errorf("dangling: got error %v", err)
	}
}

// TestApplyEmptied: no directory goes that the user may have had before, be it empty, and no link to one.
func TestApplyEmptied(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, top, gone string
	}{
		{"client/hooks/file", "client", "client/hooks"},
		{"client/hooks/file", "", ""},
		{"alone/file", "alone", ""},
		{"alone/file", "alone/", ""},
		{"client/linked/file", "client", ""},
	} {
		dir := files(t, map[string]string{"alone/file": "", "client/hooks/file": "", "dotfiles/file": ""})
		gittest.Must(t, os.Symlink(filepath.Join("..", "dotfiles"), filepath.Join(dir, "client", "linked")))
		edit, err := PlanFile(filepath.Join(dir, filepath.FromSlash(tt.name)), nil)
		gittest.Must(t, err)
		if tt.top != "" {
			edit.Top = dir + string(filepath.Separator) + filepath.FromSlash(tt.top)
		}
		gittest.Must(t, edit.Apply())
		for _, name := range []string{"alone", "client", "client/hooks", "client/linked", "dotfiles"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); (err != nil) != (name == tt.gone) {
				t.Errorf("%s removed, below %q: %s: %v", tt.name, tt.top, name, err)
			}
		}
	}
}

func TestApplyChanged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		before map[string]string
		change func(path string) error
	}{
		{"written", map[string]string{"settings.json": "{}"}, func(path string) error { return os.WriteFile(path, []byte(`{"a":1}`), 0o666) }},
		{"removed", map[string]string{"settings.json": "{}"}, os.Remove},
		{"made", nil, func(path string) error { return os.WriteFile(path, nil, 0o666) }},
	} {
		dir := files(t, tt.before)
		path := filepath.Join(dir, "settings.json")
		edit, err := PlanInstall(path, entries)
		gittest.Must(t, err)
		gittest.Must(t, tt.change(path))
		want, _ := os.ReadFile(path)
		left := names(t, dir)
		if err := edit.Apply(); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got error %v", tt.name, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, want) || names(t, dir) != left {
			t.Errorf("%s: the file has %q, the directory %s", tt.name, got, names(t, dir))
		}
	}
}

func TestApplyFails(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"file": "", "dir/x": "", "bad/settings.json": "{\n  // mine\n}"})
	for path, want := range map[string]string{
		"file/settings.json": "not a directory",
		"dir":                "not a file",
		"bad/settings.json":  "settings.json:2:3: not strict JSON: invalid character '/' looking for beginning of object key string",
	} {
		edit, err := PlanInstall(filepath.Join(dir, path), entries)
		if err == nil {
			err = edit.Apply()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got error %v, want %q", path, err, want)
		}
	}
	if got := contents(t, filepath.Join(dir, "bad", "settings.json")); got != "{\n  // mine\n}" {
		t.Errorf("refused, but changed to %q", got)
	}
	if _, err := PlanInstall(filepath.Join(dir, "bad", "settings.json"), entries); !errors.As(err, new(*SettingsError)) {
		t.Errorf("%v is not a SettingsError", err)
	}
}

// Several programs install at once, each retrying after the others' changes.
func TestApplyConcurrently(t *testing.T) {
	t.Parallel()
	const before = `{"model":"opus"}`
	dir := files(t, map[string]string{"settings.json": before})
	path := filepath.Join(dir, "settings.json")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				edit, err := PlanInstall(path, entries)
				if err == nil {
					err = edit.Apply()
				}
				if err == nil {
					return
				}
				if !errors.Is(err, ErrChanged) {
					t.Error(err)
					return
				}
			}
			t.Error("changed a hundred times")
		})
	}
	wg.Wait()
	if want, err := Install([]byte(before), entries); err != nil || contents(t, path) != string(want) {
		t.Errorf("got %s", contents(t, path))
	}
	if got := names(t, dir); got != "settings.json" {
		t.Errorf("left behind: %s", got)
	}
}
