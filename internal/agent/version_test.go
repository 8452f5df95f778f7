package agent

import (
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"2.1.329 (Claude Code)\n": "2.1.329", "codex-cli 0.169.0\n": "0.169.0", "v1.18.33": "1.18.33", "1.2.3-beta.4": "1.2.3",
		"Version 7 of 1.0.\n": "1.0", "none ... here 3": "", "": "",
	} {
		if got := Version(printed); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
	sorted := []string{"0.9", "0.10.1", "1", "1.2.3", "1.2.3.1", "1.3", "2.0", "2." + strings.Repeat("9", 40)}
	for i, a := range sorted {
		for k, b := range sorted {
			if Newer(a, b) != (i > k) {
				t.Errorf("%s is newer than %s: %t", a, b, i <= k)
			}
		}
	}
}
