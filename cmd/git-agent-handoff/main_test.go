package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/cmdline/cmdlinetest"
	"gitagent/internal/gittest"
)

func TestMain(m *testing.M) {
	// Built with the race detector, every process of ours would sleep for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"git-agent-handoff": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, v := range gittest.Env(env.WorkDir) {
				if name, value, _ := strings.Cut(v, "="); name != "PATH" && name != "TMPDIR" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"says": says},
	})
}

func TestManual(t *testing.T) {
	t.Parallel()
	cmdlinetest.Manual(t, newApp(), "../../docs/git-agent-handoff.1")
}
