//go:build e2e

package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/agent/claude"
	"gitagent/test/gittest"
)

const loginReply = "It took an **empty** name. That is an error now.\n\n" +
	"| Case | Before | Now |\n| --- | --- | --- |\n| empty | taken | `the name is empty` |\n\n" +
	"1. `check` has it\n2. [ ] the form says it\n\n```go\nif name == \"\" {\n```\n\nSee [the issue](https://example.invalid/12) and <b>nothing</b> else.\n"

// sessions records what people look at: a mission with all there is, and two forks of it.
func sessions(w *world) (mission string, forks []string) {
	w.Write(".gitignore", "*.log\n")
	w.Write("login.go", "package login\n\nfunc check(name string) error {\n\treturn nil\n}\n")
	w.Write("old.txt", "one\ntwo\nthree\n")
	w.Commit("init")
	c := w.client(w.Dir)
	mission = "a1b2c3d4"
	c.Session = "5e551000-0000-4000-8000-0000" + mission
	c.Path = claude.Path(w.config, w.Dir, c.Session)
	c.Context = 240_000
	c.Start("startup")
	c.Prompt("Fix the login form\n\nIt takes an empty name, and shows nothing.")
	c.Say("I look at it **first**.")
	c.Use("Read", map[string]any{"file_path": "login.go"}, "package login\n", false)
	c.Use("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}, "FAIL unfolded-result login_test.go:12", true)
	w.Write("login.go", "package login\n\nimport \"errors\"\n\nfunc check(name string) error {\n\tif name == \"\" {\n\t\treturn errors.New(\"the name is empty\")\n\t}\n\treturn nil\n}\n")
	w.Write("new.txt", "no newline at the end")
	c.Stop(loginReply)
	w.Write("notes.txt", "the user's own\n") // between the turns
	c.Context = 520_000
	c.Prompt("Who else calls it?")
	c.Delegate("look for callers", "There are two callers.")
	w.Write("login.go", strings.Replace(w.Read("login.go"), "return nil\n", "return nil // all is well\n", 1))
	c.Stop("Two do.")
	c.Context = 690_000
	c.Prompt("Go on, and tidy up")
	c.Compact("auto")
	c.Compacted("auto", 690_000, 60_000)
	w.Write("logo.png", "\x89PNG\x00\x01\x02")
	if err := os.Remove(filepath.Join(w.Dir, "old.txt")); err != nil {
		w.t.Fatal(err)
	}
	c.Use("Write", map[string]any{"file_path": "logo.png", "content": "..."}, "ok", false)
	c.Stop("Tidy.")
	c.End("other")
	d := w.client(w.Dir) // goes on with the same mission where it was handed off
	d.Session, d.Path = c.Session, c.Path
	d.Resume()
	d.Start("resume")
	d.Context = 180_000
	d.Prompt("Make it faster")
	d.Esc()
	d.Prompt("Once more")
	d.Fail("The service is overloaded")

	for i, text := range []string{"Use a table", "Use a switch"} {
		dir := filepath.Join(filepath.Dir(w.Dir), fmt.Sprintf("fork%d", i))
		var made struct{ Mission string }
		decode(w.t, w.run("git", "agent-fork", "--print", "--worktree", dir, mission+"/2"), &made)
		f := w.client(dir)
		f.Start("startup")
		f.Prompt(text)
		in := w.In(dir)
		in.Write("login.go", strings.Replace(in.Read("login.go"), "\tif name", fmt.Sprintf("\t// %s\n\tif name", text), 1))
		in.Write(fmt.Sprintf("fork%d.txt", i), text+"\n")
		f.Stop("Done: " + text)
		forks = append(forks, made.Mission)
	}
	return mission, forks
}

func TestPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mission, forks := sessions(w)
	file := filepath.Join(place(t), "page.html")
	w.run("git", "agent-turn", "page", "--all", "--out", file)
	parts := []string{"opens", "turns", "keys", "compares"}
	if gittest.Whole() {
		parts = append(parts, "pictures") // each page in three widths, light and dark
	}
	measured := drive(t, file, map[string]any{
		"scenarios": scenarios(parts...),
		"title":     "Missions of repo", "contains": "3 missions with 11 turns",
		"missions": 3, "forks": 2, "mission": mission, "turns": 5, "begin": mission + "/1",
		"row":    0,
		"shown":  []string{"It takes an empty name, and shows nothing.", "the name is empty", "the issue", "no newline at the end"},
		"folded": []string{"unfolded-result", "Run the tests"},
		"next":   mission + "/2", "first": mission + "/1", "second": mission + "/2",
		"word": "callers", "found": "1 turn", "hit": mission + "/2",
		"comparisons": []comparison{
			w.comparison(mission+"/1", mission+"/3"),
			w.comparison(forks[0]+"/3", forks[1]+"/3"),
			w.comparison(mission+"/5", forks[0]+"/3"),
		},
	})
	t.Logf("%v", measured)
}

// TestPageReviewed: a page opens at the oldest turn that nobody has reviewed, else at the newest. Who has reviewed is a text.
func TestPageReviewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Env = append(w.Env, "GIT_AUTHOR_NAME=Jo &lt;img src=x onerror=hacked=1&gt; \u202e")
	w.Write("file", "first\n")
	w.Commit("init")
	c := w.client(w.Dir)
	for _, text := range []string{"one", "two", "three"} {
		c.Prompt(text)
		w.Write("file", text+"\n")
		c.Stop("Done.")
	}
	mission := c.Session[len(c.Session)-8:]
	for reviewed, begin := range []string{"/1", "/2", "/3", "/3"} {
		if reviewed > 0 { // as a person does on a terminal
			w.run("script", "-qec", fmt.Sprintf("git agent-turn reviewed %s/%d", mission, reviewed), os.DevNull)
		}
		file := filepath.Join(place(t), "page.html")
		w.run("git", "agent-turn", "page", mission, "--out", file)
		drive(t, file, map[string]any{
			"scenarios": scenarios("reviewed"), "mission": mission, "turns": 3, "reviewed": reviewed, "begin": mission + begin,
			"reviewer": `reviewed by Jo &lt;img src=x onerror=hacked=1&gt; \u202e, `,
		})
	}
}

// TestPageWithout: what is left out is not in the file.
func TestPageWithout(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	w := newWorld(t)
	mission, _ := sessions(w)
	const (
		said, result, input, code, prompt, reply = "I look at it ", "unfolded-result", "Run the tests", "errors.New", "It takes an empty name", "It took an "
		agent                                    = "look for callers"
	)
	for _, tt := range []struct {
		without  []string
		lacks    []string
		has      []string
		contains string
	}{
		{nil, nil, []string{said, result, input, code, prompt, reply, agent}, "It has prompts and replies, conversations, results of tools, changes of files,"},
		{[]string{"transcript"}, []string{said, result, input, agent}, []string{code, prompt, reply}, "It has prompts and replies, changes of files, without conversations,"},
		{[]string{"results"}, []string{result}, []string{said, input, code, prompt, reply, agent}, "changes of files, without results of tools,"},
		{[]string{"code"}, []string{code}, []string{said, result, input, prompt, reply, agent}, "results of tools, without changes of files,"},
		{[]string{"code", "transcript"}, []string{code, said, result, input, agent}, []string{prompt, reply}, "It has prompts and replies, without conversations, changes of files,"},
	} {
		t.Run(strings.Join(append([]string{"without"}, tt.without...), " "), func(t *testing.T) {
			file := filepath.Join(place(t), "page.html")
			args := []string{"git", "agent-turn", "page", mission, "--out", file}
			for _, part := range tt.without {
				args = append(args, "--without", part)
			}
			w.run(args...)
			drive(t, file, map[string]any{"scenarios": scenarios("parts"), "has": tt.has, "lacks": append([]string{}, tt.lacks...), "contains": tt.contains, "first": mission + "/1"})
		})
	}
}

// decode decodes what a command printed.
func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
