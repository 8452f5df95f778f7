package gitdiff

import "testing"

func TestExcludes(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]bool{
		"file": false, "!file": false, ":!file": true, ":^file": true, ":/file": false, ":/!file": true,
		":(exclude)file": true, ":(top,exclude)file": true, ":(top)!file": false, ":(literal)exclude": false,
		":": false, "": false, ":file!": false,
	} {
		if got := Excludes(spec); got != want {
			t.Errorf("Excludes(%q) = %t", spec, got)
		}
	}
}
