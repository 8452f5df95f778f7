// Package formats tests repositories of both object formats, SHA-1 and SHA-256,
// with the programs as they are installed: one after the other, one in the
// other, and what plain git makes of what is recorded in each. All other tests
// run in SHA-256 repositories as well:
//
//	GIT_DEFAULT_HASH=sha256 go test ./...
package formats

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

// TestEach runs a script in a repository of each format.
func TestEach(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for format, hash := range map[string]string{"sha1": "[0-9a-f]{40}", "sha256": "[0-9a-f]{64}"} {
		t.Run(format, func(t *testing.T) { scripts(t, "testdata/each", format, hash) })
	}
}

// TestBoth runs scripts with repositories of both formats.
func TestBoth(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	scripts(t, "testdata/both", "sha1", "") // a script says which it means
}

func scripts(t *testing.T, dir, format, hash string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, v := range gittest.Env(env.WorkDir) {
				if name, value, _ := strings.Cut(v, "="); name != "PATH" && name != "TMPDIR" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("GIT_DEFAULT_HASH", format)
			env.Setenv("FORMAT", format)
			env.Setenv("HASH", hash)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"turn": turn, "status": status},
	})
}

// turn lets an agent's client take a turn in a directory, whose hooks it starts in another one:
//
//	turn <dir> <hooks' dir> <prompt> [<what it does, for the shell> [<kilobytes of reply>]]
//
// What the hooks print is in the file heard, and is nothing unless there is a
// reason.
func turn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 5 {
		ts.Fatalf("usage: turn <dir> <hooks' dir> <prompt> [<what it does> [<kilobytes of reply>]]")
	}
	var heard bytes.Buffer
	c := replay.New(ts.Getenv("WORK"), ts.MkAbs(args[0]), func(e replay.Event) {
		cmd := exec.Command("git-agent-turn", "hook")
		cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs(args[1]), &heard, &heard
		// As a pipe, which nobody can set back.
		cmd.Stdin = io.MultiReader(bytes.NewReader(e.Payload()))
		for _, name := range []string{"HOME", "PATH", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM"} {
			cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
		}
		if err := cmd.Run(); err != nil {
			ts.Fatalf("hook of %s: %v\n%s", e.Name, err, &heard)
		}
	})
	c.Prompt(args[2])
	if len(args) > 3 {
		cmd := exec.Command("sh", "-c", args[3])
		cmd.Dir = ts.MkAbs(args[0])
		ts.Check(cmd.Run())
	}
	reply := "done"
	if len(args) > 4 {
		kilobytes, err := strconv.Atoi(args[4])
		ts.Check(err)
		reply = strings.Repeat(strings.Repeat("word ", 25)+"\n\n\n", 8*kilobytes)
	}
	c.Stop(reply)
	ts.Check(os.WriteFile(ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "heard")), heard.Bytes(), 0o666))
}

// status runs a command that must exit with the given status:
//
//	status 3 git agent-turn show 12
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status <status> <command>...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}
