//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gitagent/test/gittest"
)

// qwen is Qwen Code.
type qwen struct{}

func (qwen) program() string                       { return "qwen" }
func (qwen) agent() string                         { return "qwen-code" }
func (qwen) service() (script, scenario string)    { return "mock-chat.mjs", "scenario-bash.json" }
func (qwen) mission(r *rig, session string) string { return passive(session) }
func (qwen) stored(segment string) string          { return segment }
func (qwen) quit() string                          { return "/quit" }
func (qwen) launches() bool                        { return true }
func (qwen) escape() []string                      { return []string{"Escape"} }
func (qwen) stops() int                            { return 0 }
func (qwen) settings(r *rig) string                { return filepath.Join(r.home, ".qwen", "settings.json") }
func (qwen) model() string                         { return "gpt-mock" }
func (qwen) refused() string                       { return "failed" }

// limits are milliseconds from 1000 on.
func (c qwen) limits(r *rig) (string, *regexp.Regexp, string) {
	return c.settings(r), seconds, `"timeout": 3600000`
}

func (qwen) env(r *rig) []string {
	return []string{
		"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + r.mock.url + "/v1", "OPENAI_MODEL=gpt-mock",
		"QWEN_CODE_SUPPRESS_YOLO_WARNING=1",
		"QWEN_CODE_NO_RELAUNCH=true", // one process, which signals reach
	}
}

func (c qwen) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	hooks := map[string]any{}
	for _, name := range []string{"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "PostCompact", "SessionEnd"} {
		hooks[name] = []any{map[string]any{"hooks": []any{
			map[string]any{"type": "command", "command": r.witness.command, "timeout": 3_600_000},
		}}}
	}
	b, err := json.MarshalIndent(map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "openai"}},
		"general":  map[string]any{"enableAutoUpdate": false},
		"privacy":  map[string]any{"usageStatisticsEnabled": false},
		// What it asks the model for itself, and what it asks the user.
		"memory": map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
		"ui":     map[string]any{"enableFollowupSuggestions": false, "enableUserFeedback": false, "enableWelcomeBack": false, "hideTips": true},
		"hooks":  hooks,
	}, "", "  ")
	gittest.Must(r.t, err)
	r.repo.In(r.home).Write(".qwen/settings.json", string(b)+"\n")
}

func (qwen) command(r *rig, session, prompt string) []string {
	argv := []string{"node", r.client(), "--yolo", "--output-format", "stream-json", "--prompt", prompt}
	if session != "" {
		argv = append(argv, "--resume", session)
	}
	return argv
}

func (qwen) started(stdout []byte) string { return field(stdout, "session_id") }

func (qwen) open(r *rig, session string) []string {
	argv := []string{"node", r.client(), "--yolo"}
	if session != "" {
		argv = append(argv, "--resume", session)
	}
	return argv
}

// box finds the input between the last two lines.
func (qwen) box(screen string) (text string, idle bool) {
	lines := strings.Split(screen, "\n")
	for i := len(lines) - 2; i > 0; i-- {
		line, found := strings.CutPrefix(lines[i], "*")
		if !found || !strings.HasPrefix(lines[i-1], "──") || !strings.HasPrefix(lines[i+1], "──") {
			continue
		}
		text = strings.Trim(line, " \u200b")
		if strings.HasPrefix(text, "Type your message") {
			text = ""
		}
		return text, !strings.Contains(screen, "esc to cancel") && !strings.Contains(screen, "Initializing")
	}
	return "", false
}

func (qwen) over(r *rig, stop event) bool { return true }

// transcript reads the file of a session. A turn's id is that of its record.
func (qwen) transcript(r *rig, session string) transcript {
	r.t.Helper()
	found, _ := filepath.Glob(filepath.Join(r.home, ".qwen", "projects", "*", "chats", session+".jsonl"))
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
			UUID, Type, Subtype string
			Message             struct {
				Parts []struct {
					Text    string
					Thought bool
				}
			}
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			r.t.Fatalf("read %s at byte %d: %v", found[0], began, err)
		}
		switch {
		case rec.Type == "user" && (rec.Subtype == "" || rec.Subtype == "notification"):
			tr.runs = append(tr.runs, exchange{promptID: rec.UUID, began: began})
		case rec.Type == "assistant" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last = offset
			for _, p := range rec.Message.Parts {
				if p.Text != "" && !p.Thought {
					run.reply = p.Text
				}
			}
		}
	}
	return tr
}

func (qwen) fork(argv []string, session string) []string {
	return append(argv, "--resume", session, "--fork-session")
}
