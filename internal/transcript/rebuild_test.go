package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

const (
	oldID = "11111111-1111-4111-8111-111111111111"
	newID = "22222222-2222-4222-8222-222222222222"
)

// rebuild passes the conversation to Rebuild in two segments and returns the whole file.
func rebuild(conversation []byte, session string) ([]byte, error) {
	half := bytes.IndexByte(conversation, '\n') + 1
	file, err := transcript.Rebuild([][]byte{conversation[:half], conversation[half:]}, session)
	return bytes.Join(file, nil), err
}

func TestRebuild(t *testing.T) {
	t.Parallel()
	const (
		user      = `{"parentUuid":null,"type":"user","uuid":"u1","sessionId":"` + oldID + `","cwd":"/home/dev/repo","message":{"role":"user","content":"say \"sessionId\":\"` + oldID + `\" \u00e9 <b>"}}`
		assistant = `{ "type" : "assistant", "uuid":"a1","parentUuid":"u1",  "message":{"content":[]},"sessionId": "` + oldID + `" }`
		content   = `{"type":"content-replacement","sessionId":"` + oldID + `","replacements":[{"id":"t1"}]}`
	)
	said := func(line string) string {
		return strings.ReplaceAll(line, `"sessionId":"`+oldID+`","cwd"`, `"sessionId":"`+newID+`","cwd"`)
	}
	answered := strings.ReplaceAll(assistant, oldID, newID)
	for _, tt := range []struct {
		name string
		in   string
		want string
		err  error
	}{
		{name: "only the record's own session id changes", in: user + "\n" + assistant + "\n", want: said(user) + "\n" + answered + "\n"},
		{
			name: "what belongs to the old session is left", want: said(user) + "\n",
			in: user + "\n" +
				`{"type":"worktree-state","sessionId":"` + oldID + `","worktreeSession":{"worktreePath":"/home/dev/wt"}}` + "\n" +
				`{"type":"relocated","sessionId":"` + oldID + `"}` + "\n" +
				`{"type":"queue-operation","operation":"enqueue","sessionId":"` + oldID + `"}` + "\n" +
				`{"type":"last-prompt","leafUuid":"u1"}` + "\n" +
				`{"type":"api-request","parent":"parentUuid"}` + "\n" +
				`{"type":"file-history-snapshot","snapshot":{"parentUuid":"x"}}` + "\n",
		},
		{
			name: "what stands in for large outputs stays", in: user + "\n" + content + "\n",
			want: said(user) + "\n" + strings.ReplaceAll(content, oldID, newID) + "\n",
		},
		{
			name: "torn, empty and garbage lines are left", want: said(user) + "\n",
			in: "\n\x00\x00\nnot json\n[1]\n" + `{"type":"user","parentUuid":` + "\n" + user + "\n\n" + assistant[:40],
		},
		{name: "a last line without its end is whole", in: user, want: said(user) + "\n"},
		{
			name: "a chain record without a session id", in: user + "\n" + `{"parentUuid":"u1","type":"attachment","uuid":"x"}` + "\n",
			want: said(user) + "\n" + `{"parentUuid":"u1","type":"attachment","uuid":"x"}` + "\n",
		},
		{
			name: "a line that opens brackets without end is left", want: said(user) + "\n",
			in: user + "\n" + `{"parentUuid":"u1","x":` + strings.Repeat("[", 5_000_000) + "\n",
		},
		{name: "nothing at all", err: transcript.ErrEmpty},
		{name: "nothing but garbage", in: "garbage\n", err: transcript.ErrEmpty},
		{name: "nobody has said anything", in: `{"parentUuid":null,"type":"attachment","uuid":"x","sessionId":"` + oldID + `"}` + "\n", err: transcript.ErrEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := []byte(tt.in)
			got, err := rebuild(in, newID)
			if !errors.Is(err, tt.err) {
				t.Fatalf("Rebuild: %v, want %v", err, tt.err)
			}
			if string(got) != tt.want {
				t.Errorf("Rebuild =\n%s, want\n%s", got, tt.want)
			}
			if string(in) != tt.in {
				t.Error("Rebuild has changed what it was given")
			}
		})
	}
}

// The real client's file: every record of the conversation is there, in order, and only the
// session's id differs.
func TestRebuildReal(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in testdata: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rebuild(data, newID)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rest := got
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			if !gjson.GetBytes(line, "parentUuid").Exists() {
				continue
			}
			id := gjson.GetBytes(line, "sessionId").String()
			want := strings.Replace(string(line), `"sessionId":"`+id+`"`, `"sessionId":"`+newID+`"`, 1)
			fresh, after, _ := bytes.Cut(rest, []byte("\n"))
			if string(fresh) != want {
				t.Fatalf("%s: a record is\n%.300s, want\n%.300s", name, fresh, want)
			}
			rest = after
		}
		for line := range bytes.Lines(rest) {
			if gjson.GetBytes(line, "type").String() != "content-replacement" {
				t.Errorf("%s: there is more: %.200s", name, line)
			}
		}
	}
}

func FuzzRebuild(f *testing.F) {
	f.Add([]byte(`{"parentUuid":null,"type":"user","uuid":"u1","sessionId":"x"}`+"\n"+`{"type":"worktree-state"}`), newID)
	f.Add([]byte(`{"parentUuid":null,"type":"user","sessionId":{"a":1},"sessionId":"b"}`), `"`)
	f.Add([]byte(`{"parentUuid":null,"type":"user","session\u0049d":"b"}`), newID)
	f.Fuzz(func(t *testing.T, data []byte, session string) {
		got, err := rebuild(data, session)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(got, []byte("\n")) {
			t.Fatalf("the file does not end with a line: %q", got)
		}
		if !json.Valid(got) && json.Valid(data) {
			t.Fatalf("a record is no longer JSON: %q", got)
		}
		again, err := rebuild(got, session)
		if json.Valid(data) && (err != nil || !bytes.Equal(again, got)) {
			t.Fatalf("once more gives %q, %v, want %q", again, err, got)
		}
	})
}

func TestPath(t *testing.T) {
	t.Parallel()
	long := "/home/dev/" + strings.Repeat("a", 190)
	for _, tt := range []struct {
		name string
		dir  string
		want string
	}{
		{"letters and digits stay", "/home/dev/Repo-1", "-home-dev-Repo-1"},
		{"everything else is a dash", "/home/dev/my repo_v1.2@x", "-home-dev-my-repo-v1-2-x"},
		{"a character is a dash", "/home/dev/日本", "-home-dev---"},
		{"one of two UTF-16 units is two", "/home/dev/👍", "-home-dev---"},
		{"accents", "/home/dev/é", "-home-dev--"},
		{"200 units are not cut", long, "-home-dev-" + strings.Repeat("a", 190)},
		// The hash was computed with: h = 0; for each UTF-16 unit u: h = int32(31*h + u).
		{"201 are", long + "b", "-home-dev-" + strings.Repeat("a", 190) + "-barng9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := filepath.Join("/home/dev/.claude", "projects", tt.want, newID+".jsonl")
			if got := transcript.Path("/home/dev/.claude", tt.dir, newID); got != want {
				t.Errorf("Path(%q) = %s, want %s", tt.dir, got, want)
			}
		})
	}
}
