package redact

import (
	"net/mail"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestFalseHits measures what is found where no secret should be: in the sources of Go's standard
// library, of this repository and of the modules it is built from, their lock files included. Private
// key blocks are real ones, made for tests, so they don't count, and neither do the shared secrets in
// the test vectors of circl; all else does, although most of it are credentials that tests and
// manuals have invented. Run it with -v for the figures.
func TestFalseHits(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("find GOROOT: %v", err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	dirs := []string{src, "../../cmd", "../../turns", "../../docs", "../../test", "../../hooks"}
	modules, err := exec.Command("go", "list", "-deps", "-test",
		"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "../../...").Output()
	if err != nil {
		t.Fatalf("find the modules: %v", err)
	}
	for _, line := range slices.Compact(slices.Sorted(strings.Lines(string(modules)))) {
		path, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if path != "github.com/cloudflare/circl" {
			dirs = append(dirs, dir)
		}
	}
	hits := map[string]int{}
	var size, found int
	step := gittest.Size(1, 20)
	for _, dir := range dirs {
		files, _ := source(t, dir)
		for i := 0; i < len(files); i += step {
			size += len(files[i])
			for _, sp := range find(files[i], 0) {
				if sp.rule != "" && sp.rule != rulePrivateKey {
					hits[sp.rule]++
					found++
				}
			}
		}
	}
	perMB := float64(found) / (float64(size) / 1e6)
	t.Logf("%d MB: %.2f false hits per MB, by rule %v", size/1e6, perMB, hits)
	if perMB >= 1 {
		t.Errorf("%.2f false hits per MB", perMB)
	}
	if size < 1e6 {
		t.Errorf("only %d bytes of source in %q", size, dirs)
	}
}

// TestFalsePeople measures what the rules for people's data find in Go's standard library. It has
// hundreds of e-mail addresses, so those count that have no form of one, and each telephone number, of
// which it has next to none. Run it with -v for the figures.
func TestFalsePeople(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("find GOROOT: %v", err)
	}
	files, size := source(t, filepath.Join(strings.TrimSpace(string(root)), "src"))
	addresses := map[string]bool{}
	var wrong []string
	for i := 0; i < len(files); i += gittest.Size(1, 5) {
		for _, sp := range people(files[i], nil) {
			text := files[i][sp.start:sp.end]
			_, err := mail.ParseAddress(strings.Replace(text, "%40", "@", 1))
			if sp.rule == ruleEmail && err == nil {
				addresses[text] = true
			} else {
				wrong = append(wrong, text)
			}
		}
	}
	t.Logf("%d MB: %d addresses, and %q", size/1e6, len(addresses), wrong)
	if len(wrong) > 10 {
		t.Errorf("%d false hits: %q", len(wrong), wrong)
	}
}
