package gemini

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

const newID = "01a20fff-0000-4000-8000-000000000001"

var now = time.Date(2026, 11, 24, 9, 8, 7, 6e6, time.FixedZone("", 3600))

func cut(config string, foreign bool, segments ...[]byte) transcript.Cut {
	return transcript.Cut{Lines: agenttest.Lines(segments...), Foreign: foreign, Session: newID, At: now, Config: config, Dir: "/home/dev/wt"}
}

// said are the texts of a session's messages, and the calls of tools.
func said(file []byte) (list []string) {
	for line := range bytes.Lines(file) {
		m := gjson.ParseBytes(line)
		if m.Get("type").Str != "user" && m.Get("type").Str != "gemini" {
			continue
		}
		if s := texts(m.Get("content")); s != "" {
			list = append(list, s)
		}
		m.Get("toolCalls").ForEach(func(_, call gjson.Result) bool {
			list = append(list, call.Get("name").Str+" "+call.Get("args.command").Str)
			return true
		})
	}
	return list
}

// TestRebuild cuts a session with everything in it at every turn. What failed and what was taken back is not
// in it, nor is what was compressed.
func TestRebuild(t *testing.T) {
	t.Parallel()
	data := agenttest.Capture(t, "tui")
	one := []string{"T1 hello", "Turn one: writing a file.", "run_shell_command echo one > one.txt", "A1 done: wrote one.txt"}
	full := []string{"<state_snapshot>SNAP</state_snapshot>", "Got it. Thanks for the additional context!", "TFULL hello", "AFULL done"}
	two := append(slices.Clone(full), "T2 hello", "Turn two: two tools in one message.", "run_shell_command echo two > two.txt && cat two.txt", "run_shell_command ls", "A2 done: bash ran")
	resaid := append(append(slices.Clone(full), "T2 hello", "Turn two: two tools in one message.", "A2 done: bash ran"),
		"[System: You successfully executed a tool but returned an empty response. Please analyze the tool output and explain your progress or final answer.]", "mock: ok")
	for i, want := range [][]string{
		one,
		{"T1 hello", "Turn one: writing a file.", "A1 done: wrote one.txt"},
		full, two, nil, resaid,
		append(slices.Clone(resaid), "T3 hello", "A3 done: no file change, just words"),
		nil, append(slices.Clone(resaid), "T3 again", "A3 done: no file change, just words"),
	} {
		turn := transcript.Turns(Reader(), data)[i]
		for _, foreign := range []bool{false, true} {
			got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), foreign, data[:turn.Start], data[turn.Start:turn.End])))
			gittest.Must(t, err)
			file := got.Content()
			if list := said(file); want != nil && !slices.Equal(list, want) {
				t.Errorf("cut at %d:\ngot  %q\nwant %q", i+1, list, want)
			}
			if bytes.Contains(file, []byte("803193ae")) || bytes.Contains(file, []byte("session_context")) || bytes.Contains(file, []byte("/home/dev/gm")) {
				t.Errorf("cut at %d has something of its source: %s", i+1, file)
			}
			if foreign && bytes.Contains(file, []byte(`"thoughts"`)) {
				t.Errorf("cut at %d has thoughts of a stranger's", i+1)
			}
		}
	}
}

// The client forgets, when it resumes a session, a prompt that begins with what hooks have added.
func TestRebuildHooked(t *testing.T) {
	t.Parallel()
	got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), false, []byte(`{"id":"a","timestamp":"2026-11-23T18:57:50.429Z","type":"user","content":[{"text":"<hook_context>x</hook_context>\n\nT1 hello"},{"text":"<hook_context>y</hook_context>"}]}`+"\n"))))
	gittest.Must(t, err)
	if line := string(got.Lines[1]); line != `{"id":"a","timestamp":"2026-11-23T18:57:50.429Z","type":"user","content":[{"text":"T1 hello"}]}`+"\n" {
		t.Errorf("got %s", line)
	}
	if _, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), false, []byte(`{"id":"a","type":"user","content":"<hook_context>x</hook_context>"}`)))); !errors.Is(err, transcript.ErrEmpty) {
		t.Errorf("nothing said: %v", err)
	}
}

// What makes the client read files, and what a stranger could sign, is left out.
func TestRebuildForeign(t *testing.T) {
	t.Parallel()
	const line = `{"id":"a","type":"gemini","model":"m","extra":1,"content":[{"text":"t","thought":true},{"text":"x","thoughtSignature":"s"},{"fileData":{"fileUri":"f"}},{"functionCall":{"name":"n","args":{"a":{"b":1}},"x":1}}],"tokens":{"input":1}}`
	for foreign, want := range map[bool]string{
		false: `{"id":"a","type":"gemini","content":[{"text":"t","thought":true},{"text":"x","thoughtSignature":"s"},{"functionCall":{"name":"n","args":{"a":{"b":1}}}}],"tokens":{"input":1},"model":"m"}`,
		true:  `{"id":"a","type":"gemini","content":[{"text":"x"},{"functionCall":{"name":"n","args":{"a":{"b":1}}}}],"model":"m"}`,
	} {
		got, err := agenttest.Rebuilt(Rebuild(cut(t.TempDir(), foreign, []byte(line+"\n"+`{"id":"b","id":"c","type":"user","content":"twice"}`+"\n"))))
		gittest.Must(t, err)
		if file := strings.TrimSpace(string(bytes.Join(got.Lines[1:], nil))); file != want {
			t.Errorf("foreign %t: %s", foreign, file)
		}
	}
}

// TestClaim: the file is where the client looks for sessions of that directory.
func TestClaim(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	segment := agenttest.Capture(t, "two-turns")
	place := func(dir string) (string, *agenttest.File) {
		t.Helper()
		c := cut(config, false, segment)
		c.Dir = dir
		got, err := agenttest.Rebuilt(Rebuild(c))
		gittest.Must(t, err)
		if name := filepath.Base(got.Path); name != "session-2026-11-24T08-07-01a20fff.jsonl" {
			t.Errorf("it is called %s", name)
		}
		return filepath.Base(filepath.Dir(filepath.Dir(got.Path))), got
	}
	first, rebuilt := place("/home/dev/wt")
	gittest.Must(t, os.MkdirAll(filepath.Dir(rebuilt.Path), 0o700))
	gittest.Must(t, rebuilt.Adopt(t.Context()))
	if again, rebuilt := place("/home/dev/wt"); again != first || rebuilt.Adopt != nil {
		t.Errorf("the second time it is %s, not %s", again, first)
	}
	if other, _ := place("/home/dev/other"); other == first {
		t.Error("another directory has the same name")
	}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(config, path)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("tmp/zz/.project_root", "/home/dev/wt\n")
	write("projects.json", `{"projects":{"/home/dev/wt":"zz"}}`)
	if listed, rebuilt := place("/home/dev/wt"); listed != "zz" || rebuilt.Adopt != nil {
		t.Errorf("the client's list says zz, it is %s", listed)
	}
	write("projects.json", `{"projects":{"/home/dev/wt":"../../x"}}`)
	if listed, _ := place("/home/dev/wt"); listed != first {
		t.Errorf("a name that is none of a project gives %s", listed)
	}
}
