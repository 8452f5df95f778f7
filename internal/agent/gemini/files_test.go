package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestHistory: projects of older clients are hashes, and their conversations documents.
func TestHistory(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(config, "tmp", path)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	const (
		head    = `{"sessionId":%q,"projectHash":"x"}` + "\n"
		message = `{"id":"m","type":"user","content":"x"}` + "\n"
		old     = "{\n  \"sessionId\": %q,\n  \"messages\": [\n    {\n      \"id\": \"m\",\n      \"type\": \"user\"\n    }\n  ]\n}"
		hash    = "c20e91a75da9c22e4b5d34eb1a18ac1cd3c00b7ed15b0a2ba1ed2eb9ddc71c9a" // of nothing here
	)
	sum := sha256.Sum256([]byte("/home/dev/gm"))
	ours := hex.EncodeToString(sum[:]) + "/chats/session-2025-10-0"
	write(ours+"1T01-49-aaaa0001.json", fmt.Sprintf(old, "aaaa0001-document"))
	write(ours+"2T01-49-aaaa0002.json", fmt.Sprintf(old, "aaaa0002-resumed"))
	write(ours+"2T01-49-aaaa0002.jsonl", fmt.Sprintf(head, "aaaa0002-resumed")+message)
	write(ours+"3T01-49-aaaa0003.json", `{"sessionId": "aaaa0003-nothing", "messages": []}`)
	write(ours+"4T01-49-aaaa0004.json", `{"sessionId": "aaaa0004-cut", "mess`)
	write(ours+"5T01-49-aaaa0005.jsonl.gz", "x")
	write(ours+"6T01-49-aaaa0006.jsonl", "x\n")
	write(ours+"6T01-49-aaaa0007.jsonl", fmt.Sprintf(head[:len(head)-2]+`,"kind":"subagent"}`+"\n", "aaaa0007-sub")+message)
	write(ours+"7T01-49-aaaa0008.jsonl", fmt.Sprintf(head, "aaaa0008-twice")+message)
	write(ours+"7T01-51-aaaa0008.jsonl", fmt.Sprintf(head, "aaaa0008-twice")+message+message)
	write(hash+"/chats/session-2025-10-01T01-49-bbbb0001.json", fmt.Sprintf(old, "bbbb0001-elsewhere"))
	write("gm-feature/.project_root", "/home/dev/gm-feature\n")
	write("gm-feature/chats/session-2026-11-22T01-49-cccc0001.jsonl", fmt.Sprintf(head, "cccc0001-beside")+message)
	write("gmx/.project_root", "/home/dev/gmx")
	write("gmx/chats/session-2026-11-22T01-49-cccc0002.jsonl", fmt.Sprintf(head, "cccc0002-other")+message)
	files, err := History(config, []string{"/home/dev/gm"})
	gittest.Must(t, err)
	var got []string
	for _, f := range files {
		line := f.Session + " in " + f.Dir
		if f.Err != nil {
			line = f.Session + ": " + f.Err.Error()[strings.LastIndex(f.Err.Error(), `": `)+3:]
		}
		got = append(got, line)
	}
	want := []string{
		"aaaa0001-document in /home/dev/gm", "aaaa0002-resumed in /home/dev/gm", "aaaa0008-twice in /home/dev/gm", "cccc0001-beside in /home/dev/gm-feature",
		"session-2025-10-04T01-49-aaaa0004: it is damaged: it is no object in JSON",
		"session-2025-10-05T01-49-aaaa0005: it is compressed, and not by the client: decompress it and import again",
		"session-2025-10-06T01-49-aaaa0006: it is damaged: it does not begin with a session",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if at := files[2].Path; !strings.Contains(at, "01-51") {
		t.Errorf("of two files it is %s", at)
	}
}

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
