package opencode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// delegates is a message that calls subagents, as the client has it; failed is one that did not answer.
const (
	delegates = `{"id":"msg_2","info":{"id":"msg_2","role":"assistant","finish":"tool-calls"},"parts":[{"type":"tool","tool":"task","callID":"c1","state":{"status":"completed","input":{"subagent_type":"general"},"metadata":{"parentSessionId":"ses_1","sessionId":"ses_a"}}},` +
		`{"type":"tool","tool":"task","callID":"c2","state":{"status":"error","error":"no","metadata":{"parentSessionId":"ses_1","sessionId":"ses_b"}}}]}` + "\n"
	nests = `{"id":"msg_4","info":{"id":"msg_4","role":"assistant"},"parts":[{"type":"tool","tool":"task","callID":"c3","state":{"status":"completed","metadata":{"sessionId":"ses_c"}}}]}` + "\n"
)

func side(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestSides: which files are those of subagents, and what is said of them.
func TestSides(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked := `{"id":"msg_3","info":{"id":"msg_3","role":"user","agent":"general"},"parts":[]}` + "\n"
	for name, text := range map[string]string{
		"ses_1.jsonl": delegates, "ses_1.1.jsonl": delegates, "ses_2.jsonl": delegates,
		"ses_1/ses_a.jsonl": asked + nests, "ses_1/ses_b.jsonl": asked, "ses_1/ses_c.jsonl": "torn",
		"ses_1/ses_a.1.jsonl": asked, "ses_1/x": asked, "ses_1/ses_d.jsonl/x": asked,
	} {
		side(t, dir, name, text)
	}
	file := func(id, kind, call string, size int) transcript.SubagentFile {
		return transcript.SubagentFile{ID: id, Path: filepath.Join(dir, "ses_1", id+".jsonl"), Type: kind, Call: call, Size: int64(size)}
	}
	a, b, c := file("ses_a", "general", "c1", len(asked+nests)), file("ses_b", "general", "c2", len(asked)), file("ses_c", "", "c3", len("torn"))
	uncalled := func(f transcript.SubagentFile) transcript.SubagentFile { f.Call = ""; return f }
	for _, tt := range []struct {
		name, path, segment string
		read                map[string]int64
		running             bool
		want                []transcript.SubagentFile
	}{
		{name: "the turn calls some", path: "ses_1.jsonl", segment: delegates, want: []transcript.SubagentFile{a, b, c}},
		{name: "in a file that goes on", path: "ses_1.1.jsonl", segment: delegates, want: []transcript.SubagentFile{a, b, c}},
		{name: "one was read", path: "ses_1.jsonl", segment: delegates, read: map[string]int64{"ses_a": a.Size, "ses_c": 1}, want: []transcript.SubagentFile{b, uncalled(c)}},
		{name: "one still runs", path: "ses_1.jsonl", running: true, want: []transcript.SubagentFile{uncalled(a), uncalled(b), c}},
		{name: "the turn has none", path: "ses_1.jsonl", segment: strings.ReplaceAll(delegates, "sessionId", "sessionID")},
		{name: "none was kept", path: "ses_2.jsonl", segment: delegates},
		{name: "hostile", path: "ses_1.jsonl", segment: strings.NewReplacer("ses_a", "../x", "ses_b", "").Replace(delegates) + `{"parts":"sessionId"}` + "\n" + `"sessionId"`},
	} {
		got, err := Sides(filepath.Join(dir, tt.path), []byte(tt.segment), tt.read, tt.running)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
}

// TestSidesLinked: a symbolic link in the place of the directory or of a file in it is not followed, and told.
func TestSidesLinked(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"ses_1", "ses_1/ses_a.jsonl"} {
		dir, other := t.TempDir(), filepath.Join(t.TempDir(), "moved")
		side(t, dir, "ses_1/ses_a.jsonl", "12345")
		path := filepath.Join(dir, filepath.FromSlash(place))
		gittest.Must(t, os.Rename(path, other))
		if err := os.Symlink(other, path); err != nil {
			t.Skip(err)
		}
		if got, err := Sides(filepath.Join(dir, "ses_1.jsonl"), []byte(delegates), nil, false); len(got) != 0 || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("a link in the place of %s: %+v, %v", place, got, err)
		}
	}
}
