package powers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/power"
	"gitagent/internal/trust"
	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// brought are what a tree can bring that something obeys.
var brought = map[string]string{
	".git-agent.toml":             "[capture]\nexclude = [\"*\"]\n",
	".claude/settings.json":       `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch $HOME/ran"}]}]}}`,
	".githooks/post-index-change": "#!/bin/sh\ntouch $HOME/ran\n",
}

// trusts lists a key in a home, as a person does on a terminal.
func (w *world) trusts(name, home string) {
	w.t.Helper()
	key, err := trust.ParseKey(gittest.Key(home, name))
	gittest.Must(w.t, err)
	gittest.Must(w.t, trust.ReadKeys(filepath.Join(w.home, ".config", "git-agent"), "").Add(w.t.Context(), name, key))
}

// somebody sends all that they can think of to a world's remote: a mission with a handoff and files that something
// obeys, a purge of a text that is everywhere, one of the world's own mission, and junk where our refs are.
func (w *world) somebody(name string) {
	w.t.Helper()
	s := &world{w.t, gittest.TempDir(w.t)}
	gittest.Key(s.home, name)
	s.trusts("dev", w.home)
	s.must("", "git", "clone", "-q", filepath.Join(w.home, "remote"), "repo")
	s.must("repo", "git", "checkout", "-q", "-b", "main")
	s.write("repo/file", "first\n")
	s.must("repo", "git", "add", "file")
	s.must("repo", "git", "commit", "-q", "-m", "first")
	s.must("repo", "git", "agent-turn", "init")
	s.must("repo", "git", "config", "agent."+filepath.Join(w.home, "remote")+".push", "all")
	s.must("repo", "git", "agent-turn", "fetch", "origin")
	for path, content := range brought {
		gittest.Must(w.t, os.MkdirAll(filepath.Join(s.home, "repo", filepath.Dir(path)), 0o755))
		s.write("repo/"+path, content)
	}
	s.must("repo", "git", "agent-turn", "record", "--mission", strange, "--prompt", word, "--reply", word)
	s.must("repo", "git", "agent-handoff", "write", "--mission", strange, "--summary", word)
	s.must("repo", "git", "agent-turn", "push")
	for _, args := range [][]string{{"--match", "--common", "--yes"}, {"--mission", own, "--yes"}, {"--turn", other + "/1", "--yes"}, {"--path", "file", "--yes"}, {"--push", "--yes"}} {
		cmd := exec.Command("git", append([]string{"agent-turn", "purge"}, args...)...)
		cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(s.home, "repo"), gittest.Env(s.home), strings.NewReader("\\w{4,}\n")
		_ = cmd.Run() // they may be refused something
	}
	s.run("repo", nil, "git", "push", "-q", "origin", "HEAD:refs/agent/archive/x", "HEAD:refs/heads/x")
}

// session plays a session of an agent with one turn in the world's repository, and returns what its hooks tell it.
func (w *world) session() string {
	w.t.Helper()
	var told bytes.Buffer
	dir := filepath.Join(w.home, "repo")
	c := claude.New(filepath.Join(w.home, ".claude"), dir, nil)
	c.PID = os.Getpid()
	c.Hook = func(e claude.Event) {
		for _, program := range []string{"git-agent-turn", "git-agent-handoff"} {
			cmd := exec.Command(program, "hook")
			cmd.Dir, cmd.Env, cmd.Stdin = dir, append(gittest.Env(w.home), fmt.Sprintf("CLAUDE_PID=%d", e.PID)), bytes.NewReader(e.Payload())
			said, err := cmd.Output()
			gittest.Must(w.t, err)
			var answer struct {
				HookSpecificOutput struct{ AdditionalContext string }
			}
			_ = json.Unmarshal(said, &answer)
			told.WriteString(answer.HookSpecificOutput.AdditionalContext)
		}
	}
	c.Start("startup")
	c.Prompt("paint it black")
	w.write("repo/black", "black\n")
	c.Stop("It is black.")
	c.End("other")
	c.Flush()
	return told.String()
}

// TestRemote: what somebody has sent does here what the table says that they may.
func TestRemote(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	first := newWorld(t)
	for _, who := range []power.Actor{power.Colleague, power.Stranger, power.Host} {
		t.Run(string(who), func(t *testing.T) {
			t.Parallel()
			w := first.copied(t)
			if who == power.Colleague {
				w.trusts("somebody", w.home)
			}
			settings := func() string {
				var all strings.Builder
				for _, dir := range []string{".config", "repo/.git/config", "elsewhere"} {
					gittest.Must(t, filepath.WalkDir(filepath.Join(w.home, dir), func(path string, d fs.DirEntry, err error) error {
						if err == nil && d.Type().IsRegular() {
							var data []byte
							data, err = os.ReadFile(path)
							fmt.Fprintf(&all, "%s\n%s\n", path, data)
						}
						return err
					}))
				}
				return all.String()
			}
			was, head := settings(), w.must("repo", "git", "rev-parse", "HEAD")
			if who == power.Host {
				for ref := range strings.FieldsSeq(w.must("remote", "git", "for-each-ref", "--format=%(refname)")) {
					w.must("remote", "git", "update-ref", "-d", ref)
				}
				w.must("remote", "git", "fetch", "-q", filepath.Join(w.home, "repo"), "HEAD:refs/agent/purges/x", "HEAD:refs/agent/archive/x", "HEAD:refs/agent/missions/"+strange)
			} else {
				w.somebody("somebody")
			}
			_, _ = w.run("repo", nil, "git", "agent-turn", "fetch", "origin")
			told := w.session()
			_, _ = w.run("repo", nil, "git", "agent-turn", "push")
			_, _ = w.run("repo", nil, "git", "agent-turn", "fetch", "origin")
			told += w.session()

			code := w.must("repo", "git", "agent-turn", "show", "--json", own+"/1")
			code, _, _ = strings.Cut(code[strings.Index(code, `"code":"`)+8:], `"`)
			list := w.must("repo", "git", "agent-turn", "list", "--all", "--json")
			_, sent := w.run("remote", nil, "git", "cat-file", "-e", w.must("", "git", "hash-object", "outside"))
			did := map[power.Use]bool{
				{Deed: power.Tell, Whose: power.Clone}:        strings.Contains(told, word),
				{Deed: power.Record, Whose: power.Clone}:      strings.Count(list, `"mission":"`+own+`"`) > 1,
				{Deed: power.Purge, Whose: power.Clone}:       strings.Count(list, "say "+text) != 2 || w.must("repo", "git", "show", code+":file") != "second\n",
				{Deed: power.Configure, Whose: power.Clone}:   settings() != was,
				{Deed: power.Trust, Whose: power.Everybody}:   settings() != was,
				{Deed: power.SwitchOff, Whose: power.Clone}:   strings.Count(list, "paint it black") != 2 || !strings.Contains(list, `"black"`),
				{Deed: power.Restore, Whose: power.Clone}:     w.must("repo", "git", "rev-parse", "HEAD") != head || strings.Contains(w.must("repo", "git", "status", "--porcelain"), word),
				{Deed: power.Record, Whose: power.Everybody}:  strings.Contains(list, `"mission":"`+strange+`"`),
				{Deed: power.Restore, Whose: power.Elsewhere}: settings() != was,
				{Deed: power.Read, Whose: power.Elsewhere}:    sent == nil,
			}
			for use, it := range did {
				if g := power.Of(who, use.Deed, use.Whose); it && (g == power.No || g == power.Unknown) {
					t.Errorf("it did %s what is %s", use.Deed, use.Whose)
				}
			}
			if who == power.Colleague && !did[power.Use{Deed: power.Record, Whose: power.Everybody}] {
				t.Error("the colleague's mission is not here")
			}
			if p := (power.Use{Deed: power.Purge, Whose: power.Clone}); did[p] {
				t.Error("a careless purge was applied")
			}
			if _, err := os.Stat(filepath.Join(w.home, "ran")); err == nil {
				t.Error("a file of theirs was run")
			}
		})
	}
}
