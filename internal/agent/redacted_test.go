package agent

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gitagent/internal/redact"
	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

// TestForkAfterRedaction: rules of a user's own that take what holds a conversation together wherever
// else it stands leave one that a client can go on with: as many lines, who speaks in each, which tools
// are called, which result is whose.
func TestForkAfterRedaction(t *testing.T) {
	t.Parallel()
	rules := redact.New(redact.Own{
		Patterns: []string{`\b[0-9a-f]{4,}\b`, `\d+`, `\b(?:msg|toolu|prt|ses|call|req|resp|rs|fco)_\w+`},
		Names: strings.Fields("user assistant developer message text tool use result function call output event response item meta completed started " +
			"success gemini info Bash Edit Read Write exec command shell run main mock claude opus gpt id role name usage tokens time " +
			"input payload parts messages toolCalls attachment uuid version timestamp sessionId stop end model build"),
	})
	gittest.Must(t, rules.Err())
	structure := regexp.MustCompile(`"(?:type|role|id|call_id|callID|tool_use_id|uuid|parentUuid|parentID|messageID|name|tool|status|finish|model|modelID|providerID|timestamp|version)":"[^"]*"`)
	for _, a := range All() {
		dir := map[string]string{"claude-code": "claude", "gemini-cli": "gemini", "copilot-cli": "copilot", "qwen-code": "qwen", "droid": "droid"}[a.Name]
		if dir == "" {
			dir = a.Name
		}
		files, err := filepath.Glob(dir + "/testdata/*.jsonl")
		gittest.Must(t, err)
		if a == Default() {
			more, err := filepath.Glob("../../testdata/transcripts/*.jsonl")
			gittest.Must(t, err)
			files = append(files, more...)
		}
		if len(files) == 0 {
			t.Errorf("%s has no conversations", a.Name)
		}
		for _, path := range files {
			raw, err := os.ReadFile(path)
			gittest.Must(t, err)
			clean, err := rules.JSONLines(raw, Structure)
			gittest.Must(t, err)
			if n := bytes.Count(clean, []byte("[redacted:")); n == 0 {
				t.Errorf("%s: nothing was redacted", path)
			}
			was, is := transcript.Summarise(a.Reader(), raw), transcript.Summarise(a.Reader(), clean)
			if !maps.Equal(was.Tools, is.Tools) || was.Model != is.Model || was.Output != is.Output {
				t.Errorf("%s: tools %v of %s, %d tokens became %v of %s, %d", path, was.Tools, was.Model, was.Output, is.Tools, is.Model, is.Output)
			}
			rebuild := func(segment []byte) []byte {
				got, err := agenttest.Rebuilt(a.Rebuild(transcript.Cut{
					Lines: agenttest.Lines(segment), Session: "01a20fff-0000-7000-8000-000000000001",
					At: time.Unix(1795220369, 0), Config: t.TempDir(), Dir: "/home/dev/wt",
				}))
				if err != nil {
					t.Logf("%s: %v", path, err)
					return nil
				}
				return got.Content()
			}
			before, after := bytes.Split(rebuild(raw), []byte("\n")), bytes.Split(rebuild(clean), []byte("\n"))
			if len(before) != len(after) {
				t.Errorf("%s: %d lines became %d", path, len(before), len(after))
				continue
			}
			for i := range before {
				w, g := structure.FindAll(kept(before[i]), -1), structure.FindAll(kept(after[i]), -1)
				if !bytes.Equal(bytes.Join(w, nil), bytes.Join(g, nil)) {
					t.Errorf("%s: line %d had %s, has %s", path, i+1, w, g)
					break
				}
			}
		}
	}
}

// kept returns a line without what tools were given and have returned, and without ids that are made anew.
func kept(line []byte) []byte {
	line = regexp.MustCompile(`"(?:msg|prt)_1fb78[^"]*"`).ReplaceAll(line, []byte(`"new"`))
	return regexp.MustCompile(`"(?:input|toolUseResult|args|arguments|response|metadata|changes|provenance|permission_profile|sandbox_policy)":\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}`).ReplaceAll(line, nil)
}
