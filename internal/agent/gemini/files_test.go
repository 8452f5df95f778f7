package gemini

import (
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestFiles: of a session that was resumed, a second file has a head and nothing else.
func TestFiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(config, "tmp", path)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	head := func(id string) string {
		return `{"sessionId":"` + id + `","projectHash":"x"}` + "\n" + `{"$set":{"messages":[]}}` + "\n"
	}
	const message = `{"id":"m","type":"user","content":"x"}` + "\n"
	write("gm/.project_root", "/home/dev/gm")
	write("gm/chats/session-2026-11-22T01-49-dce4c8cb.jsonl", head("dce4c8cb-d598")+message)
	write("gm/chats/session-2026-11-22T01-51-dce4c8cb.jsonl", head("dce4c8cb-d598"))
	write("gm/chats/session-2026-11-22T01-52-dce4c8cc.jsonl", head("dce4c8cc-d598")+message)
	write("gm/chats/session-2026-11-22T01-53-x.jsonl", head("../x")+message)
	write("gm/chats/dce4c8cc-d598/sub.jsonl", head("sub")+message)
	write("gm-1/.project_root", "/home/dev/gmx")
	write("gm-1/chats/session-2026-11-22T01-50-dce4c8cd.jsonl", head("dce4c8cd-d598")+message)
	write("gm-2/logs/x", "")
	ids := func(files []transcript.File, err error) (list string) {
		t.Helper()
		gittest.Must(t, err)
		for _, f := range files {
			list += f.Session + " "
		}
		return list
	}
	for prefix, want := range map[string]string{
		"": "dce4c8cb-d598 dce4c8cc-d598 dce4c8cd-d598 ", "dce4c8cb-d598": "dce4c8cb-d598 ", "dce4c8cb-e": "", "dce4c8cd": "dce4c8cd-d598 ", "a": "",
	} {
		if got := ids(Files(config, prefix)); got != want {
			t.Errorf("%q: got %s", prefix, got)
		}
	}
	for dir, want := range map[string]string{
		"/home/dev/gm": "dce4c8cb-d598 dce4c8cc-d598 ", "/home/dev": "dce4c8cb-d598 dce4c8cc-d598 dce4c8cd-d598 ", "/home/de": "",
	} {
		if got := ids(History(config, []string{dir})); got != want {
			t.Errorf("%s: got %s", dir, got)
		}
	}
	if got := ids(Files(t.TempDir(), "")); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}
