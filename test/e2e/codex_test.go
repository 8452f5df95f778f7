//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// codex is OpenAI's Codex.
type codex struct {
	daemon bool // its terminal works through the background daemon, as it does unless told otherwise
}

func (codex) program() string                       { return "codex" }
func (codex) agent() string                         { return "codex" }
func (codex) service() (script, scenario string)    { return "mock-responses.mjs", "scenario-bash.json" }
func (codex) mission(r *rig, session string) string { return passive(session) }
func (codex) stored(segment string) string          { return segment }
func (codex) escape() []string                      { return []string{"Escape"} }
func (codex) stops() int                            { return 0 }
func (codex) quit() string                          { return "/quit" }
func (codex) launches() bool                        { return true }

// dir is CODEX_HOME: short, since the daemon's socket lies in it.
func (codex) dir(r *rig) string        { return filepath.Join(r.tmp, "codex") }
func (c codex) settings(r *rig) string { return filepath.Join(c.dir(r), "hooks.json") }

// limits: the client gives Interrupt and SessionEnd no more than 3 s.
func (c codex) limits(r *rig) (string, *regexp.Regexp, string) {
	return c.settings(r), seconds, `"timeout": 3600`
}

func (c codex) configFile(r *rig) string { return filepath.Join(c.dir(r), "config.toml") }
func (c codex) env(r *rig) []string      { return []string{"CODEX_HOME=" + c.dir(r)} }

// onboard writes the configuration, and hooks of the user's own: the witness's.
func (c codex) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `model = "gpt-mock"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "mock"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = 3600000
`, r.mock.url)
	for _, dir := range dirs {
		fmt.Fprintf(&b, "\n[projects.%q]\ntrust_level = \"trusted\"\n", dir)
	}
	hooks := r.hooks(3600, []string{"SessionStart", "UserPromptSubmit", "Stop", "Interrupt", "PreCompact", "PostCompact", "SessionEnd"},
		"PreToolUse", "PostToolUse", "PermissionRequest", "SubagentStart", "SubagentStop", "PreModelRequest", "PostModelRequest")
	settings, err := json.MarshalIndent(map[string]any{"hooks": hooks}, "", "  ")
	if err == nil {
		err = os.MkdirAll(c.dir(r), 0o700)
	}
	gittest.Must(r.t, err)
	// Tools run in a login shell, in which /etc/profile has set another PATH.
	r.repo.In(r.home).Write(".profile", "PATH='"+os.Getenv("PATH")+"'\n")
	replaceFile(r.t, c.configFile(r), []byte(b.String()))
	replaceFile(r.t, c.settings(r), append(settings, '\n'))
}

func (codex) command(r *rig, session, prompt string) []string {
	argv := []string{r.client(), "exec", "--json", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"}
	if session != "" {
		argv = append(argv, "resume", session)
	}
	return append(argv, prompt)
}

func (codex) fork(argv []string, session string) []string {
	return slices.Insert(argv, len(argv)-1, "fork", session)
}

func (codex) started(stdout []byte) string { return field(stdout, "thread_id") }

// field is the first value that a name has in the lines of JSON that a client printed.
func field(stdout []byte, name string) string {
	for line := range bytes.Lines(stdout) {
		var fields map[string]json.RawMessage
		var value string
		if json.Unmarshal(line, &fields) == nil && json.Unmarshal(fields[name], &value) == nil {
			return value
		}
	}
	return ""
}

func (c codex) open(r *rig, session string) []string {
	argv := []string{r.client(), "--dangerously-bypass-hook-trust"}
	if !c.daemon {
		argv = append(argv, "--no-daemon")
	}
	if session != "" {
		argv = append(argv, "resume", session)
	}
	return argv
}

var codexBox = regexp.MustCompile(`(?m)^› (.*)\n(?:.*\n){0,8}?  gpt-mock .*$`)

// box finds the last line with the prompt's mark above the line that names the model.
func (codex) box(screen string) (text string, idle bool) {
	found := codexBox.FindAllStringSubmatchIndex(screen, -1)
	if len(found) == 0 {
		return "", false
	}
	at := strings.LastIndex(screen, "\n› ")
	text, _, _ = strings.Cut(screen[at+len("\n› "):], "\n")
	if text = strings.TrimRight(text, " "); text == "Ask Codex to do anything" {
		text = ""
	}
	return text, !strings.Contains(screen, "esc to interrupt")
}

// over finds the turn's end in the rollout: the screen shows none of the hooks that the client waits for.
func (codex) over(r *rig, stop event) bool {
	data, _ := os.ReadFile(stop.Transcript)
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`"type":"task_complete"`)) && bytes.Contains(line, []byte(`"turn_id":"`+stop.PromptID+`"`)) {
			return true
		}
	}
	return false
}

// transcript reads the rollout of a session; the one of a session that went back is its first one.
func (c codex) transcript(r *rig, session string) transcript {
	r.t.Helper()
	found, _ := filepath.Glob(filepath.Join(c.dir(r), "sessions", "*", "*", "*", "rollout-*-"+session+".jsonl"))
	if len(found) != 1 {
		r.t.Fatalf("the client keeps the files %q of session %s\n%s", found, session, r.report())
	}
	data, err := os.ReadFile(found[0])
	gittest.Must(r.t, err)
	tr := transcript{path: found[0], data: data}
	offset, asked := 0, 0
	for line := range bytes.Lines(data) {
		began := offset
		offset += len(line)
		var rec struct {
			Type    string `json:"type"`
			Payload struct {
				Type    string `json:"type"`
				Role    string `json:"role"`
				TurnID  string `json:"turn_id"`
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
				Item struct {
					Type string `json:"type"`
				} `json:"item"`
			} `json:"payload"`
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			r.t.Fatalf("read %s at byte %d: %v", found[0], began, err)
		}
		p := rec.Payload
		switch {
		case p.Type == "task_started":
			tr.runs = append(tr.runs, exchange{promptID: p.TurnID, began: began})
		case rec.Type == "response_item" && p.Role == "user":
			asked = began
		case p.Item.Type == "UserMessage" && len(tr.runs) > 0:
			// The turn's beginning is there when its hook runs, the prompt is not.
			tr.runs[len(tr.runs)-1].began = asked
		case rec.Type == "response_item" && p.Role == "assistant" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last, run.reply = offset, p.Content[len(p.Content)-1].Text
		}
	}
	return tr
}

func (codex) model() string { return "gpt-mock" }

func (codex) refused() string { return "failed" }
