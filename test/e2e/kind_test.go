//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"

	"gitagent/test/gittest"
)

// A kind is what the tests must know of one agent's client to run it, beside what is the same for all.
type kind interface {
	program() string                    // what --agent takes
	agent() string                      // what records call it
	service() (script, scenario string) // the mock, and what it answers
	onboard(r *rig, dirs ...string)     // writes the user's settings
	settings(r *rig) string             // the file of the user's settings, for reports
	// limits says in which file are the time-outs of hooks, which text there is one, and which one is an hour.
	limits(r *rig) (path string, limit *regexp.Regexp, long string)
	env(r *rig) []string                   // beside what all have
	mission(r *rig, session string) string // that a session records to when nothing else says which
	transcript(r *rig, session string) transcript
	stored(segment string) string // a segment in the form that the transcript has
}

// claude is Claude Code.
type claude struct{}

func (claude) program() string                    { return "claude" }
func (claude) agent() string                      { return "claude-code" }
func (claude) service() (script, scenario string) { return "mock-anthropic.mjs", "scenario.json" }

func (claude) settings(r *rig) string { return filepath.Join(r.home, ".claude", "settings.json") }
func (c claude) limits(r *rig) (string, *regexp.Regexp, string) {
	return c.settings(r), seconds, `"timeout": 3600`
}

// seconds is a time-out in a file of settings.
var seconds = regexp.MustCompile(`"timeout": \d+`)

func (claude) stored(segment string) string          { return segment }
func (claude) mission(r *rig, session string) string { return passive(session) }

func (claude) env(r *rig) []string {
	return []string{
		"CLAUDE_CODE_TMPDIR=" + r.tmp,
		"ANTHROPIC_API_KEY=" + dummyKey, "ANTHROPIC_BASE_URL=" + r.mock.url,
		"IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
		// A slow machine is no reason to give up a tool, or a request.
		"BASH_DEFAULT_TIMEOUT_MS=3600000", "BASH_MAX_TIMEOUT_MS=3600000", "API_TIMEOUT_MS=3600000",
	}
}

// onboard answers the questions that the client asks on its first start,
// and the one about trust that it asks for every directory.
func (claude) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	projects := map[string]any{}
	for _, dir := range dirs {
		projects[dir] = map[string]any{"hasTrustDialogAccepted": true}
	}
	b, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string]any{"approved": []string{dummyKey}, "rejected": []string{}},
		"projects":               projects,
	})
	gittest.Must(r.t, err)
	replaceFile(r.t, filepath.Join(r.home, ".claude.json"), b)
	// Settings that a user has before the hooks come.
	gittest.Must(r.t, os.MkdirAll(filepath.Join(r.home, ".claude"), 0o700))
	// The witness's are beside them, so that what init writes can be looked at.
	b, err = json.Marshal(map[string]any{"hooks": r.hooks(3600,
		[]string{"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "PreCompact", "SessionEnd", "ConfigChange"},
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptExpansion", "SubagentStart",
		"SubagentStop", "PostCompact", "PreModelSwitch", "PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup",
		"TaskCreated", "TaskCompleted", "InstructionsLoaded", "CwdChanged", "DirectoryAdded",
	)})
	gittest.Must(r.t, err)
	replaceFile(r.t, r.witness.settings, b)
	replaceFile(r.t, r.settings(), []byte("{\n  \"skipDangerousModePermissionPrompt\": true,\n  \"spinnerTipsEnabled\": false\n}\n"))
}

// A player is a kind whose client the matrix runs.
type player interface {
	kind
	// command runs the client with one prompt and without a terminal; session is "" for a new one.
	command(r *rig, session, prompt string) []string
	// started is the session's id in what such a run printed, "" as long as it has not.
	started(stdout []byte) string
	// open runs the client in a terminal; session is "" for a new one.
	open(r *rig, session string) []string
	// box is the text in the input box of a screen, and whether the client waits for input.
	box(screen string) (text string, idle bool)
	// over says whether the client has left a turn whose Stop hook ran: until then it does no command.
	over(r *rig, stop event) bool
	// escape are the keys that stop a turn.
	escape() []string
	// stops is how often the client then tells that it has nothing more to do.
	stops() int
	// model is what records call the model.
	model() string
	// refused is the outcome of a turn that the model's service refuses, without a terminal.
	refused() string
	// launches says whether the client has sub-agents of its own.
	launches() bool
	// quit is what a user types to leave.
	quit() string
}
