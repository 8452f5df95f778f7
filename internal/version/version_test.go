package version

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestOf(t *testing.T) {
	t.Parallel()
	const checkout = "$Format:%H$\n"
	const hash = "0123456789abcdef0123456789abcdef01234567"
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "true"}}
	for _, tt := range []struct {
		archived string
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{checkout, "v1.2.3", nil, "v1.2.3"},
		{checkout, "v0.0.0-20261120120000-0123456789ab", vcs, "v0.0.0-20261120120000-0123456789ab"},
		{checkout, "(devel)", nil, "devel"},
		{checkout, "", nil, "devel"},
		{checkout, "(devel)", vcs, "devel-0123456789ab+dirty"},
		{checkout, "(devel)", vcs[:1], "devel-0123456789ab"},
		{hash + " v1.2.3\n", "(devel)", nil, "v1.2.3"},
		{hash + " v1.2.3-4-g0123456789ab\r\n", "(devel)", nil, "v1.2.3-4-g0123456789ab"},
		{hash + " v1.2.3\n", "v0.0.0-20261120120000-aaaaaaaaaaaa", vcs, "v1.2.3"}, // unpacked in somebody's repository
		{hash + " \n", "(devel)", nil, "devel-0123456789ab"},
		{"", "(devel)", nil, "devel"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: tt.main}, Settings: tt.settings}
		if got := of(tt.archived, info); got != tt.want {
			t.Errorf("of(%q, %q, %v) = %q, want %q", tt.archived, tt.main, tt.settings, got, tt.want)
		}
	}
}

// TestArchived has git fill the file in, on a tag, after one, and where there is none.
func TestArchived(t *testing.T) {
	t.Parallel()
	if !strings.HasPrefix(archived, "$") {
		t.Skip("this tree is from git archive, which has filled the file in")
	}
	repo := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = repo, gittest.Env(t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	attributes, err := os.ReadFile("../../.gitattributes")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{".gitattributes": string(attributes), "internal/version/archived.txt": archived} {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	check := func(want string) {
		t.Helper()
		// A tar has the file's bytes as they are.
		tar := git("archive", "HEAD", "internal/version/archived.txt")
		i := strings.Index(tar, strings.TrimSpace(git("rev-parse", "HEAD"))+" ")
		if i < 0 {
			t.Fatalf("git archive did not fill in the commit: %q", tar)
		}
		line, _, _ := strings.Cut(tar[i:], "\n")
		if got := of(line+"\n", new(debug.BuildInfo)); got != want {
			t.Errorf("git made %q of the file: version %s, want %s", line, got, want)
		}
	}
	head := func() string { return strings.TrimSpace(git("rev-parse", "--short=12", "HEAD")) }
	git("tag", "other")
	check("devel-" + head())
	git("tag", "v1.2.3")
	check("v1.2.3")
	git("commit", "-q", "--allow-empty", "-m", "second")
	check("v1.2.3-1-g" + head())
	git("tag", "-a", "-m", "a release", "v1.3.0")
	check("v1.3.0")
}
