package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/internal/cmdline/cmdlinetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"git-agent-handoff": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func TestManual(t *testing.T) {
	cmdlinetest.Manual(t, newApp(), "../../docs/git-agent-handoff.1")
}
