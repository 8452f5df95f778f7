package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"

	"gitagent/hooks"
)

// requirements has an administrator's settings for all users.
const requirements = "/etc/codex/requirements.toml"

// A hookSettings is what the client's files say about hooks. Seen with 0.169.0.
type hookSettings struct {
	ManagedOnly bool `toml:"allow_managed_hooks_only"` // in requirements
	Features    struct {
		Hooks  *bool `toml:"hooks"`
		Legacy *bool `toml:"codex_hooks"`
	} `toml:"features"`
	Hooks struct {
		State map[string]hookState `toml:"state"` // by key
	} `toml:"hooks"`
}

// A hookState is the user's decision about one hook.
type hookState struct {
	TrustedHash string `toml:"trusted_hash"`
	Enabled     *bool  `toml:"enabled"`
}

func (s *hookSettings) off() bool {
	is := func(b *bool) bool { return b != nil && !*b }
	return is(s.Features.Hooks) || is(s.Features.Legacy)
}

func readSettings(path string) (*hookSettings, error) {
	s := new(hookSettings)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = toml.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// trust adds which of our hooks the client skips, because the user has not
// trusted their present form, or because hooks are off.
func trust(report *hooks.Report, _ []hooks.Settings, config string) {
	judge(report, config, requirements)
}

func judge(report *hooks.Report, config, requirements string) {
	if config == "" || len(report.Installed) == 0 {
		return
	}
	add := func(p hooks.Problem, path, text string, events ...string) {
		report.Findings = append(report.Findings, hooks.Finding{Problem: p, Path: path, Events: events, Text: text})
	}
	if all, err := readSettings(requirements); err != nil {
		add(hooks.Unreadable, requirements, err.Error())
	} else if all.ManagedOnly || all.off() {
		report.Findings = append(report.Findings, hooks.Finding{
			Problem: hooks.ManagedOnly, Path: requirements, Text: "it turns off the hooks that users install", Managed: true,
		})
	}
	path := filepath.Join(config, "config.toml")
	own, err := readSettings(path)
	if err != nil {
		add(hooks.Unreadable, path, err.Error())
		return
	}
	if own.off() {
		add(hooks.Disabled, path, "[features] hooks = false turns off every hook")
	}
	for _, file := range paths(report) {
		var untrusted, changed, disabled []string
		for _, h := range installed(file) {
			if !slices.ContainsFunc(report.Installed, func(i hooks.Installed) bool {
				return i.Path == file && i.Event == h.event && i.Command == h.handler.Command
			}) {
				continue
			}
			state := own.Hooks.State[h.key(file)]
			switch {
			case state.TrustedHash == "":
				untrusted = append(untrusted, h.event)
			case state.TrustedHash != h.hash():
				changed = append(changed, h.event)
			case state.Enabled != nil && !*state.Enabled:
				disabled = append(disabled, h.event)
			}
		}
		const skips = "; codex exec skips such hooks without a word; start codex once and trust them"
		if untrusted != nil {
			add(hooks.Untrusted, file, "not trusted yet"+skips, untrusted...)
		}
		if changed != nil {
			add(hooks.Untrusted, file, "not as it was when it was trusted, or not in its place"+skips, changed...)
		}
		if disabled != nil {
			add(hooks.Untrusted, file, "switched off by the user; /hooks in codex switches it on", disabled...)
		}
	}
}

func paths(r *hooks.Report) []string {
	var all []string
	for _, i := range r.Installed {
		all = append(all, i.Path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A placedHook is a hook with its place in a file, by which it is trusted.
type placedHook struct {
	event        string
	group, index int
	matcher      *string
	handler      handler
}

// A handler is one hook in a file of hooks. Its fields are sorted by name.
type handler struct {
	Limit   *uint64 `json:"additionalContextLimit,omitempty"`
	Async   bool    `json:"async"`
	Command string  `json:"command"`
	Status  *string `json:"statusMessage,omitempty"`
	Timeout *uint64 `json:"timeout"`
	Type    string  `json:"type"`
}

// installed lists the hooks in a file; none if the client would not read it.
func installed(path string) []placedHook {
	var file struct {
		Hooks map[string][]struct {
			Matcher *string
			Hooks   []handler
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &file) != nil {
		return nil // the report says so
	}
	var all []placedHook
	for event, groups := range file.Hooks {
		for g, group := range groups {
			for i, h := range group.Hooks {
				all = append(all, placedHook{event, g, i, group.Matcher, h})
			}
		}
	}
	slices.SortFunc(all, func(a, b placedHook) int { return strings.Compare(a.event, b.event) })
	return all
}

// key returns a hook's name in settings, <file>:<event>:<group>:<index>.
func (h *placedHook) key(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return fmt.Sprintf("%s:%s:%d:%d", path, snake(h.event), h.group, h.index)
}

// snake writes an event as the settings do: pre_tool_use for PreToolUse.
func snake(event string) string {
	var b strings.Builder
	for i, c := range event {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// hash returns what the client notes for a trusted hook: the SHA-256 of all
// that it runs by, after its own corrections, but not its place. It was found
// by trying; the tests have hashes of the client.
func (h *placedHook) hash() string {
	canonical := struct {
		Event   string     `json:"event_name"`
		Hooks   [1]handler `json:"hooks"`
		Matcher *string    `json:"matcher,omitempty"`
	}{snake(h.event), [1]handler{h.handler}, h.matcher}
	timeout := uint64(600)
	if h.handler.Timeout != nil {
		timeout = max(1, *h.handler.Timeout)
	}
	switch h.event {
	case "SessionEnd":
		timeout = min(timeout, 3)
	case "Interrupt":
		timeout = min(timeout, 3)
		canonical.Matcher = nil
	case "UserPromptSubmit", "Stop":
		canonical.Matcher = nil
	}
	canonical.Hooks[0].Timeout = &timeout
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(canonical) // only strings and numbers
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}
