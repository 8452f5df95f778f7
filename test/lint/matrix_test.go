//go:build lint

package lint

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	matrixRun = regexp.MustCompile(`(?m)^go test .*$`)
	testFunc  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestMatrix: each name in make matrix is a test of a package of its line, and each package has one of the line's
// names. go test says nothing of a name without a test.
func TestMatrix(t *testing.T) {
	commands := exec.Command("make", "-n", "matrix")
	commands.Dir = top
	out, err := commands.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := matrixRun.FindAllString(string(out), -1)
	if len(lines) < 4 {
		t.Fatalf("make -n matrix has %d calls of go test:\n%s", len(lines), out)
	}
	for _, line := range lines {
		packages, pattern, ok := strings.Cut(line, " -run ")
		if !ok {
			continue
		}
		unused := map[string]bool{}
		for _, name := range alternatives(strings.Trim(strings.Fields(pattern)[0], "'")) {
			unused[name] = true
		}
		for _, p := range strings.Fields(packages) {
			if !strings.HasPrefix(p, "./") {
				continue
			}
			tests := testsIn(t, filepath.Join(top, strings.TrimSuffix(p, "/...")))
			found := false
			for name := range unused {
				if re := regexp.MustCompile(name); slices.ContainsFunc(tests, re.MatchString) {
					unused[name], found = false, true
				}
			}
			if !found {
				t.Errorf("no name of the matrix is a test of %s", p)
			}
		}
		maps.DeleteFunc(unused, func(_ string, still bool) bool { return !still })
		for name := range unused {
			t.Errorf("%s is no test of %s", name, packages)
		}
	}
}

// alternatives are the tests that a pattern of go test -run names, each as a pattern: A|^Test(B|C)$|^D$/^(e|f)$.
func alternatives(pattern string) (all []string) {
	depth, last := 0, 0
	var parts []string
	for i, c := range pattern {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			parts, last = append(parts, pattern[last:i]), i+1
		}
	}
	for _, part := range append(parts, pattern[last:]) {
		before, group, ok := strings.Cut(part, "(")
		if !ok {
			all = append(all, part)
			continue
		}
		group, after, _ := strings.Cut(group, ")")
		for word := range strings.SplitSeq(group, "|") {
			all = append(all, strings.NewReplacer("$/^", "/").Replace(before+word+after))
		}
	}
	return all
}

// testsIn returns the tests of the packages in and below a directory, scripts as TestScripts/name.
func testsIn(t *testing.T, dir string) (names []string) {
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(name, "_test.go"):
			content, err := os.ReadFile(path)
			for _, m := range testFunc.FindAllSubmatch(content, -1) {
				names = append(names, string(m[1]))
			}
			return err
		case strings.HasSuffix(name, ".txtar"):
			names = append(names, "TestScripts/"+strings.TrimSuffix(name, ".txtar"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
