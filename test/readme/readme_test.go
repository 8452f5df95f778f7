// Package readme runs what the README shows.
package readme

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

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
	commands, printed := recording(tour, "    ")
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
		if rest := beyond(t, command, run(command), printed[command]); rest != "" {
			t.Errorf("%s\nprints at the end\n%s", command, rest)
		}
	}
}

// TestReadmeDemo: what the README begins with is what the demo shows of a recorded session.
func TestReadmeDemo(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git-agent-turn", "demo")
	cmd.Env = gittest.New(t).Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, shown := recording(string(out), "")
	beginning, _, _ := strings.Cut(string(readme), "\n## ")
	commands, printed := recording(beginning, "    ")
	compared := 0
	for _, command := range commands {
		if strings.TrimSpace(printed[command]) != "" {
			beyond(t, command, shown[command], printed[command])
			compared++
		}
	}
	if compared != 3 {
		t.Errorf("the README begins with %q", commands)
	}
}

// recording returns the commands in a text, whose lines begin with the indent, and what each prints.
func recording(text, indent string) (commands []string, printed map[string]string) {
	printed = make(map[string]string)
	for line := range strings.Lines(text) {
		line, is := strings.CutPrefix(line, indent)
		if command, ok := strings.CutPrefix(line, "$ "); is && ok {
			commands = append(commands, strings.TrimSpace(command))
		} else if n := len(commands); n > 0 && (is && !strings.HasPrefix(line, "make ") || line == "\n") {
			printed[commands[n-1]] += line
		}
	}
	return commands, printed
}

// beyond compares what a command prints with what the README says, as far as that goes, and returns the rest.
func beyond(t *testing.T, command, got, want string) string {
	t.Helper()
	got, want = same(got), strings.TrimSpace(same(want))
	if want == "" {
		return ""
	}
	for part := range strings.SplitSeq(want, "...\n") {
		_, rest, ok := strings.Cut(got, strings.TrimSuffix(part, "\n..."))
		if !ok {
			t.Fatalf("%s\nprints\n%s\nand the README has\n%s", command, got, part)
		}
		got = rest
	}
	return strings.TrimSpace(got)
}

// same is a text without what differs from run to run.
func same(text string) string {
	text = regexp.MustCompile(`\b[0-9]+(s|m|h|d|mo|y) ago\b`).ReplaceAllString(text, "AGO")
	text = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b`).ReplaceAllString(text, "DATE")
	text = regexp.MustCompile(`cd \S*/fork && claude --resume [-0-9a-f]+`).ReplaceAllString(text, "cd FORK && claude --resume UUID")
	text = regexp.MustCompile(`(?m)^([1-5] +)[0-9]+[smh] `).ReplaceAllString(text, "${1}0s ")
	return regexp.MustCompile(`\b([0-9a-f]{7}|[0-9a-f]{8}) (\(Dev|Login)`).ReplaceAllString(text, "HASH $2")
}
