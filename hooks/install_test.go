package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

var update = flag.Bool("update", false, "write what Install gives into testdata/install")

// entries are some that a client would have.
var entries = []Entry{
	{Event: "UserPromptSubmit", Command: "git-agent-turn hook || true", Timeout: 60},
	{Event: "Stop", Command: "git-agent-turn hook || true", Timeout: 60},
	{Event: "StopFailure", Command: "git-agent-turn hook || true", Timeout: 60},
	{Event: "SessionEnd", Command: "git-agent-turn hook || true", Timeout: 20},
	{Event: "SessionStart", Command: "git-agent-handoff hook || true", Timeout: 60},
	{Event: "PreToolUse", Command: "git-agent-handoff hook || true", Timeout: 10, Matcher: "Bash", If: []string{"Bash(git reset *)", "Bash(rm *)"}},
	{Event: "PostToolBatch", Command: "git-agent-handoff hook || true", Timeout: 10},
	{Event: "PreCompact", Command: "git-agent-handoff hook || true", Timeout: 60},
}

// golden reads testdata/install/<name>.json: settings before, after Install ("installed")
// and, where that is not what was there before, after Remove ("removed").
func golden(t testing.TB, name, what string) []byte {
	t.Helper()
	data, err := os.ReadFile(goldenPath(name, what))
	gittest.Must(t, err)
	return data
}

func goldenPath(name, what string) string {
	if what != "" {
		name += "." + what
	}
	return filepath.Join("testdata", "install", name+".json")
}

// TestInstall checks the golden files, in the forms that editors and systems give them.
func TestInstall(t *testing.T) {
	t.Parallel()
	forms := map[string]func([]byte) []byte{
		"as it is":    func(b []byte) []byte { return b },
		"CRLF":        func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
		"BOM":         func(b []byte) []byte { return append([]byte("\ufeff"), b...) },
		"no last end": func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) },
	}
	for _, tt := range []struct {
		name    string
		removed bool // Remove does not give back what was there: some of it was ours
	}{
		{name: "object"},         // empty
		{name: "typical"},        // order, numbers, escapes and nested settings stay
		{name: "others"},         // hooks of other tools stay, in our events too
		{name: "inline"},         // what is on one line gets ours on the same line
		{name: "four-blanks"},    // the indentation is the file's own
		{name: "tabs"},           // and so it is with tabs
		{name: "minified"},       // a file on one line stays on one line
		{name: "one-line"},       // with blanks, if it has them
		{name: "empty-hooks"},    // an empty object that was there is kept: the blank behind its bracket says so
		{name: "empty-event"},    // and so is an array
		{name: "comma-first"},    // commas may stand anywhere
		{"duplicate-keys", true}, // of two members with one key the client takes the last
		{"edited", true},         // counts as installed; only exactly our command is removed
	} {
		before := golden(t, tt.name, "")
		if *update {
			after, err := Install(before, entries)
			gittest.Must(t, err)
			gittest.Must(t, os.WriteFile(goldenPath(tt.name, "installed"), after, 0o666))
		}
		after, removed := golden(t, tt.name, "installed"), before
		if tt.removed {
			removed = golden(t, tt.name, "removed")
		}
		for form, as := range forms {
			t.Run(tt.name+" "+form, func(t *testing.T) {
				t.Parallel()
				got, err := Install(as(before), entries)
				gittest.Must(t, err)
				if want := as(after); !bytes.Equal(got, want) {
					t.Errorf("installed\n%q\nwant\n%q", got, want)
				}
				if again, err := Install(got, entries); err != nil || !bytes.Equal(again, got) {
					t.Errorf("installed twice, error %v:\n%q", err, again)
				}
				back, err := Remove(got, entries)
				if want := as(removed); err != nil || !bytes.Equal(back, want) {
					t.Errorf("removed, error %v\n%q\nwant\n%q", err, back, want)
				}
			})
		}
	}
}

// A missing or empty file becomes what the client would write.
func TestInstallEmpty(t *testing.T) {
	t.Parallel()
	want := golden(t, "object", "installed")
	for _, before := range []string{"", "\n", " \t\r\n", "\ufeff", "\ufeff\n"} {
		if got, err := Install([]byte(before), entries); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: got %s, error %v", before, got, err)
		}
	}
	if got, err := Remove(want, entries); err != nil || string(got) != "{}\n" {
		t.Errorf("removed: got %q, error %v", got, err)
	}
}

// A user may have moved things around since the installation.
func TestRemove(t *testing.T) {
	t.Parallel()
	const ours = `{"type":"command","command":"git-agent-turn hook || true"}`
	for _, tt := range []struct{ name, before, after string }{
		{"nothing", "", ""},
		{"white space", " \n", " \n"},
		{"none of ours", `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`},
		{"in a group with others, first", `{"hooks":{"Stop":[{"hooks":[` + ours + `,{"command":"x"}]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`},
		{"between others", `{"hooks":{"Stop":[{"hooks":[1, ` + ours + ` ,{"command":"x"}]}]}}`, `{"hooks":{"Stop":[{"hooks":[1 ,{"command":"x"}]}]}}`},
		{"in an event that we do not install", `{"hooks":{"SubagentStop":[{"matcher":"a","hooks":[` + ours + `]}],"Stop":[]}}`, `{"hooks":{"Stop":[]}}`},
		{"twice", `{"a":1,"hooks":{"Stop":[{"hooks":[` + ours + `,` + ours + `]},{"hooks":[` + ours + `]}]}}`, `{"a":1}`},
		{"only ours", `{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`, `{}`},
		{"beside what has the wrong type", `{"hooks":{"Stop":[1,"a",{"hooks":2},{"hooks":[` + ours + `]}],"SessionEnd":3}}`, `{"hooks":{"Stop":[1,"a",{"hooks":2}],"SessionEnd":3}}`},
		{"in exec form", `{"hooks":{"Stop":[{"hooks":[{"command":"git-agent-turn hook || true","args":[]}]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"command":"git-agent-turn hook || true","args":[]}]}]}}`},
	} {
		got, err := Remove([]byte(tt.before), entries)
		if err != nil || string(got) != tt.after {
			t.Errorf("%s: got %s, error %v, want %s", tt.name, got, err, tt.after)
		}
	}
}

// Rewritten by the client, which does so when the user changes a setting, the file has lost
// its white space; ours must still go, and take with it what it stood in.
func TestRemoveRewritten(t *testing.T) {
	t.Parallel()
	settings, err := Install([]byte(`{"model":"opus"}`), entries)
	gittest.Must(t, err)
	var b bytes.Buffer
	gittest.Must(t, json.Indent(&b, settings, "", "  "))
	got, err := Remove(b.Bytes(), entries)
	if want := "{\n  \"model\": \"opus\"\n}"; err != nil || string(got) != want {
		t.Errorf("got %s, error %v", got, err)
	}
}

func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, settings, want string }{
		{"comment", "{\n  \"model\": \"opus\", // mine\n  \"a\": 1\n}", "2:20: not strict JSON: invalid character '/' looking for beginning of object key string"},
		{"comment before", "/* mine */\n{}", "1:1: not strict JSON: invalid character '/' looking for beginning of value"},
		{"trailing comma", "{\r\n\t\"a\": [1,\r\n\t2,],\r\n}", "3:4: not strict JSON: invalid character ']' looking for beginning of value"},
		{"columns are runes", "\ufeff{\"日本\": }", "1:8: not strict JSON: invalid character '}' looking for beginning of value"},
		{"cut off", "{\n  \"a\": 1\n", "2:9: not strict JSON: unexpected end of JSON input"},
		{"two values", "{}\n{}", "2:1: not strict JSON: invalid character '{' after top-level value"},
		{"single quotes", "{'a': 1}", "1:2: not strict JSON: invalid character '\\'' looking for beginning of object key string"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "1:1: not strict JSON: invalid character 'ÿ' looking for beginning of value"},
		{"too deep", strings.Repeat("[", 20000), "1:10001: not strict JSON: invalid character '[' exceeded max depth"},
		{"array", "\n [1]", "2:2: the settings are an array, want an object"},
		{"null", "null", "1:1: the settings are null, want an object"},
		{"hooks", `{"hooks": []}`, "1:11: hooks is an array, want an object"},
		{"hooks null", `{"hooks": null}`, "1:11: hooks is null, want an object"},
		{"event", "{\"hooks\": {\n  \"Stop\": \"x\"\n}}", "2:11: hooks.Stop is a string, want an array"},
		{"group", `{"hooks":{"Stop":["x"]}}`, "1:19: an element of hooks.Stop is a string, want an object"},
		{"group without hooks", `{"hooks":{"Stop":[{"type":"command","command":"x"}]}}`, "1:19: an element of hooks.Stop has no hooks"},
		{"hooks of a group", `{"hooks":{"Stop":[{"hooks":{}}]}}`, "1:28: hooks in hooks.Stop is an object, want an array"},
		{"hook", `{"hooks":{"Stop":[{"hooks":["x"]}]}}`, "1:29: a hook in hooks.Stop is a string, want an object"},
		{"command", `{"hooks":{"Stop":[{"hooks":[{"command":["x"]}]}]}}`, "1:40: command in hooks.Stop is an array, want a string"},
		{"timeout", `{"hooks":{"SessionEnd":[{"hooks":[{"command":"x","timeout":"20"}]}]}}`, "1:60: timeout in hooks.SessionEnd is a string, want a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Install([]byte(tt.settings), entries)
			if got != nil || !errors.As(err, new(*SettingsError)) {
				t.Fatalf("got %q, error %#v", got, err)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
	// What is wrong elsewhere is not our business.
	if _, err := Install([]byte(`{"hooks":{"Notification":"x"},"model":1}`), entries); err != nil {
		t.Error(err)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]string{
		`{"command":"git-agent-turn hook || true"}`:                             "git-agent-turn",
		`{"command":"git-agent-handoff hook || true"}`:                          "git-agent-handoff",
		`{"command":"git agent-turn hook"}`:                                     "git-agent-turn",
		`{"command":"git","args":["agent-turn","hook"]}`:                        "git-agent-turn",
		`{"command":"\"/opt/git agent/git-agent-turn\" hook"}`:                  "git-agent-turn",
		`{"command":"sh -c 'git-agent-turn  hook --agent codex'"}`:              "git-agent-turn",
		`{"command":"PATH=/opt/bin:$PATH;git-agent-turn hook;true"}`:            "git-agent-turn",
		`{"command":"C:\\bin\\git-agent-turn.exe hook"}`:                        "git-agent-turn",
		`{"command":"git-agent-turn list"}`:                                     "",
		`{"command":"git-agent-turn hooks"}`:                                    "",
		`{"command":"my-git-agent-turn hook"}`:                                  "",
		`{"command":"git-agent-turner hook"}`:                                   "",
		`{"command":"git","args":{"agent-turn":"hook"}}`:                        "",
		`{"prompt":"git-agent-turn hook"}`:                                      "",
		`{"command":["git-agent-turn hook"]}`:                                   "",
		`{"command":"notify","args":["-t","git-agent-turn hook has finished"]}`: "git-agent-turn", // too eager, but harmless: nothing is removed
	} {
		d, err := parse([]byte(hook))
		gittest.Must(t, err)
		if got := runs(d.root); got != want {
			t.Errorf("%s: got %q, want %q", hook, got, want)
		}
	}
}

// effective returns the commands that the client runs for event, found with encoding/json.
func effective(t *testing.T, settings []byte, event string) []string {
	t.Helper()
	var top map[string]json.RawMessage
	var events map[string]json.RawMessage
	var groups []map[string]json.RawMessage
	gittest.Must(t, json.Unmarshal(bytes.TrimPrefix(settings, byteOrderMark), &top))
	if json.Unmarshal(top["hooks"], &events) != nil || json.Unmarshal(events[event], &groups) != nil {
		return nil
	}
	var commands []string
	for _, g := range groups {
		var hooks []map[string]any
		if json.Unmarshal(g["hooks"], &hooks) != nil {
			return nil
		}
		for _, h := range hooks {
			command, _ := h["command"].(string)
			args, _ := h["args"].([]any)
			for _, a := range args {
				s, _ := a.(string)
				command += " " + s
			}
			commands = append(commands, command)
		}
	}
	return commands
}

var anyOfOurs = regexp.MustCompile(`git[ -]agent-(turn|handoff)`)

// FuzzInstall is [checkInstall] with whatever bytes there may be.
func FuzzInstall(f *testing.F) {
	files, err := filepath.Glob(goldenPath("*", ""))
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		gittest.Must(f, err)
		f.Add(data)
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	}
	for _, s := range []string{
		"{\r}", "{ \n\r\n }", "\ufeff {}", "{\"a\":1,\n\"hooks\":{\n\n}\n}", "{\"hooks\":{\"Stop\":[ ]\n}}", "{\"hooks\"\n:\n{ }}",
		"  {\n    \"a\":1e999\n  }", "{\"hooks\":{\"Stop\":[{\"hooks\":[]}\n,{\"hooks\":[]}]}}", "{\"\\u0068ooks\":{}}", "{\"a\":\"\\ud800\xff\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(checkInstall)
}

// TestInstallRandom does the same with texts that, unlike most of a fuzzer's, are JSON:
// settings of every shape, with white space wherever it may stand.
func TestInstallRandom(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	refused := 0
	const texts = 500
	for seed := range uint64(texts) {
		g := &generator{rand.New(rand.NewPCG(seed, 0))}
		before := []byte(g.settings())
		if !json.Valid(before) {
			t.Fatalf("the generator made %q", before)
		}
		if _, err := Install(before, entries); err != nil {
			refused++
		}
		checkInstall(t, before)
	}
	if refused > texts/2 || refused == 0 {
		t.Errorf("%d of %d texts refused", refused, texts)
	}
}

// A generator makes settings at random.
type generator struct{ *rand.Rand }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) space() string {
	return pick(g, "", "", "", " ", "\n", "\n  ", "\r\n\t", "\r", " \n ", "\n\n")
}

// list puts up to three items, made by next, between brackets.
func (g *generator) list(open, shut string, next func() string) string {
	b := open + g.space()
	for i := range g.IntN(4) {
		if i > 0 {
			b += g.space() + "," + g.space()
		}
		b += next()
	}
	return b + g.space() + shut
}

func (g *generator) member(key, value string) string {
	return `"` + key + `"` + g.space() + ":" + g.space() + value
}

func (g *generator) other() string {
	return pick(g, "1e3", "null", `"x"`, "[]", "{}", "[ 1 ]", `"git-agent-turn hook || true"`)
}

func (g *generator) settings() string {
	return g.space() + g.list("{", "}", func() string {
		return pick(g,
			func() string { return g.member("hooks", g.hooks()) },
			func() string { return g.member(pick(g, "model", "a\\u00e9", "hook"), g.other()) },
		)()
	}) + g.space()
}

func (g *generator) hooks() string {
	return g.list("{", "}", func() string {
		event := pick(g, "Stop", "SessionEnd", "PreToolUse")
		if g.IntN(20) == 0 {
			return g.member(event, g.other())
		}
		return g.member(event, g.list("[", "]", func() string {
			hooks := g.member("hooks", g.list("[", "]", func() string {
				command := pick(g, `"x"`, `"x"`, `"x"`, `"git-agent-turn hook"`, `"git-agent-turn hook || true"`)
				return "{" + g.member("command", command) + g.space() + "}"
			}))
			return "{" + pick(g, "", `"matcher":"",`) + hooks + "}"
		}))
	})
}

// checkInstall checks that Install gives JSON in which all entries are in effect, changes nothing a
// second time, and that Remove takes back exactly what Install did.
func checkInstall(t *testing.T, before []byte) {
	clean, err := Remove(before, entries)
	if err == nil {
		if again, err := Remove(clean, entries); err != nil || !bytes.Equal(again, clean) {
			t.Fatalf("removed once\n%q\ntwice, error %v\n%q", clean, err, again)
		}
	}
	after, err := Install(before, entries)
	if err != nil {
		if !errors.As(err, new(*SettingsError)) {
			t.Fatalf("error %#v", err)
		}
		return
	}
	for _, e := range entries {
		if !anyOfOurs.MatchString(strings.Join(effective(t, after, e.Event), "\n")) {
			t.Fatalf("%s is not in effect in\n%q", e.Event, after)
		}
	}
	if again, err := Install(after, entries); err != nil || !bytes.Equal(again, after) {
		t.Fatalf("installed once\n%q\ntwice, error %v\n%q", after, err, again)
	}
	back, err := Remove(after, entries)
	gittest.Must(t, err)
	if bytes.Equal(clean, before) && !blank(before) && !bytes.Equal(back, before) {
		t.Fatalf("before\n%q\ninstalled\n%q\nremoved\n%q", before, after, back)
	}
}
