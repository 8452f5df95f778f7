//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	ids "gitagent/internal/session"
	"gitagent/test/gittest"
)

// copilot is GitHub Copilot CLI.
type copilot struct{}

func (copilot) program() string                       { return "copilot" }
func (copilot) agent() string                         { return "copilot-cli" }
func (copilot) service() (script, scenario string)    { return "mock-chat.mjs", "scenario-bash.json" }
func (copilot) mission(r *rig, session string) string { return passive(session) }
func (copilot) stored(segment string) string          { return segment }
func (copilot) quit() string                          { return "/exit" }
func (copilot) escape() []string                      { return []string{"Escape", "Escape"} }
func (copilot) stops() int                            { return 0 }
func (copilot) model() string                         { return "gpt-mock" }
func (copilot) refused() string                       { return "failed" }
func (copilot) launches() bool                        { return true }

func (copilot) dir(r *rig) string        { return filepath.Join(r.home, ".copilot") }
func (c copilot) settings(r *rig) string { return filepath.Join(c.dir(r), "hooks", "git-agent.json") }

func (c copilot) limits(r *rig) (string, *regexp.Regexp, string) {
	return c.settings(r), seconds, `"timeout": 3600`
}

func (copilot) env(r *rig) []string {
	return []string{
		"COPILOT_OFFLINE=true", "COPILOT_MODEL=gpt-mock", "COPILOT_PROVIDER_BASE_URL=" + r.mock.url + "/v1", "COPILOT_PROVIDER_API_KEY=dummy",
		"COPILOT_ALLOW_ALL=true", // which also trusts every directory
		"COPILOT_PKG_CACHE_HOME=" + filepath.Join(filepath.Dir(r.modules("copilot")), "pkg"), // where it unpacks itself, 240 MB
	}
}

// onboard writes a file of hooks beside ours: the witness's.
func (c copilot) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	b, err := json.MarshalIndent(map[string]any{"hooks": r.hooks(3600,
		[]string{"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"},
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "ErrorOccurred", "SubagentStart", "SubagentStop", "Notification", "PermissionRequest")}, "", "  ")
	gittest.Must(r.t, err)
	home := r.repo.In(r.home)
	home.Write(".copilot/hooks/witness.json", string(b)+"\n")
	home.Write(".copilot/settings.json", `{"banner": "never"}`+"\n") // what is typed while it moves gets lost
}

// command says which session it is, which the client does at its end.
func (copilot) command(r *rig, id, prompt string) []string {
	option := "--resume="
	if id == "" {
		id, option = ids.NewID(), "--session-id="
	}
	return []string{"sh", "-c", `echo "{\"sessionId\":\"$0\"}"; exec "$@"`, id, r.client(), option + id, "--allow-all", "--output-format", "json", "-p", prompt}
}

func (copilot) started(stdout []byte) string { return field(stdout, "sessionId") }

func (copilot) open(r *rig, session string) []string {
	argv := []string{r.client(), "--allow-all"}
	if session != "" {
		argv = append(argv, "--resume="+session)
	}
	return argv
}

// box finds the last two rules, which the box is between. Below is what the client does.
func (copilot) box(screen string) (text string, idle bool) {
	const rule = "\n────────"
	below := strings.LastIndex(screen, rule)
	above := strings.LastIndex(screen[:max(0, below)], rule)
	if above < 0 {
		return "", false
	}
	_, inside, is := strings.Cut(screen[above:below], "\n❯")
	status := screen[below:]
	inside, _, _ = strings.Cut(inside, " [") // what a command may be given, offered
	return strings.TrimSpace(inside), is && strings.Contains(status, "gpt-mock") && !strings.Contains(status, "Working") && !strings.Contains(status, "esc ")
}

func (copilot) over(r *rig, stop event) bool { return true }

// transcript reads the file of a session. The client gives no prompt an id.
func (c copilot) transcript(r *rig, session string) transcript {
	r.t.Helper()
	path := filepath.Join(c.dir(r), "session-state", session, "events.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatalf("the client keeps no file of session %s: %v\n%s", session, err, r.report())
	}
	tr := transcript{path: path, data: data}
	offset := 0
	for line := range strings.Lines(string(data)) {
		began := offset
		offset += len(line)
		var event struct {
			Type, AgentID string
			Data          struct{ InteractionID, Delivery, Content string }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			r.t.Fatalf("read %s at byte %d: %v", path, began, err)
		}
		switch {
		case event.AgentID != "":
		case event.Type == "user.message" && event.Data.Delivery != "steering":
			tr.runs = append(tr.runs, exchange{promptID: event.Data.InteractionID, began: began})
		case event.Type == "assistant.message" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last = offset
			if event.Data.Content != "" {
				run.reply = event.Data.Content
			}
		}
	}
	return tr
}
