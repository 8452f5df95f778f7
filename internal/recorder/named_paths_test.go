package recorder

import (
	"slices"
	"testing"

	"gitagent/hooks"
)

// TestNamedByCalls: which paths calls name, from an agent's directory.
func TestNamedByCalls(t *testing.T) {
	t.Parallel()
	shell := func(command string) []hooks.Call { return []hooks.Call{{Tool: "Bash", Command: command}} }
	for _, tt := range []struct {
		name  string
		calls []hooks.Call
		want  []string
	}{
		{"nothing", nil, nil},
		{"a tool's path", []hooks.Call{{Paths: []string{"/w/b/f"}}}, []string{"/w/b/f"}},
		{"a relative one", []hooks.Call{{Paths: []string{"../b/f"}}}, []string{"/w/b/f"}},
		{"a reader's", []hooks.Call{{Effect: hooks.Reads, Paths: []string{"/w/b"}}}, []string{"/w/b"}},
		{"cd", shell("cd ../b && make"), []string{"/w/b"}},
		{"cd twice", shell("cd ../b; cd c && touch ../d/f"), []string{"/w/b", "/w/b/c", "/w/b/d/f"}},
		{"cd to a quoted name", shell(`cd "../b c" && ls`), []string{"/w/b c"}},
		{"cd home", shell("cd ~/p && ls"), []string{"/home/dev/p"}},
		{"cd back", shell("cd - && ls"), nil},
		{"git -C", shell("git -C ../b -C c status"), []string{"/w/b", "/w/b/c"}},
		{"a word", shell("cat ../b/f x"), []string{"/w/b/f"}},
		{"..", shell("ls .."), []string{"/w"}},
		{"a redirection", shell("echo x >../b/f"), []string{"/w/b/f"}},
		{"an option's", shell("make --directory=../b"), []string{"/w/b"}},
		{"a pattern", shell("cat ../b/*.go"), []string{"/w/b"}},
		{"a variable", shell("cat $HOME/x/y"), nil},
		{"a URL", shell("curl https://example.invalid/a/b"), nil},
		{"after an assignment", shell("A=1 env cd ../b"), []string{"/w/b"}},
		{"twice the same", shell("cat ../b/f ../b/f"), []string{"/w/b/f"}},
	} {
		want := append([]string{"/w/a"}, tt.want...)
		if got := Named("/w/a", "/home/dev", tt.calls); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
	}
}
