package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestReadme runs the commands that the README shows with what they print. A line of dots stands for what it
// leaves out.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tour, _ := strings.Cut(string(readme), "\nWhich turn wrote a line stays known")
	tour, _, _ = strings.Cut(tour, "\nWhat is recorded ")
	var commands []string
	printed := make(map[string]string)
	for line := range strings.Lines(tour) {
		line, is := strings.CutPrefix(line, "    ")
		if command, ok := strings.CutPrefix(line, "$ "); is && ok {
			commands = append(commands, command)
		} else if n := len(commands); n > 0 && (is || line == "\n") {
			printed[commands[n-1]] += line
		}
	}
	if len(commands) != 3 {
		t.Fatalf("the README shows %q", commands)
	}

	r := gittest.New(t)
	run := func(command string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = r.Dir, r.Env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	const before, after = "package login\n\nfunc check(name string) error {\n", "\treturn nil\n}\n"
	r.Write("login.go", before+after)
	r.Commit("first")
	run("git checkout -q -b login")
	r.Write("login.go", before+"\tif name == \"\" {\n\t\treturn errors.New(\"no\")\n\t}\n"+after)
	run("git agent-turn record --mission a1b2c3d4 --agent claude-code --prompt 'Fix the login form' --reply 'It took an empty name. That is an error now.'")
	run("GIT_COMMITTER_DATE= git commit -q -a -m wip")
	r.Write("login.go", before+"\tif name == \"\" {\n\t\treturn errors.New(\"the name is empty\")\n\t}\n"+after)
	run("git agent-turn record --mission a1b2c3d4 --agent claude-code --prompt 'Say what is wrong'")
	run("GIT_COMMITTER_DATE= git commit -q -a -m 'more wip' && git checkout -q main")
	r.Env = append(r.Env, "GIT_COMMITTER_DATE=2099-01-01T00:00:00Z") // the turns are of now
	for _, command := range commands {
		got, want := same(run(command)), same(printed[command])
		if strings.TrimSpace(want) == "" {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(want), "...\n") {
			_, rest, ok := strings.Cut(got, part)
			if !ok {
				t.Fatalf("%s\nprints\n%s\nand the README has\n%s", command, got, part)
			}
			got = rest
		}
		if strings.TrimSpace(got) != "" {
			t.Errorf("%s\nprints at the end\n%s", command, got)
		}
	}
}

// same is a text without what differs from run to run.
func same(text string) string {
	text = regexp.MustCompile(`\b[0-9]+(s|m|h|d|mo|y) ago\b`).ReplaceAllString(text, "AGO")
	text = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b`).ReplaceAllString(text, "DATE")
	return regexp.MustCompile(`\b([0-9a-f]{7}|[0-9a-f]{8}) (\(Dev|Login)`).ReplaceAllString(text, "HASH $2")
}
