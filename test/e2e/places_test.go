//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// The hooks are installed for the user: launched below the top of a repository they work too.
func TestSubdirectory(t *testing.T) {
	r := newNightly(t)
	session := r.claude(filepath.Join(r.repo.Dir, "src"), "T1 hello").ok().quiet().session()
	r.claude(filepath.Join(r.repo.Dir, "src"), "T2 hello", "--resume", session).ok().quiet()
	turns := r.check(r.done("T1"), r.done("T2"))
	if got, want := turns[0].Paths, []string{"src/one.txt"}; !slices.Equal(got, want) {
		t.Errorf("paths = %q, want %q", got, want)
	}
}

// The agent changes its directory: the hooks' working directory goes with it.
func TestAgentChangesDirectory(t *testing.T) {
	r := newNightly(t)
	session := r.claude(r.repo.Dir, "TCD hello").ok().quiet().session()
	if got, want := r.witness.last("Stop").Cwd, filepath.Join(r.repo.Dir, "sub2"); got != want {
		t.Fatalf("working directory of the Stop hook = %s, want %s", got, want)
	}
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	r.check(r.done("TCD"), r.done("T2"))
}

// The agent goes into a repository inside of the one it was launched in:
// the turn belongs to the outer one, and says that the inner one is not in it, as the user is told.
func TestNestedRepository(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on("TNEST", bash("echo out > out.txt && git init -q inner && cd inner && echo in > in.txt && git add . && git commit -q -m inner"), say("done")))
	if told := r.claude(r.repo.Dir, "TNEST hello").ok().heard("Stop"); !strings.Contains(told, "inner/ is not recorded as it is") {
		t.Errorf("the user is told %q", told)
	}
	if got, want := r.witness.last("Stop").Cwd, filepath.Join(r.repo.Dir, "inner"); got != want {
		t.Fatalf("working directory of the Stop hook = %s, want %s", got, want)
	}
	w := r.done("TNEST")
	var err error
	w.tree, err = snapshot(r.repo.Dir, r.env(), "inner")
	gittest.Must(t, err)
	turns := r.check(w)
	if s := turns[0].Skipped; len(s) != 1 || strings.TrimSuffix(s[0].Path, "/") != "inner" {
		t.Errorf("skipped = %v, want inner", s)
	}
	if out, err := r.repo.In(filepath.Join(r.repo.Dir, "inner")).Try("for-each-ref", "refs/agent", "refs/notes"); out != "" || err != nil {
		t.Errorf("the inner repository has %s, %v", out, err)
	}
}

// The agent moves into a worktree that the client makes for it. Its conversation goes on
// there, in a file that the client has moved; so does the recording.
func TestEnterWorktree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.talk("T1 hello", "TWT hello")
	inside := r.witness.last("Stop").Toplevel
	if inside == r.repo.Dir {
		t.Fatalf("the agent did not move\n%s", r.report())
	}
	r.claude(inside, "T3 hello", "--resume", session).ok().quiet()

	moved := r.done("TWT")
	moved.base = "" // the turn began in one worktree and ended in another
	turns := r.check(r.done("T1"), moved, r.done("T3"))
	if got, want := turns[1].Paths, []string{"wt.txt"}; !slices.Equal(got, want) {
		t.Errorf("paths of the turn that moved = %q, want %q: what differs between two worktrees is not the agent's work", got, want)
	}
	if got, want := turns[1].Branch, "worktree-lab-wt"; got != want {
		t.Errorf("branch of the turn that moved = %q, want %q", got, want)
	}
}

// Two sub-agents work in worktrees that the client makes; the agent removes one, and another that it has made itself. What all
// three held is with the turns, and can be had back.
func TestWorktreesOfSubagents(t *testing.T) {
	r := newNightly(t)
	launch := func(prompt string) map[string]any {
		return map[string]any{"type": "tool_use", "name": "Agent", "input": map[string]any{
			"description": "work", "prompt": prompt, "subagent_type": "general-purpose", "isolation": "worktree",
		}}
	}
	r.mock.play(
		on("TISO", reply{"content": []any{launch("SUBW write"), launch("SUBC commit")}}, say("launched")),
		on("SUBW", bash("echo one > sub.txt"), say("written")),
		on("SUBC", bash("echo two > c.txt && git add c.txt && git commit -q -m sub"), say("committed")),
		on("TRM", bash("git worktree remove --force $(git worktree list --porcelain | sed -n 's/^worktree \\(.*agent-.*\\)/\\1/p' | head -n 1)"), say("removed")),
		on("TOWN", bash("git worktree add -q -b mine ../mine && echo three > ../mine/m.txt"), bash("git worktree remove --force ../mine"), say("done")),
	)
	session := r.claude(r.repo.Dir, "TISO hello").ok().session()
	for _, word := range []string{"TRM", "TOWN"} {
		r.claude(r.repo.Dir, word+" hello", "--resume", session).ok()
	}
	found := map[string]bool{}
	for n := 1; ; n++ {
		out, err := r.repo.Try("agent-turn", "show", "--json", strconv.Itoa(n))
		if err != nil {
			break
		}
		var turn struct {
			Files     int
			Worktrees []struct {
				Name, Agent string
				Paths       []string
			}
		}
		gittest.Must(t, json.Unmarshal([]byte(out), &turn))
		for _, w := range turn.Worktrees {
			found[strings.Join(w.Paths, " ")] = true
			if (w.Agent == "") != (w.Name == "mine") {
				t.Errorf("worktree %s is of sub-agent %q", w.Name, w.Agent)
			}
			if got, err := r.repo.Try("agent-turn", "diff", strconv.Itoa(n)+":"+w.Name); err != nil || !strings.Contains(got, "b/"+w.Paths[0]) {
				t.Errorf("the diff of %s is %s, %v", w.Name, got, err)
			}
		}
		if turn.Files != 0 {
			t.Errorf("turn %d has changed %d files itself", n, turn.Files)
		}
	}
	if want := map[string]bool{"sub.txt": true, "c.txt": true, "m.txt": true}; !maps.Equal(found, want) {
		t.Errorf("worktrees held %v, want %v\n%s", found, want, r.report())
	}
}

// A session of one worktree is resumed in another one.
func TestResumedInAnotherWorktree(t *testing.T) {
	r := newNightly(t)
	other := filepath.Join(r.home, "other")
	r.repo.Git("worktree", "add", "-q", "-b", "topic", other)
	r.mock.play(on("THERE", bash("echo here > here.txt"), say("done")))
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	r.claude(other, "THERE hello", "--resume", session).ok().quiet()
	turns := r.check(r.done("T1"), r.done("THERE"))
	if got, want := turns[1].Paths, []string{"here.txt"}; !slices.Equal(got, want) {
		t.Errorf("paths = %q, want %q", got, want)
	}
	if turns[0].Branch != "main" || turns[1].Branch != "topic" {
		t.Errorf("branches = %q, %q, want main, topic", turns[0].Branch, turns[1].Branch)
	}
}

// Where nobody asked for recording, there is none, and no sound.
func TestSilence(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for _, tt := range []struct {
		name string
		dir  func(r *rig) string // where the client runs
	}{
		{"disabled", func(r *rig) string {
			r.vars = append(r.vars, "GIT_AGENT_DISABLE=1")
			return r.repo.Dir
		}},
		{"not enabled", func(r *rig) string {
			dir := filepath.Join(r.home, "other")
			r.repo.Git("clone", "-q", r.repo.Dir, dir)
			return dir
		}},
		{"no repository", func(r *rig) string {
			dir := filepath.Join(r.home, "plain")
			gittest.Must(r.t, os.Mkdir(dir, 0o777))
			return dir
		}},
		{"home", func(r *rig) string {
			// Somebody who keeps dotfiles in git and has recording on everywhere.
			home := r.repo.In(r.home)
			home.Git("init", "-q", "-b", "main")
			home.Git("config", "--global", "agent.record", "true")
			return r.home
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			dir := tt.dir(r)
			r.onboard(dir)
			session := r.claude(dir, "T1 hello").ok().quiet().session()
			if got := r.heard(session); len(got) != 0 {
				t.Errorf("hooks were heard: %+v", got)
			}
			if _, err := os.Stat(filepath.Join(dir, "one.txt")); err != nil {
				t.Errorf("the turn did not happen: %v", err)
			}
			if turns := r.list(); len(turns) != 0 {
				t.Errorf("recorded: %v", turns)
			}
			if out, err := r.repo.In(dir).Try("for-each-ref", "refs/agent", "refs/notes"); out != "" {
				t.Errorf("refs: %s, %v", out, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".git", "agent", "*")); len(left) > 1 || len(left) == 1 && filepath.Base(left[0]) != "enabled" {
				t.Errorf("local state: %q", left)
			}
		})
	}
}
