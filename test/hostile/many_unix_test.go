//go:build unix

package hostile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestMany: many missions, each with one large record and one large handoff, and all dated in the future, so
// that each may have the newest turn of all.
func TestMany(t *testing.T) {
	gittest.Nightly(t)
	repo := gittest.New(t)
	repo.Write("file", "1\n")
	repo.Commit("first")
	repo.Write(".git/agent/enabled", "")
	s := store{t, filepath.Join(repo.Dir, ".git", "objects")}
	head := repo.Git("rev-parse", "HEAD")
	text := strings.Repeat("do it, ", 500_000)
	record := func(fields map[string]any) string {
		line, err := json.Marshal(fields)
		gittest.Must(t, err)
		return s.blob(string(line) + "\n")
	}
	const late = "author Dev <dev@example.invalid> 4000000000 +0000\ncommitter Dev <dev@example.invalid> 4000000000 +0000\n"
	for n := range 24 {
		id := fmt.Sprintf("%08x", n)
		turn := record(map[string]any{"v": 1, "kind": "turn", "mission": id, "turn": 1, "at": at, "outcome": "done", "prompt": text, "code": head})
		told := record(map[string]any{"v": 1, "kind": "handoff", "mission": id, "handoff": 1, "at": at, "exit_type": "clean", "progress_summary": id + text, "written": at})
		tree := s.tree(
			entry{dir, "handoffs", s.tree(entry{dir, "000001", s.tree(entry{file, "handoff.json", told})})},
			entry{file, "mission.json", record(map[string]any{"v": 1, "id": id, "created": at})},
			entry{dir, "turns", s.tree(entry{dir, "0000", s.tree(entry{file, "000001.json", turn})})},
		)
		repo.Write(".git/refs/agent/missions/"+id, s.write("commit", fmt.Appendf(nil, "tree %s\n%s\nx\n", tree, late))+"\n")
	}
	for _, c := range []command{turn("list --all"), turn("search zzz"), turn("search do"), turn("missions"), turn("missions --tree"), {args: "git-agent-fork --all"}} {
		cost := execute(t, c, repo.Dir, filepath.Dir(repo.Dir), repo.Env)
		t.Logf("%-20s %6d ms %4d MB", c.args, cost.time.Milliseconds(), cost.memory>>20)
	}
}
