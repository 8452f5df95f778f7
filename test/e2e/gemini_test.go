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

// gemini is Google's Gemini CLI.
type gemini struct{}

func (gemini) program() string                       { return "gemini" }
func (gemini) agent() string                         { return "gemini-cli" }
func (gemini) service() (script, scenario string)    { return "mock-gemini.mjs", "scenario-bash.json" }
func (gemini) mission(r *rig, session string) string { return passive(session) }
func (gemini) stored(segment string) string          { return segment }
func (gemini) quit() string                          { return "/quit" }
func (gemini) launches() bool                        { return false }
func (gemini) escape() []string                      { return []string{"Escape"} }
func (gemini) stops() int                            { return 0 }
func (gemini) settings(r *rig) string                { return filepath.Join(r.home, ".gemini", "settings.json") }

func (c gemini) limits(r *rig) (string, *regexp.Regexp, string) {
	return c.settings(r), seconds, `"timeout": 3600000`
}

func (gemini) env(r *rig) []string {
	return []string{
		"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + r.mock.url, "GEMINI_CLI_NO_RELAUNCH=true",
		"GEMINI_CLI_TRUST_WORKSPACE=true",
	}
}

func (c gemini) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	b, err := json.MarshalIndent(map[string]any{
		"security":    map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"general":     map[string]any{"enableAutoUpdate": false},
		"privacy":     map[string]any{"usageStatisticsEnabled": false},
		"hooksConfig": map[string]any{"enabled": true},
		"hooks": r.hooks(3_600_000, []string{"SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"},
			"BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool", "AfterTool", "PreCompress", "Notification"),
	}, "", "  ")
	gittest.Must(r.t, err)
	r.repo.In(r.home).Write(".gemini/settings.json", string(b)+"\n")
}

func (gemini) command(r *rig, session, prompt string) []string {
	argv := []string{"node", r.client(), "--yolo", "-m", "gemini-2.5-pro", "-o", "stream-json", "-p", prompt}
	if session != "" {
		argv = append(argv, "--resume", session)
	}
	return argv
}

func (gemini) started(stdout []byte) string { return field(stdout, "session_id") }

func (gemini) open(r *rig, session string) []string {
	argv := []string{"node", r.client(), "--yolo", "-m", "gemini-2.5-pro"}
	if session != "" {
		argv = append(argv, "--resume", session)
	}
	return argv
}

// box finds the line below the mode, which the client is always in here.
func (gemini) box(screen string) (text string, idle bool) {
	_, below, _ := strings.Cut(screen, "YOLO Ctrl+Y")
	for line := range strings.Lines(below) {
		if text, found := strings.CutPrefix(line, " *"); found {
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "Type your message") {
				text = ""
			}
			return text, !working.MatchString(screen)
		}
	}
	return "", false
}

// working is on the screen as long as the client has something to do.
var working = regexp.MustCompile(`esc to cancel|awaiting input|Executing Hooks|Initializing|Queued \(|Compressing`)

func (gemini) over(r *rig, stop event) bool { return true }

func (gemini) model() string { return "gemini-2.5-pro" }

// refused: without a terminal no hook runs, and the file doesn't say why the turn has ended.
func (gemini) refused() string { return "interrupted" }

// transcript reads the file of a session. The client gives no prompt an id.
func (gemini) transcript(r *rig, session string) transcript {
	r.t.Helper()
	files, _ := filepath.Glob(filepath.Join(r.home, ".gemini", "tmp", "*", "chats", "session-*-"+session[:8]+".jsonl"))
	var found []string
	var data []byte
	for _, file := range files { // a session that is resumed leaves a second one, without a message
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte("\n{\"id\":")) {
			found, data = append(found, file), b
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("the client keeps the files %q of session %s\n%s", files, session, r.report())
	}
	tr := transcript{path: found[0], data: data}
	offset := 0
	for line := range bytes.Lines(data) {
		began := offset
		offset += len(line)
		var rec struct {
			ID, Type string
			Content  json.RawMessage
		}
		json.Unmarshal(line, &rec)
		switch {
		case rec.Type == "user" && !bytes.Contains(rec.Content, []byte(`"functionResponse"`)):
			tr.runs = append(tr.runs, exchange{promptID: rec.ID, began: began})
		case rec.Type == "gemini" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last = offset
			if said := ""; json.Unmarshal(rec.Content, &said) == nil && said != "" {
				run.reply = said
			}
		}
	}
	return tr
}
