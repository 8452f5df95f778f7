//go:build e2e

package page

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A world is a repository with hooks, whose client is played.
type world struct {
	*gittest.Repo
	t      *testing.T
	config string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	r := gittest.New(t)
	w := &world{Repo: r, t: t, config: filepath.Join(filepath.Dir(r.Dir), "config")}
	r.Env = append(r.Env, "CLAUDE_CONFIG_DIR="+w.config)
	w.run("git", "agent-turn", "init", "--agent", "claude-code")
	return w
}

// client is a new process of the client in a directory.
func (w *world) client(dir string) *replay.Client { return replay.New(w.config, dir, w.hook) }

// hook is what the client's settings run for an event.
func (w *world) hook(e replay.Event) {
	w.t.Helper()
	for _, program := range []string{"git-agent-turn", "git-agent-handoff"} {
		cmd := exec.Command(program, "hook")
		cmd.Dir, cmd.Env, cmd.Stdin = e.Cwd, w.Env, bytes.NewReader(e.Payload())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			w.t.Fatalf("%s: %s: %v %s", program, e.Name, err, &stderr)
		}
	}
}

// run runs one of our programs.
func (w *world) run(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.Dir, w.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// code is the commit of a turn's state.
func (w *world) code(turn string) string {
	w.t.Helper()
	var record struct{ Code string }
	if err := json.Unmarshal([]byte(w.run("git", "agent-turn", "show", "--json", turn)), &record); err != nil || record.Code == "" {
		w.t.Fatalf("turn %s: %v", turn, err)
	}
	return record.Code
}

// A changed is a file in a comparison: its lines as a patch has them, without those that say where it is.
type changed struct {
	Path  string   `json:"path"`
	Lines []string `json:"lines"`
}

// A comparison is what two states differ in, by git's word.
type comparison struct {
	A     string    `json:"a"`
	B     string    `json:"b"`
	Files []changed `json:"files"`
}

func (w *world) comparison(a, b string) comparison {
	w.t.Helper()
	c := comparison{A: a, B: b, Files: []changed{}}
	names := w.Git("diff-tree", "-r", "-z", "--name-only", w.code(a), w.code(b))
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		f := changed{Path: name, Lines: []string{}}
		_, hunks, _ := strings.Cut(w.Git("diff-tree", "-p", "--no-commit-id", w.code(a), w.code(b), "--", name), "\n@@ ")
		for i, line := range strings.Split(strings.TrimSuffix("@@ "+hunks, "\n"), "\n") {
			if i > 0 && !strings.HasPrefix(line, "@@ ") {
				f.Lines = append(f.Lines, line)
			}
		}
		c.Files = append(c.Files, f)
	}
	return c
}

// place is a directory for a page and its pictures. PICTURES names one where they stay.
func place(t *testing.T) string {
	t.Helper()
	keep := os.Getenv("PICTURES")
	if keep == "" {
		return t.TempDir()
	}
	dir := filepath.Join(keep, t.Name())
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// drive opens a page with the driver, and returns what it measured.
func drive(t *testing.T, page string, want map[string]any) map[string]any {
	t.Helper()
	pictures := place(t)
	t.Logf("the page has %d kB", size(t, page)/1000)
	expected := filepath.Join(t.TempDir(), "expected.json")
	data, err := json.Marshal(want)
	if err == nil {
		err = os.WriteFile(expected, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/drive.mjs", installed, "/usr/bin/chromium", page, pictures, expected)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	var measured map[string]any
	if err := json.Unmarshal(out, &measured); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return measured
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// scenarios are those of the driver that SCENARIOS names, or else all of these.
func scenarios(all ...string) []string {
	if some := os.Getenv("SCENARIOS"); some != "" {
		return strings.Split(some, ",")
	}
	return all
}
