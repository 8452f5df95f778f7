package git

import "testing"

func TestDotGit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".git", "a/.git/b", ".GIT", ".giT", "git~1", "GIT~1/x", ".git ", ".git. .", ".git:x", ".git::$INDEX_ALLOCATION", `x\.git`, `.git\x`, "git~1.", "\u200c.git", ".g\u200dit", ".git\ufeff", ".git/config", "a/.GiT/b", `a\.git`,
	} {
		if !DotGit(name) {
			t.Errorf("%q is none", name)
		}
	}
	for _, name := range []string{
		"", "a", "git", ".git2", ".gitignore", ".github/x", ".gitx", "x.git", "git~2", "git~10", "a.git/b", ".git_", "g\u00eft", ".g it", "\xff.git", ".git\xff",
	} {
		if DotGit(name) {
			t.Errorf("%q is one", name)
		}
	}
	for _, name := range []string{".gitmodules", "d/.GITMODULES", "gitmod~1", "GI7EBA~1", ".gitmodules ", ".gitmodules:x", ".git\u200cmodules"} {
		if !DotGitmodules(name) {
			t.Errorf("%q is not .gitmodules", name)
		}
	}
	if DotGitmodules(".gitignore") || DotGitmodules("gitmodules") {
		t.Error("a name of another kind is .gitmodules")
	}
}
