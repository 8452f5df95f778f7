package qwen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(config, path)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("projects/-home-dev-repo/chats/aa-1.jsonl", "{}\n")
	write("projects/-home-dev-repo/chats/aa-1.runtime.json", "{}")
	write("projects/-home-dev-repo/chats/.aa-3.x.tmp", "{}")
	write("projects/-home-dev-repo/subagents/aa-1/agent-x.jsonl", "{}\n")
	write("projects/-home-dev-repo-old/chats/aa-2.jsonl", "{}\n")
	write("projects/-home-dev-repository/chats/bb.jsonl", "{}\n")
	ids := func(files []transcript.File, err error) (list string) {
		t.Helper()
		gittest.Must(t, err)
		for _, f := range files {
			list += f.Session + " "
		}
		return list
	}
	for prefix, want := range map[string]string{"": "aa-1 aa-2 bb ", "aa": "aa-1 aa-2 ", "aa-1": "aa-1 ", "c": ""} {
		if got := ids(Files(config, prefix)); got != want {
			t.Errorf("%q: got %s", prefix, got)
		}
	}
	for dir, want := range map[string]string{"/home/dev/repo": "aa-1 aa-2 ", "/home/dev": "aa-1 aa-2 bb ", "/home/de": ""} {
		if got := ids(History(config, []string{dir})); got != want {
			t.Errorf("%s: got %s", dir, got)
		}
	}
	for _, config := range []string{t.TempDir(), ""} {
		if got := ids(Files(config, "")); got != "" {
			t.Errorf("of nothing: %s", got)
		}
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	const registered = `{"schemaVersion":1,"pid":24922,"procStart":"38e08411-75a8-49ee-b9f8-013ef5cf71f3:1422159","pidNs":4026531836,` +
		`"sessionId":"11111111-1111-4111-8111-0000000000aa","cwd":"/home/dev/repo","kind":"tui","ipcToken":"not for us"}`
	for name, content := range map[string]string{
		"24922.json": registered, "24923.json": `{"pid":24923,"sess`, "24924.json": `{"pid":24924}`, "24925.json": registered, // copied
		"24926-0123abcd.json": registered,
	} {
		path := filepath.Join(config, "sessions", name)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	want := session.Registration{PID: 24922, Session: "11111111-1111-4111-8111-0000000000aa", Start: "1422159", Domain: "linux::pid:[4026531836]"}
	if got, err := Registered(config, 24922); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, pid := range []int{24923, 24924, 24925} {
		if got, err := Registered(config, pid); err == nil {
			t.Errorf("%d is %+v", pid, got)
		}
	}
	if _, err := Registered(config, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if all, err := Running(config); err != nil || !slices.Equal(all, []session.Registration{want}) {
		t.Errorf("running: %+v, %v", all, err)
	}
	if all, err := Running(t.TempDir()); err != nil || len(all) > 0 {
		t.Errorf("running of nothing: %+v, %v", all, err)
	}
}

// TestSides: a sub-agent's file is beside the session's, with a note about it. What it says is its own.
func TestSides(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	gittest.Must(t, os.CopyFS(filepath.Join(top, "subagents"), os.DirFS("testdata/subagents")))
	const id = "general-purpose-call_mock_23"
	chat := filepath.Join(top, "chats", "11111111-1111-4111-8111-0000000000cc.jsonl")
	file := filepath.Join(top, "subagents", "11111111-1111-4111-8111-0000000000cc", "agent-"+id+".jsonl")
	data, err := os.ReadFile(file)
	gittest.Must(t, err)
	want := []transcript.SubagentFile{{ID: id, Path: file, Type: "general-purpose", Call: "call_mock_23", Size: int64(len(data)), Over: true}}
	if got, err := Sides(chat, agenttest.Capture(t, "stop-hook"), nil, false); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for what, list := range map[string]func() ([]transcript.SubagentFile, error){
		"one that was read": func() ([]transcript.SubagentFile, error) {
			return Sides(chat, nil, map[string]int64{id: int64(len(data))}, true)
		},
		"a turn that tells of none": func() ([]transcript.SubagentFile, error) {
			return Sides(chat, agenttest.Capture(t, "rewound"), nil, false)
		},
		"another session": func() ([]transcript.SubagentFile, error) {
			return Sides(filepath.Join(top, "chats", "x.jsonl"), nil, nil, true)
		},
		"a file that is no session's": func() ([]transcript.SubagentFile, error) { return Sides("x", nil, nil, true) },
	} {
		if got, err := list(); err != nil || len(got) > 0 {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	s := transcript.Summarise(transcript.Own(Reader()), data)
	if s.Reply != "mock answer 26" || s.Tools["run_shell_command"] != 1 || !s.Answered || s.Tokens["mock-model"].Output == 0 && s.Output == 0 {
		t.Errorf("it says %+v", s)
	}
	if len(transcript.Turns(Reader(), data)) > 0 {
		t.Error("its lines are turns of the session's")
	}
}
