package droid

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestFiles: a session is a file in the directory of its project.
func TestFiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(project, name, text string) {
		t.Helper()
		dir := filepath.Join(config, sessions, project)
		gittest.Must(t, os.MkdirAll(dir, 0o700))
		gittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	start := func(dir string) string { return `{"type":"session_start","cwd":"` + dir + `"}` + "\n" }
	write("-home-dev-repo", "aa1.jsonl", start("/home/dev/repo"))
	write("-home-dev-repo", "aa1.settings.json", "{}")
	write("-home-dev-repo-sub", "aa2.jsonl", start("/home/dev/repo/sub")+"{}\n")
	write("-home-dev-other", "ab3.jsonl", start("/home/dev/other"))
	write("-home-dev-other", "ab4.jsonl", "{}")
	write("-home-dev-other", "a b.jsonl", start("/home/dev/repo"))
	ids := func(files []transcript.File, err error) (ids []string) {
		t.Helper()
		gittest.Must(t, err)
		for _, f := range files {
			if filepath.Base(f.Path) != f.Session+extension || f.Size == 0 {
				t.Errorf("a file is %+v", f)
			}
			ids = append(ids, f.Session)
		}
		slices.Sort(ids)
		return ids
	}
	if got := ids(Files(config, "aa")); !slices.Equal(got, []string{"aa1", "aa2"}) {
		t.Errorf("files = %q", got)
	}
	if got := ids(History(config, []string{"/home/dev/repo", "/x"})); !slices.Equal(got, []string{"aa1", "aa2"}) {
		t.Errorf("history = %q", got)
	}
	if got := ids(Files(filepath.Join(config, "none"), "")); got != nil {
		t.Errorf("without sessions: %q", got)
	}
}
