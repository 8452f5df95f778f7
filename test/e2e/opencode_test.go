//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
)

// openCode is OpenCode, or what it is called elsewhere.
type openCode struct{ name string }

func (c openCode) program() string                  { return cmp.Or(c.name, "opencode") }
func (c openCode) agent() string                    { return c.program() }
func (openCode) service() (script, scenario string) { return "mock-chat.mjs", "scenario-bash.json" }
func (openCode) escape() []string                   { return []string{"Escape", "Escape"} }
func (openCode) stops() int                         { return 2 }
func (openCode) quit() string                       { return "/exit" }
func (openCode) launches() bool                     { return true }

func (c openCode) dir(r *rig) string      { return filepath.Join(r.home, ".config", c.program()) }
func (c openCode) settings(r *rig) string { return filepath.Join(c.dir(r), c.program()+".json") }

// limits are in the plugin, since the client has none.
func (c openCode) limits(r *rig) (string, *regexp.Regexp, string) {
	return filepath.Join(c.dir(r), "plugin", "git-agent.js"), regexp.MustCompile(`\(pause\[name\] \|\| 60\) \* 1000`), "3_600_000"
}

func (c openCode) env(r *rig) []string {
	own := strings.ToUpper(c.program()) + "_DISABLE_"
	var events string
	if dir := r.kept(); dir != "" {
		events = filepath.Join(dir, "payloads")
	}
	return []string{
		// It fetches ripgrep if there is none.
		"PATH=" + os.Getenv("PATH") + string(filepath.ListSeparator) + filepath.Join(r.home, "bin"),
		own + "MODELS_FETCH=1", own + "AUTOUPDATE=1", own + "LSP_DOWNLOAD=1",
		"KILO_TELEMETRY_LEVEL=off", "KILO_DISABLE_SESSION_INGEST=1",
		"npm_config_registry=http://127.0.0.1:9", "npm_config_fetch_retries=0",
		"E2E_HOOK=" + r.witness.command, "E2E_MESSAGES=" + r.home, "E2E_EVENTS=" + events,
	}
}

// mission finds the mission that has the session's turns: its id says nothing about that.
func (openCode) mission(r *rig, session string) string {
	for _, t := range r.list() {
		if t.Session == session {
			return t.Mission
		}
	}
	return ""
}

func (c openCode) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	settings, err := json.MarshalIndent(map[string]any{
		"model": "mock/gpt-mock", "small_model": "mock/gpt-mock", "autoupdate": false, "share": "disabled",
		"permission": map[string]any{"*": "allow"}, "snapshot": c.program() == "opencode", // Kilo waits for it
		"provider": map[string]any{"mock": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Mock",
			"options": map[string]any{"baseURL": r.mock.url + "/v1", "apiKey": "dummy"},
			"models": map[string]any{"gpt-mock": map[string]any{
				"name": "mock", "tool_call": true, "limit": map[string]any{"context": 200_000, "output": 8_000},
			}},
		}},
	}, "", "  ")
	gittest.Must(r.t, err)
	witness, err := os.ReadFile(filepath.Join("testdata", "witness.js"))
	gittest.Must(r.t, err)
	home := r.repo.In(r.home)
	config := ".config/" + c.program() + "/"
	home.Write(config+c.program()+".json", string(settings)+"\n")
	home.Write(config+"plugin/witness.js", string(witness))
	if c.program() == "opencode" { // it would install this at its first start
		version := npm.Version("opencode")
		home.Write(config+"package.json", `{"dependencies": {"@opencode-ai/plugin": "`+version+`"}}`+"\n")
		lock, err := os.ReadFile(filepath.Join(filepath.Dir(r.modules("opencode")), "package-lock.json"))
		gittest.Must(r.t, err)
		home.Write(config+"package-lock.json", string(lock))
		gittest.Must(r.t, os.Symlink(r.modules("opencode"), filepath.Join(c.dir(r), "node_modules")))
	}
	search, _ := filepath.Glob(filepath.Join(r.modules("codex"), "@openai", "codex-*", "vendor", "*", "codex-path", "rg"))
	if len(search) != 1 {
		r.t.Fatalf("no rg among the modules of Codex: %q", search)
	}
	// A fork is imported by the client that is on PATH.
	gittest.Must(r.t, os.MkdirAll(filepath.Join(r.home, "bin"), 0o777))
	for name, path := range map[string]string{"rg": search[0], c.program(): r.client()} {
		gittest.Must(r.t, os.Symlink(path, filepath.Join(r.home, "bin", name)))
	}
}

// command gives the prompt word by word: what has a space in it, the client quotes.
func (openCode) command(r *rig, session, prompt string) []string {
	argv := []string{r.client(), "run", "--format", "json"}
	if session != "" {
		argv = append(argv, "-s", session)
	}
	return append(argv, strings.Fields(prompt)...)
}

func (openCode) started(stdout []byte) string { return field(stdout, "sessionID") }

func (openCode) open(r *rig, session string) []string {
	if session == "" {
		return []string{r.client()}
	}
	return []string{r.client(), "-s", session}
}

// agentNamed is how the last line of the input box begins: the agent, before the model.
var agentNamed = regexp.MustCompile(`(Build|Code) +· `)

// box finds the last box, whose last line names the agent and the model.
func (openCode) box(screen string) (text string, idle bool) {
	lines := strings.Split(screen, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.Contains(lines[i], "┃") || !agentNamed.MatchString(lines[i]) {
			continue
		}
		// What is offered for a command has a line on either side.
		for i--; i >= 0 && strings.Count(lines[i], "┃") == 1; i-- {
			_, line, _ := strings.Cut(lines[i], "┃")
			text = strings.TrimSpace(strings.TrimSpace(line) + " " + text)
		}
		if strings.HasPrefix(text, "Ask anything") {
			text = ""
		}
		return text, !strings.Contains(screen, "esc interrupt") && !strings.Contains(screen, "again to interrupt")
	}
	return "", false
}

func (openCode) over(r *rig, stop event) bool { return true }

// transcript is what the client told the witness at its end that the conversation is, a message a line.
func (c openCode) transcript(r *rig, session string) transcript {
	r.t.Helper()
	tr := transcript{path: filepath.Join(r.home, session+".json")}
	data, err := os.ReadFile(tr.path)
	if err != nil {
		r.t.Fatalf("the client told of no messages: %v\n%s", err, r.report())
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(data, &messages); err != nil {
		r.t.Fatalf("read %s: %v", tr.path, err)
	}
	for _, message := range messages {
		var m struct {
			Info struct {
				ID, Role string
				Summary  any
			}
			Parts []struct {
				Type, Text string
				Synthetic  bool
			}
		}
		if err := json.Unmarshal(message, &m); err != nil {
			r.t.Fatalf("read %s: %v", tr.path, err)
		}
		began := len(tr.data)
		tr.data = append(tr.data, c.kept(string(message))...)
		for _, p := range m.Parts {
			switch {
			case p.Type != "text" || p.Synthetic: // the client goes on by itself after a compaction
			case m.Info.Summary == true: // which is nobody's answer
			case m.Info.Role == "user":
				tr.runs = append(tr.runs, exchange{promptID: m.Info.ID, began: began})
			case len(tr.runs) > 0:
				run := &tr.runs[len(tr.runs)-1]
				run.last, run.reply = len(tr.data), p.Text
			}
		}
	}
	return tr
}

// stored gives stored messages the form of the transcript's. Other lines say where the conversation goes on.
func (c openCode) stored(segment string) string {
	var b strings.Builder
	for line := range strings.Lines(segment) {
		b.WriteString(c.kept(line))
	}
	return b.String()
}

// kept is what must be kept of a message: what it says, and what the client says about it, but for what a
// prompt has changed, which comes late. It is "" for what is no message, and for what Kilo drops at the next prompt:
// an answer that failed before it said anything.
func (c openCode) kept(message string) string {
	var m struct {
		Info  map[string]any   `json:"info"`
		Parts []map[string]any `json:"parts"`
	}
	d := json.NewDecoder(strings.NewReader(message))
	d.UseNumber() // as it is
	if d.Decode(&m) != nil || m.Info == nil {
		return ""
	}
	said := slices.ContainsFunc(m.Parts, func(p map[string]any) bool { return p["type"] != "step-start" })
	if failure, is := m.Info["error"].(map[string]any); is && c.program() == "kilo" && failure["name"] != "MessageAbortedError" && !said {
		return ""
	}
	if m.Info["summary"] != true {
		delete(m.Info, "summary")
	}
	b, _ := json.Marshal(m)
	return string(b) + "\n"
}

func (openCode) model() string { return "gpt-mock" }

func (openCode) refused() string { return "failed" }
