package gittest

import (
	"flag"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// Passed is the variable that names a file of tests that have passed, a package and a name of one or two parts a line.
// Make test writes it, and make check, run after that, does the rest.
const Passed = "GIT_AGENT_PASSED"

// leavePassed leaves out what has passed.
func leavePassed() error {
	name := os.Getenv(Passed)
	if name == "" {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	pattern := passedPattern(string(data), strings.TrimSuffix(info.Path, ".test"))
	if pattern == "" {
		return nil
	}
	return flag.Set("test.skip", pattern)
}

// passedPattern matches those tests of a list that are a package's, as go test -skip wants it.
func passedPattern(list, pkg string) string {
	var patterns []string
	for line := range strings.Lines(list) {
		of, test, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if of != pkg {
			continue
		}
		parts := strings.Split(test, "/")
		for i, part := range parts {
			parts[i] = "^" + regexp.QuoteMeta(part) + "$"
		}
		patterns = append(patterns, strings.Join(parts, "/"))
	}
	slices.Sort(patterns)
	return strings.Join(patterns, "|")
}
