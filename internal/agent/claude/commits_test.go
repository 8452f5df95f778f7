package claude

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
)

func TestCommits(t *testing.T) {
	t.Parallel()
	const hash = "1a2b3c4"
	call := func(id, command string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}}`, id, command)
	}
	result := func(id, output string) string {
		return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}}`, id, output)
	}
	for _, tt := range []struct {
		name        string
		lines, want []string
	}{
		{"none", []string{call("a", "make"), result("a", "ok")}, nil},
		{"one", []string{call("a", "git add -A && git commit -m x"), result("a", "[main "+hash+"] x\n 1 file changed")}, []string{hash}},
		{"a root, and a detached HEAD", []string{call("a", "git commit"), result("a", "[main (root-commit) "+hash+"] x\n[detached HEAD abcdef0] y\n")}, []string{hash, "abcdef0"}},
		{"of another command", []string{call("a", "git log"), result("a", "[main "+hash+"] x")}, nil},
		{"of a call that is not there", []string{result("a", "[main "+hash+"] x // git commit")}, nil},
		{"not at the beginning of a line", []string{call("a", "git commit"), result("a", "see [main "+hash+"] x")}, nil},
		{"not a hash", []string{call("a", "git commit"), result("a", "[main 1a2b] x\n[main 1A2B3C4] x\n[1a2b3c4] x")}, nil},
		{"of a sub-agent", []string{call("a", "git commit"), strings.Replace(result("a", "[main "+hash+"] x"), "{", `{"isSidechain":true,`, 1)}, nil},
		{"blocks", []string{call("a", "git commit"), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"[main ` + hash + `] x"}]}]}}`}, []string{hash}},
		{"many", []string{call("a", "git commit"), result("a", strings.Repeat("[main "+hash+"] x\n", 2*maxCommits))}, slices.Repeat([]string{hash}, maxCommits)},
		{"junk", []string{`{"type":"user","message":{"content":[{"type":"tool_result"`, "commit", `{"type":"assistant","message":{"content":7}}`}, nil},
	} {
		if got := transcript.Commits(new(reader), []byte(strings.Join(tt.lines, "\n")+"\n")); !slices.Equal(got, tt.want) {
			t.Errorf("%s: Commits = %q, want %q", tt.name, got, tt.want)
		}
	}
}
