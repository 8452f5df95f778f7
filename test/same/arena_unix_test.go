//go:build unix

package same

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// An arena is where one walk after the other is taken. What both builds have is at the same path, live, while it is their turn:
// paths are in what commands print and write.
type arena struct {
	t      *testing.T
	top    string
	live   string
	sides  [2]string // where what a build has waits for its turn
	known  *grammar
	places map[string]*place
}

func newArena(t *testing.T, builds [2]string, known *grammar) *arena {
	t.Helper()
	a := &arena{t: t, top: gittest.TempDir(t), known: known, places: make(map[string]*place)}
	a.live = filepath.Join(a.top, "live")
	for i, dir := range builds {
		a.sides[i] = filepath.Join(a.top, []string{"before", "now"}[i])
		gittest.Must(t, os.MkdirAll(filepath.Join(a.sides[i], "bin"), 0o777))
		for _, name := range programs {
			data, err := os.ReadFile(filepath.Join(dir, name))
			gittest.Must(t, errors.Join(err, os.WriteFile(filepath.Join(a.sides[i], "bin", name), data, 0o777)))
		}
		for name, text := range stubs {
			gittest.Must(t, os.WriteFile(filepath.Join(a.sides[i], "bin", name), []byte(text), 0o777))
		}
	}
	return a
}

var programs = []string{"git-agent-turn", "git-agent-handoff", "git-agent-fork"}

// stubs stand for what the programs would start.
var stubs = map[string]string{
	"claude":   "#!/bin/sh\necho \"claude $*\"\n",
	"codex":    "#!/bin/sh\necho \"codex $*\"\n",
	"xdg-open": "#!/bin/sh\necho \"open $*\"\n",
	"notes":    "#!/bin/sh\ncat >/dev/null; echo \"notes $*\"; exit ${1:-0}\n",
}

func (a *arena) home() string { return filepath.Join(a.live, "home") }

// on does something while what a build has is at its path.
func (a *arena) on(side int, do func()) {
	gittest.Must(a.t, os.Rename(a.sides[side], a.live))
	defer func() { gittest.Must(a.t, os.Rename(a.live, a.sides[side])) }()
	do()
}

// env is the environment of all that runs in a home directory.
func (a *arena) env(home string) []string {
	env := gittest.Env(home)
	for i, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			env[i] = "PATH=" + filepath.Join(a.live, "bin") + ":" + path
		}
		if strings.HasPrefix(v, "TMPDIR=") {
			env[i] = "TMPDIR=" + filepath.Join(a.live, "tmp")
		}
	}
	return append(env, "TMPDIR="+filepath.Join(a.live, "tmp"), "GIT_EDITOR=true", "TERM=dumb", "SHELL=/bin/sh", "TMUX_TMPDIR="+filepath.Join(a.live, "tmp"))
}

// furnish gives both builds a copy of a place.
func (a *arena) furnish(p *place) {
	for _, side := range a.sides {
		for _, name := range []string{"home", "tmp"} {
			gittest.Must(a.t, os.RemoveAll(filepath.Join(side, name)))
		}
		gittest.Must(a.t, os.Mkdir(filepath.Join(side, "tmp"), 0o777))
		a.must(a.top, os.Environ(), "cp", "-a", p.kept, filepath.Join(side, "home"))
	}
}

func (a *arena) must(dir string, env []string, argv ...string) {
	a.t.Helper()
	if r := a.run(dir, env, "", argv...); r.status != 0 {
		a.t.Fatalf("%.100s: exit status %d\n%s%s", shell(argv...), r.status, tail(r.stdout), tail(r.stderr))
	}
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// A result is what a command answered.
type result struct {
	status         int
	stdout, stderr string
}

// run runs a command, and waits for what it leaves in the background, too.
func (a *arena) run(dir string, env []string, stdin string, argv ...string) result {
	a.t.Helper()
	reads, writes, err := os.Pipe()
	gittest.Must(a.t, err)
	defer reads.Close()
	path := argv[0]
	if !strings.ContainsRune(path, '/') {
		for _, v := range env {
			if list, ok := strings.CutPrefix(v, "PATH="); ok {
				path = look(list, path)
			}
		}
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = dir, env, strings.NewReader(stdin), []*os.File{writes}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	writes.Close()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		a.t.Fatalf("%s: %v", shell(argv...), err)
	}
	_, err = io.Copy(io.Discard, reads)
	gittest.Must(a.t, err)
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func look(list, name string) string {
	dirs := filepath.SplitList(list)
	i := slices.IndexFunc(dirs, func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
	if i < 0 {
		return name
	}
	return filepath.Join(dirs[i], name)
}
