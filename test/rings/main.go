// Rings runs the tests of a ring, one stage after the other, and goes on after one that fails:
//
//	go run ./test/rings test       what make test runs
//	go run ./test/rings check      what CI runs after that: every test in its short form, and what is no go test
//	go run ./test/rings nightly    the long forms
//	go run ./test/rings check race one stage, or several
//
// It prints what go test prints without -v, and at the end what it has left to the next ring, the ten slowest tests, and
// how long each stage took. It exits with 1 if one has failed.
//
// Tests have no time-out of their own, which a slow machine could reach. What hangs is ended by the only limit, that of
// the whole run, and shows where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"gitagent/test/gittest"
)

func main() {
	limit := flag.Duration("limit", 12*time.Hour, "after which the whole run is ended")
	flag.Parse()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // it is below nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("more than %v", *limit))
	defer cancel()
	chosen, err := choose(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "rings:", err)
		os.Exit(2)
	}
	passed, err := builtRun(ctx, os.Stdout, chosen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rings:", err)
	}
	if !passed {
		os.Exit(1)
	}
}

// builtRun runs stages, for whose tests the programs are built once.
func builtRun(ctx context.Context, out io.Writer, stages []stage) (passed bool, err error) {
	dir, err := os.MkdirTemp("", "git-agent-programs-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := gittest.Build(dir); err != nil {
		return false, err
	}
	if err := os.Setenv(gittest.Built, dir); err != nil {
		return false, err
	}
	return run(ctx, out, stages), nil
}

// choose returns the stages of a ring, or those of them that are named.
func choose(args []string) ([]stage, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("usage: rings test|check|nightly [<stage>...]")
	}
	all, ok := rings[args[0]]
	if !ok {
		return nil, fmt.Errorf("no ring %q: it is test, check or nightly", args[0])
	}
	if len(args) == 1 {
		return all, nil
	}
	var chosen []stage
	for _, name := range args[1:] {
		i := slices.IndexFunc(all, func(s stage) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no stage %q", args[0], name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// run runs the stages of a ring and reports whether all passed.
func run(ctx context.Context, out io.Writer, stages []stage) bool {
	total, failed := new(tally), 0
	var table strings.Builder
	for _, s := range stages {
		if len(stages) > 1 {
			fmt.Fprintf(out, "== %s: %s\n", s.name, s)
		}
		began := time.Now()
		t, err := s.run(ctx, out)
		total.add(t)
		if file := os.Getenv(gittest.Passed); file != "" && s.ring == "" && s.name == "tests" && t != nil {
			err = errors.Join(err, os.WriteFile(file, []byte(t.whole()), 0o600))
		}
		word := "passed"
		if err != nil {
			word = "FAILED"
			failed++
			fmt.Fprintf(out, "== %s: %v\n", s.name, err)
		}
		fmt.Fprintf(&table, "%s  %6.0f s  %s\n", word, time.Since(began).Seconds(), s.name)
		if ctx.Err() != nil {
			failed++
			fmt.Fprintf(&table, "the rest was not run: %v\n", context.Cause(ctx))
			break
		}
	}
	total.print(out)
	if len(stages) > 1 {
		fmt.Fprint(out, table.String())
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", total.passed, total.failed+failed, total.skipped)
	return failed == 0
}
