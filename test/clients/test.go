//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/agent"
	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
)

// A result is what became of a client's tests.
type result struct {
	passed, skipped int
	failed          []string
	took            time.Duration // of all, one after another
}

// A line is one of go test -json, see go doc test2json.
type line struct {
	Action, Test, Output string
	Elapsed              float64
}

// test runs the end-to-end tests with these versions, and returns what became of them, also with an error. What they print
// and what the clients write stays in dir.
func test(ctx context.Context, versions map[string]string, run, dir string) (map[string]*result, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return tally(nil), err
	}
	defer log.Close()
	args := []string{"test", "-tags", "e2e", "-json", "-count=1", "-timeout", "0", "./test/e2e"}
	if run != "" {
		args = append(args, "-run", run)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), gittest.Ring+"=nightly", npm.Keep+"="+dir)
	for name, version := range versions {
		cmd.Env = append(cmd.Env, npm.Variable(name)+"="+version)
	}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return tally(nil), err
	}
	var lines []line
	for d := json.NewDecoder(out); ; {
		var l line
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			_ = cmd.Process.Kill()
			return tally(lines), errors.Join(fmt.Errorf("read what go test prints: %w", err), cmd.Wait())
		}
		lines = append(lines, l)
		_, _ = log.WriteString(l.Output)
	}
	if err := cmd.Wait(); err != nil {
		return tally(lines), fmt.Errorf("run the tests, see %s: %w", log.Name(), err)
	}
	return tally(lines), nil
}

// tally counts tests that have no parts, by the client whose they are.
func tally(lines []line) map[string]*result {
	results := map[string]*result{}
	for name := range npm.Clients {
		results[name] = new(result)
	}
	whole := map[string]bool{}
	for _, l := range lines {
		for parent := l.Test; strings.Contains(parent, "/"); {
			parent = parent[:strings.LastIndex(parent, "/")]
			whole[parent] = true
		}
	}
	for _, l := range lines {
		if l.Test == "" || whole[l.Test] {
			continue
		}
		r := results[owner(l.Test)]
		switch l.Action {
		case "pass":
			r.passed++
		case "skip":
			r.skipped++
		case "fail":
			r.failed = append(r.failed, l.Test)
		default:
			continue
		}
		r.took += time.Duration(l.Elapsed * float64(time.Second))
	}
	return results
}

// owner is the client that a test runs: the one of the matrix whose name is in the test's, or the first agent's.
func owner(test string) string {
	if matrix, rest, _ := strings.Cut(test, "/"); matrix == "TestMatrix" {
		name, _, _ := strings.Cut(rest, "/")
		if _, ok := npm.Clients[name]; ok {
			return name
		}
	}
	return agent.Default().Program
}
