package copilot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestFiles: a session is a directory, with a file once something was said in it.
func TestFiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(id, text string) {
		t.Helper()
		gittest.Must(t, os.MkdirAll(filepath.Dir(Path(config, id)), 0o700))
		gittest.Must(t, os.WriteFile(Path(config, id), []byte(text), 0o600))
	}
	began := func(dir string) string {
		return `{"type":"session.start","data":{"context":{"cwd":"` + dir + `"}},"id":"a"}` + "\n"
	}
	write("aa1", began("/home/dev/repo"))
	write("aa2", began("/home/dev/repo/sub")+"{}\n")
	write("ab3", began("/home/dev/other"))
	write("ab4", "{}")
	write("ab6", `{"type":"session.start","data":{"context":{"cwd":"/home/dev/feature","headCommit":"c"}},"id":"a"}`+"\n")
	write(".locks", began("/home/dev/repo"))
	gittest.Must(t, os.Mkdir(filepath.Join(config, sessions, "aa5"), 0o700))
	gittest.Must(t, os.Symlink(Path(config, "aa1"), Path(config, "aa5")))
	ids := func(files []transcript.File, err error) (ids []string) {
		t.Helper()
		gittest.Must(t, err)
		for _, f := range files {
			if f.Path != Path(config, f.Session) || f.Size == 0 {
				t.Errorf("a file is %+v", f)
			}
			ids = append(ids, f.Session)
		}
		return ids
	}
	if got := ids(Files(config, "aa")); !slices.Equal(got, []string{"aa1", "aa2"}) {
		t.Errorf("files = %q", got)
	}
	if got := ids(History(config, []string{"/home/dev/repo", "/x"})); !slices.Equal(got, []string{"aa1", "aa2", "ab6"}) {
		t.Errorf("history = %q", got)
	}
	if got := ids(Files(filepath.Join(config, "none"), "")); got != nil {
		t.Errorf("without sessions: %q", got)
	}
}
