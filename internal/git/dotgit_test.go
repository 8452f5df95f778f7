package git

import "testing"

func TestDotGit(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		".git": true, "a/.git": true, ".git/config": true, "a/.GiT/b": true, "git~1": true, "GIT~1/x": true, ".git.": true, ".git /x": true,
		".git:stream": true, `a\.git`: true, ".g\u200cit": true,
		"": false, "a": false, ".gitignore": false, "git": false, "a.git": false, ".git2": false, "git~10": false, ".github/x": false,
	} {
		if got := DotGit(path); got != want {
			t.Errorf("DotGit(%q) = %t, want %t", path, got, want)
		}
	}
}
