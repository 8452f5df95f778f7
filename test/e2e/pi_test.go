//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
)

// pi is the client of that name.
type pi struct{}

func (pi) program() string                       { return "pi" }
func (pi) agent() string                         { return "pi" }
func (pi) service() (script, scenario string)    { return "mock-chat.mjs", "scenario-bash.json" }
func (pi) mission(r *rig, session string) string { return passive(session) }
func (pi) stored(segment string) string          { return segment }
func (pi) escape() []string                      { return []string{"Escape"} }
func (pi) stops() int                            { return 0 }
func (pi) quit() string                          { return "/quit" }
func (pi) model() string                         { return "gpt-mock" }
func (pi) refused() string                       { return "failed" }
func (pi) launches() bool                        { return false }

func (pi) dir(r *rig) string        { return filepath.Join(r.home, ".pi", "agent") }
func (c pi) settings(r *rig) string { return filepath.Join(c.dir(r), "settings.json") }

// limits are in our extension, since the client has none.
func (c pi) limits(r *rig) (string, *regexp.Regexp, string) {
	return filepath.Join(c.dir(r), "extensions", "git-agent.js"), regexp.MustCompile(`\(pause\[name\] \|\| 60\) \* 1000`), "3_600_000"
}

func (pi) env(r *rig) []string {
	return []string{"PI_OFFLINE=1", "E2E_HOOK=" + r.witness.command}
}

func (c pi) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	models, err := json.Marshal(map[string]any{"providers": map[string]any{"mock": map[string]any{
		"baseUrl": r.mock.url + "/v1", "api": "openai-completions", "apiKey": "dummy",
		"models": []any{map[string]any{"id": "gpt-mock", "contextWindow": 200_000, "maxTokens": 8_000}},
	}}})
	gittest.Must(r.t, err)
	settings, err := json.MarshalIndent(map[string]any{
		"defaultProvider": "mock", "defaultModel": "gpt-mock",
		"compaction": map[string]any{"keepRecentTokens": 1}, "retry": map[string]any{"enabled": false},
	}, "", "  ")
	gittest.Must(r.t, err)
	witness, err := os.ReadFile(filepath.Join("testdata", "witness-pi.js"))
	gittest.Must(r.t, err)
	home := r.repo.In(r.home)
	home.Write(".pi/agent/models.json", string(models))
	home.Write(".pi/agent/settings.json", string(settings)+"\n")
	home.Write(".pi/agent/extensions/witness.js", string(witness))
}

func (c pi) run(r *rig, session string) []string {
	argv := []string{filepath.Join(r.modules("pi"), npm.Node(), "bin", "node"), r.client()}
	if session != "" {
		argv = append(argv, "--session", session)
	}
	return argv
}

func (c pi) command(r *rig, session, prompt string) []string {
	return append(c.run(r, session), "--mode", "json", prompt)
}

func (pi) fork(argv []string, session string) []string {
	return slices.Insert(argv, len(argv)-1, "--fork", session)
}

func (pi) started(stdout []byte) string { return field(stdout, "id") }

func (c pi) open(r *rig, session string) []string { return c.run(r, session) }

// box finds the text between the last two rules; the upper one says that the client works.
func (pi) box(screen string) (text string, idle bool) {
	lines := strings.Split(screen, "\n")
	var rules []int
	for i, line := range lines {
		if strings.HasPrefix(line, "── ") || strings.HasPrefix(line, "────") {
			rules = append(rules, i)
		}
	}
	if len(rules) < 2 {
		return "", false
	}
	upper, lower := rules[len(rules)-2], rules[len(rules)-1]
	for _, line := range lines[upper+1 : lower] {
		text = strings.TrimSpace(text + " " + strings.TrimSpace(line))
	}
	return text, strings.HasPrefix(lines[upper], "────")
}

func (pi) over(r *rig, stop event) bool { return true }

// transcript reads the file of a session. The client gives a prompt an id only there.
func (c pi) transcript(r *rig, session string) transcript {
	r.t.Helper()
	found, _ := filepath.Glob(filepath.Join(c.dir(r), "sessions", "*", "*_"+session+".jsonl"))
	if len(found) != 1 {
		r.t.Fatalf("the client keeps the files %q of session %s\n%s", found, session, r.report())
	}
	data, err := os.ReadFile(found[0])
	gittest.Must(r.t, err)
	tr := transcript{path: found[0], data: data}
	offset := 0
	for line := range bytes.Lines(data) {
		began := offset
		offset += len(line)
		var rec struct {
			ID      string
			Message struct {
				Role    string
				Content []struct{ Type, Text string }
			}
		}
		json.Unmarshal(line, &rec)
		switch {
		case rec.Message.Role == "user":
			tr.runs = append(tr.runs, exchange{promptID: rec.ID, began: began})
		case rec.Message.Role == "assistant" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last = offset
			for _, p := range rec.Message.Content {
				if p.Type == "text" {
					run.reply = p.Text
				}
			}
		}
	}
	return tr
}

// rewind goes back to before a prompt, in the tree that the file is.
func (pi) rewind(s *tui, text string) {
	s.r.t.Helper()
	s.enter("/tree")
	s.r.await("the tree", func() bool { return s.shows("Session Tree") })
	for !regexp.MustCompile(`(?m)^\s*›.*` + regexp.QuoteMeta(text)).MatchString(s.term.screen()) {
		screen := s.term.screen()
		s.term.keys("Up")
		s.r.await("the entry before", func() bool { return s.term.screen() != screen })
	}
	s.term.keys("Enter")
	s.r.await("what to do with the branch that is left", func() bool { return s.shows("No summary") })
	s.term.keys("Enter")
}
