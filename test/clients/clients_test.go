//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	seen := &shapes{places: map[string]bool{}, table: map[string][]string{"user": {"isMeta"}, "diagnostics": {"files"}}}
	for _, text := range []string{
		`{"type":"user","message":{"role":"user","content":"hello"},"tools":"<elided 9 chars>","at":null}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]},"backups":{"a.txt":1}}`,
		`{"hook_event_name":"Stop","session_id":"s"}`,
		`{"type":"attachment","attachment":{"type":"file"}}`,
	} {
		seen.add(parsed(t, text))
	}
	for _, tt := range []struct {
		name, record string
		want         []string
	}{
		{"seen", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"y"},{"type":"text","text":"z"}]}}`, nil},
		{"null", `{"type":"user","at":null}`, nil},
		{"elided", `{"type":"user","tools":[{"name":"Bash"}]}`, nil},
		{"data as a name", `{"type":"user","backups":{"src/b.c":2}}`, nil},
		{"the model's", `{"type":"user","input":{"command":"ls"}}`, nil},
		{"in the table", `{"type":"user","isMeta":true}`, nil},
		{"in the table, in another place", `{"type":"user","message":{"role":"user","content":"","isMeta":true}}`, []string{"user.message.isMeta bool"}},
		{"an attachment of the table", `{"type":"attachment","attachment":{"type":"diagnostics","files":[]}}`, nil},
		{"a field", `{"type":"user","mood":"good"}`, []string{"user.mood string"}},
		{"a field with fields", `{"type":"user","mood":{"of":{"whom":1}}}`, []string{"user.mood object"}},
		{"another kind", `{"type":"user","message":{"role":"user","content":7}}`, []string{"user.message.content number"}},
		{"a block", `{"type":"user","message":{"role":"user","content":[{"type":"sound","data":""}]}}`, []string{"user.message.content[]{sound} object"}},
		{"a record", `{"type":"mood","value":1}`, []string{"mood object"}},
		{"an attachment", `{"type":"attachment","attachment":{"type":"mood"}}`, []string{"attachment.attachment{mood} object"}},
		{"an event", `{"hook_event_name":"Mood","session_id":"s"}`, []string{"Mood object"}},
		{"a field of a payload", `{"hook_event_name":"Stop","mood":1}`, []string{"Stop.mood number"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			news := map[string]*novelty{}
			seen.compare(parsed(t, tt.record), "TestIt", news)
			if got := slices.Sorted(maps.Keys(news)); !slices.Equal(got, tt.want) {
				t.Errorf("places = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestExample(t *testing.T) {
	t.Parallel()
	key := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	got := example(map[string]any{"a": "in /home/dev/repo/one.txt with " + key, "b": strings.Repeat("é", 200)})
	if want := `{"a":"in /... with [redacted:github-token]","b":"` + strings.Repeat("é", 200); got != string([]rune(want)[:117])+"..." {
		t.Errorf("example = %s", got)
	}
}

// What the repository has is read: of each client a conversation, and what it says is seen.
func TestFixtures(t *testing.T) {
	t.Parallel()
	top := filepath.Join("..", "..")
	for name, want := range map[string][]string{
		"claude":   {"Stop.last_assistant_message string", "ConfigChange object", "user.promptId string"},
		"codex":    {"Interrupt.turn_id string", "session_meta object"},
		"gemini":   {"AfterTool.tool_name string", "gemini.tokens object"},
		"opencode": {"info object"},
	} {
		seen, err := fixtures(top, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range want {
			if !seen.places[place] {
				t.Errorf("%s: %q is not among the places that test data has", name, place)
			}
		}
	}
	if seen, err := fixtures(top, "claude"); err != nil || !seen.knows("user.logicalParentUuid") || seen.knows("user.hookName") {
		t.Errorf("the table of what Rebuild keeps is read as %v (%v)", seen.table, err)
	}
	for name := range npm.Clients {
		if seen, err := fixtures(top, name); err != nil || len(seen.places) < 20 {
			t.Errorf("%s has no test data (%v)", name, err)
		}
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "payload-1"), []byte("{\"hook_event_name\":\"Stop\"}"), 0o666))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "2.jsonl"), []byte("{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":"), 0o666))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "3.json"), []byte(`{"client":"1","payload":{"hook_event_name":"Start"}}`), 0o666))
	var got []string
	gittest.Must(t, documents(dir, func(_ string, record any) { got = append(got, called(unwrap(record).(map[string]any))) }))
	slices.Sort(got)
	if want := []string{"Start", "Stop", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("documents = %q, want %q", got, want)
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	got := candidates([]string{"1.2.9", "1.10.0", "1.2.10", "2.0.0-beta.1", "1.9.0", "0.9.0", "0.8.0", "1.10.0-linux-x64"})
	if want := []string{"1.10.0", "1.9.0", "1.2.10", "1.2.9", "0.9.0"}; !slices.Equal(got, want) {
		t.Errorf("candidates = %q, want %q", got, want)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	results := tally([]line{
		{Action: "pass", Test: "TestMatrix/codex/fork", Elapsed: 2},
		{Action: "fail", Test: "TestMatrix/codex/turns", Elapsed: 1},
		{Action: "fail", Test: "TestMatrix/codex", Elapsed: 3},
		{Action: "fail", Test: "TestMatrix", Elapsed: 3},
		{Action: "skip", Test: "TestMatrix/gemini/turns"},
		{Action: "run", Test: "TestFork"},
		{Action: "pass", Test: "TestFork", Elapsed: 1.5},
		{Action: "fail"},
	})
	if r := results["codex"]; r.passed != 1 || !slices.Equal(r.failed, []string{"TestMatrix/codex/turns"}) || r.took != 3*time.Second {
		t.Errorf("codex: %+v", r)
	}
	if r := results["gemini"]; r.skipped != 1 {
		t.Errorf("gemini: %+v", r)
	}
	if r := results["claude"]; r.passed != 1 || len(r.failed) != 0 || r.took != 1500*time.Millisecond {
		t.Errorf("claude: %+v", r)
	}
}

func parsed(t *testing.T, text string) (record any) {
	t.Helper()
	gittest.Must(t, json.Unmarshal([]byte(text), &record))
	return record
}
