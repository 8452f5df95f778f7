package pi

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func ids(t *testing.T, files []transcript.File, err error) (list string) {
	t.Helper()
	gittest.Must(t, err)
	for _, f := range files {
		list += f.Session + " "
	}
	return list
}

func TestFiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	put := func(name, cwd string) {
		t.Helper()
		write(t, filepath.Join(config, "sessions", name), `{"type":"session","version":3,"id":"x","cwd":"`+cwd+`"}`+"\n")
	}
	put("--home-dev-r--/2026-11-27T02-07-04-345Z_a1.jsonl", "/home/dev/r")
	put("--home-dev-r--/2026-11-27T02-07-05-345Z_a2.jsonl", "/home/dev/r/sub")
	put("--home-dev-rx--/2026-11-27T02-07-06-345Z_b1.jsonl", "/home/dev/rx")
	put("--home-dev-r--/2026-11-27T02-07-07-345Z_a.b.jsonl", "/home/dev/r")
	put("--home-dev-r--/notes.jsonl", "/home/dev/r")
	write(t, filepath.Join(config, "sessions", "--home-dev-r--", "2026-11-27T02-07-08-345Z_c1.jsonl"), "[]\n")
	for prefix, want := range map[string]string{"": "a1 a2 c1 b1 ", "a": "a1 a2 ", "a2": "a2 ", "x": ""} {
		files, err := Files(config, prefix)
		if got := ids(t, files, err); got != want {
			t.Errorf("%q: got %s, want %s", prefix, got, want)
		}
	}
	for dir, want := range map[string]string{"/home/dev/r": "a1 a2 ", "/home/dev": "a1 a2 b1 ", "/home/dev/r/s": "", "/": "a1 a2 b1 "} {
		files, err := History(config, []string{dir})
		if got := ids(t, files, err); got != want {
			t.Errorf("%s: got %s, want %s", dir, got, want)
		}
	}
	files, err := Files(t.TempDir(), "")
	if got := ids(t, files, err); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

// TestMoved: the user may have all conversations in one directory.
func TestMoved(t *testing.T) {
	t.Parallel()
	config, at := t.TempDir(), time.Date(2026, 11, 27, 3, 7, 4, 345e6, time.FixedZone("", 3600))
	want := func(path string) {
		t.Helper()
		if got := placeOf(config, "/home/dev/a:b", "s", at); got != path {
			t.Errorf("got %s, want %s", got, path)
		}
	}
	want(filepath.Join(config, "sessions", "--home-dev-a-b--", "2026-11-27T02-07-04-345Z_s.jsonl"))
	elsewhere := t.TempDir()
	write(t, filepath.Join(config, "settings.json"), `{"sessionDir":"`+elsewhere+`"}`)
	want(filepath.Join(elsewhere, "2026-11-27T02-07-04-345Z_s.jsonl"))
	write(t, filepath.Join(elsewhere, "2026-11-27T02-07-04-345Z_s.jsonl"), `{"type":"session","cwd":"/home/dev/r"}`+"\n")
	files, err := History(config, []string{"/home/dev"})
	if got := ids(t, files, err); got != "s " {
		t.Errorf("got %s", got)
	}
	for env, want := range map[string]string{"/e": "/e", "~/e": "/home/dev/e", "e": elsewhere, "": elsewhere} {
		getenv := func(name string) string {
			return map[string]string{"HOME": "/home/dev", "PI_CODING_AGENT_SESSION_DIR": env}[name]
		}
		if got := moved(config, getenv); got != want {
			t.Errorf("%q: got %s, want %s", env, got, want)
		}
	}
}

// TestContinues: of each turn of a file in which a person has gone back.
func TestContinues(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "tree.jsonl")
	data := agenttest.Capture(t, "tree")
	turns := transcript.Turns(Reader(), data)
	for i, want := range []struct {
		id    string
		jumps bool
	}{{"", false}, {"", false}, {"", false}, {"", false}, {"78137758", true}} {
		at := int64(turns[i].Start)
		if i == 0 {
			at = 0
		}
		if id, jumps, err := Continues(path, at); id != want.id || jumps != want.jumps || err != nil {
			t.Errorf("turn %d: got %q, %t, %v, want %+v", i+1, id, jumps, err, want)
		}
	}
	if id, jumps, err := Continues(path, int64(len(data))); id != "" || jumps || err != nil {
		t.Errorf("of no turn: got %q, %t, %v", id, jumps, err)
	}
	// To before the first prompt, and to an entry that the file lacks.
	for _, parent := range []string{"null", `"x"`} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		again := `{"type":"message","id":"aaaaaaaa","parentId":` + parent + `,"message":{"role":"user","content":"again"}}` + "\n"
		write(t, path, string(data)+again)
		if id, jumps, err := Continues(path, int64(len(data))); id != "" || !jumps || err != nil {
			t.Errorf("after %s: got %q, %t, %v", parent, id, jumps, err)
		}
	}
}

// TestGoesOn: what a part of a file tells of a turn is what all of it tells.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		told := 0
		for _, turn := range transcript.Turns(Reader(), data) {
			from, last, _ := goesOn(data, int64(turn.Start), true)
			for begins := 0; begins < turn.Start; begins += 31 {
				near, before, known := goesOn(data[begins:], int64(turn.Start-begins), false)
				if !known {
					continue
				}
				told++
				if near != from || before != last {
					t.Fatalf("%s, turn %s from byte %d: it goes on from %q after %q, want %q after %q", name, turn.PromptID, begins, near, before, from, last)
				}
			}
		}
		if told == 0 && bytes.Count(data, []byte(`"role":"user"`)) > 2 {
			t.Errorf("%s: no part tells anything", name)
		}
	}
}
