package codex

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/gittest"
)

// TestHash: as the client's hooks/list tells it of hooks of all kinds.
func TestHash(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	number := func(n uint64) *uint64 { return &n }
	for _, tt := range []struct {
		event   string
		matcher *string
		h       handler
		want    string
	}{
		{"PostToolUse", text("Bash"), handler{Command: "a", Timeout: number(10)}, "f6e4d4e5aae9dab8defdc6c26c71a2c7303c4afb7073ad1053d62d199f68fb02"},
		{"PostToolUse", text("*"), handler{Command: "a", Timeout: number(10)}, "fe5934324f15f8f5ff6a7b01c2b3131caec95e8df8afe16221980e61f46d40e0"},
		{"PostToolUse", text(""), handler{Command: "a", Timeout: number(10), Status: text("hello"), Async: true}, "9d09ad97f05fcb9ac04d7bf509b2138a4fae0726539bc1f7f0266afc13a8b4a1"},
		{"SessionStart", text("startup"), handler{Command: "a", Timeout: number(7)}, "1dbfbc6c708f24d493646218dca387c33ab6f11d0429299e6794526634289a1e"},
		{"SessionEnd", nil, handler{Command: "a", Timeout: number(20)}, "42a5307396a3311376788cd874aae704206cb585b4da5dbcc11a59a23e824111"},
		{"UserPromptSubmit", text("x"), handler{Command: "a", Timeout: number(10), Limit: number(100)}, "39468852e296b7d2ed4db57db6b00b76967beac98bd76b35be20f99d1b4ff67d"},
		{"Stop", nil, handler{Command: "a"}, "c75a850480544f28d4a0e3e73be3b2659a93058c0746b3a82ad494187e86ecbc"},
		{"Stop", text("*"), handler{Command: "b", Timeout: number(5)}, "ce84b598277401837832dc26a147c932a469b2afbad00c4ab0d72bdadd05bbd7"},
		{"Interrupt", nil, handler{Command: "a", Timeout: number(60)}, "371fe7ccba440764807e7e9a8f2e604ec8a637b59ba9b8fbd94fe3e5ba8652ce"},
	} {
		tt.h.Type = "command"
		h := placedHook{tt.event, 0, 0, tt.matcher, tt.h}
		if got := h.hash(); got != "sha256:"+tt.want {
			t.Errorf("%s %+v: got %s, want %s", tt.event, tt.h, got, tt.want)
		}
	}
}

// configured makes a configuration directory with files of testdata/trust, changed by edit, in which
// the client has been told to trust all. It returns the report on our hooks there.
func configured(t *testing.T, edit func(hooks, config string) (string, string)) (report *hooks.Report, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	gittest.Must(t, err)
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("testdata", "trust", name))
		gittest.Must(t, err)
		return string(data)
	}
	file, config := edit(read("hooks.json"), strings.ReplaceAll(read("config.toml"), "/home/dev/.codex", dir))
	path := filepath.Join(dir, "hooks.json")
	for name, content := range map[string]string{path: file, filepath.Join(dir, "config.toml"): config} {
		gittest.Must(t, os.WriteFile(name, []byte(content), 0o600))
	}
	report = new(hooks.Report)
	for _, h := range installed(path) {
		if program, _, ok := strings.Cut(h.handler.Command, " hook --agent codex"); ok {
			report.Installed = append(report.Installed, hooks.Installed{Event: h.event, Program: program, Command: h.handler.Command, Path: path})
		}
	}
	return report, dir
}

func TestTrust(t *testing.T) {
	t.Parallel()
	all := []string{"Interrupt", "PostToolUse", "PreCompact", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit"}
	replace := func(in *string, old, text string) {
		t.Helper()
		if !strings.Contains(*in, old) {
			t.Fatalf("no %q in %s", old, *in)
		}
		*in = strings.ReplaceAll(*in, old, text)
	}
	for _, tt := range []struct {
		name     string
		edit     func(file, config, required *string)
		problems map[hooks.Problem][]string
	}{
		{"all are trusted", func(_, _, _ *string) {}, nil},
		{"none is trusted", func(_, config, _ *string) { *config = "" }, map[hooks.Problem][]string{hooks.Untrusted: all}},
		{
			"one was not there then",
			func(_, config, _ *string) { replace(config, ":interrupt:0:0", ":interrupt:0:1") },
			map[hooks.Problem][]string{hooks.Untrusted: {"Interrupt"}},
		},
		{
			"one has another time-out",
			func(file, _, _ *string) { replace(file, `"timeout": 10`, `"timeout": 11`) },
			map[hooks.Problem][]string{hooks.Untrusted: {"PostToolUse"}},
		},
		{
			"one has another place",
			func(file, _, _ *string) {
				replace(file, `"Stop": [`, `"Stop": [{"hooks": [{"type": "command", "command": "x"}]},`)
			},
			map[hooks.Problem][]string{hooks.Untrusted: {"Stop"}},
		},
		{"more than the client gives makes no difference", func(file, _, _ *string) { replace(file, `"timeout": 3`, `"timeout": 20`) }, nil},
		{
			"the user has switched one off",
			func(_, config, _ *string) {
				replace(config, "session_start:0:0\"]\n", "session_start:0:0\"]\nenabled = false\n")
			},
			map[hooks.Problem][]string{hooks.Untrusted: {"SessionStart"}},
		},
		{"all are off", func(_, config, _ *string) { *config += "[features]\nhooks = false\n" }, map[hooks.Problem][]string{hooks.Disabled: nil}},
		{"all are off by an older name", func(_, config, _ *string) { *config += "[features]\ncodex_hooks = false\n" }, map[hooks.Problem][]string{hooks.Disabled: nil}},
		{"all are on", func(_, config, _ *string) { *config += "[features]\nhooks = true\nother = false\n" }, nil},
		{"hooks of the user's beside them", func(_, config, _ *string) { *config += "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\n" }, nil},
		{"an administrator's only", func(_, _, required *string) { *required = "allow_managed_hooks_only = true" }, map[hooks.Problem][]string{hooks.ManagedOnly: nil}},
		{"none, by an administrator", func(_, _, required *string) { *required = "[features]\nhooks = false" }, map[hooks.Problem][]string{hooks.ManagedOnly: nil}},
		{"not TOML", func(_, config, _ *string) { *config = "x" }, map[hooks.Problem][]string{hooks.Unreadable: nil}},
	} {
		var required string
		report, dir := configured(t, func(file, config string) (string, string) {
			tt.edit(&file, &config, &required)
			return file, config
		})
		requirements := filepath.Join(dir, "requirements.toml")
		gittest.Must(t, os.WriteFile(requirements, []byte(required), 0o600))
		judge(report, dir, requirements)
		var got map[hooks.Problem][]string
		for _, f := range report.Findings {
			if got == nil {
				got = make(map[hooks.Problem][]string)
			}
			got[f.Problem] = append(got[f.Problem], f.Events...)
		}
		if !reflect.DeepEqual(got, tt.problems) {
			t.Errorf("%s: %v", tt.name, report.Findings)
		}
	}
	report, _ := configured(t, func(file, config string) (string, string) { return file, config })
	if trust(report, nil, ""); report.Findings != nil {
		t.Errorf("without a configuration: %v", report.Findings)
	}
}

// others are the keys and hashes of the hooks that are not ours.
func others(t *testing.T, settings []byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hooks.json")
	gittest.Must(t, os.WriteFile(path, settings, 0o600))
	var all []string
	for _, h := range installed(path) {
		if !strings.HasPrefix(h.handler.Command, "git-agent-") {
			all = append(all, fmt.Sprintf("%s:%d:%d %s", snake(h.event), h.group, h.index, h.hash()))
		}
	}
	return all
}

// TestPlaces: installing and removing ours leaves every hook of others where it was trusted.
func TestPlaces(t *testing.T) {
	t.Parallel()
	mine := []hooks.Entry{{Event: "Stop", Command: "git-agent-turn hook --agent codex || true", Timeout: 60}}
	const stop = `{"hooks": [{"type": "command", "command": "git-agent-turn hook --agent codex || true", "timeout": 60}]}`
	const a, b = `{"hooks": [{"type": "command", "command": "a"}]}`, `{"matcher": "x", "hooks": [{"type": "command", "command": "b"}]}`
	for before, removed := range map[string]string{
		`{"hooks": {"Stop": [` + a + `, ` + stop + `]}}`:                          `{"hooks": {"Stop": [` + a + `]}}`,
		`{"hooks": {"Stop": [` + stop + `, ` + a + `]}}`:                          `{"hooks": {"Stop": [{"hooks": []}, ` + a + `]}}`,
		`{"hooks": {"Stop": [` + stop + `], "PreToolUse": [` + b + `]}}`:          `{"hooks": {"PreToolUse": [` + b + `]}}`,
		`{"hooks": {"Stop": [` + a + `, ` + stop + `, ` + b + `, ` + stop + `]}}`: `{"hooks": {"Stop": [` + a + `, {"hooks": []}, ` + b + `]}}`,
		`{"hooks": {"Stop": [` + stop + `, {"hooks": []}]}}`:                      `{"hooks": {"Stop": [{"hooks": []}, {"hooks": []}]}}`,
		`{"hooks": {"PreToolUse": [` + b + `]}}`:                                  `{"hooks": {"PreToolUse": [` + b + `]}}`,
		`{}`:                                                                      `{}`,
	} {
		got, err := hooks.Remove(vacate([]byte(before), mine), mine)
		if err != nil || string(got) != removed {
			t.Errorf("removed from %s:\ngot  %s, %v\nwant %s", before, got, err, removed)
		}
		if want, got := others(t, []byte(before)), others(t, got); !slices.Equal(got, want) {
			t.Errorf("removed from %s: others were %v and are %v", before, want, got)
		}
		after, err := hooks.Install([]byte(before), mine)
		if err != nil || !slices.Equal(others(t, after), others(t, []byte(before))) {
			t.Errorf("installed in %s: others were %v and are %v, %v", before, others(t, []byte(before)), others(t, after), err)
		}
		if again, err := hooks.Remove(vacate(after, mine), mine); err != nil || !strings.Contains(before, "git-agent") && !bytes.Equal(bytes.TrimSpace(again), []byte(before)) {
			t.Errorf("%s became %s, %v", before, again, err)
		}
	}
}
