package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// ciSteps writes the shell scripts of a file of docs/ci, in order, as $WORK/<name>-1 and so on.
func ciSteps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ci <name>")
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", args[0]+".yml"))
	ts.Check(err)
	var steps []string
	margin := -1 // of the script that is read; -1 outside of any
	for line := range strings.Lines(string(data)) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case margin >= 0 && indent >= margin:
			steps[len(steps)-1] += strings.TrimLeft(line, " ")
		case strings.HasSuffix(line, "|\n"):
			steps, margin = append(steps, ""), indent+1
		default:
			margin = -1
		}
	}
	for i, text := range steps {
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), fmt.Sprintf("%s-%d", args[0], i+1)), []byte(text), 0o666))
	}
}
