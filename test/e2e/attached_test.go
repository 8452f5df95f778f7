//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// attach starts a mission and returns its id and its branch.
func (r *rig) attach(dir string, args ...string) (mission, branch string) {
	r.t.Helper()
	r.command(dir, append([]string{"start"}, args...)...)
	branches := strings.Fields(r.repo.Git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent/mission"))
	if len(branches) != 1 {
		r.t.Fatalf("branches after start = %q, want one", branches)
	}
	return filepath.Base(branches[0]), branches[0]
}

// A mission with a branch: every turn moves it, and the agent's own commits are part of it.
func TestAttached(t *testing.T) {
	r := newNightly(t)
	main := r.repo.Git("rev-parse", "main")
	mission, branch := r.attach(r.repo.Dir, "--title", "Try it")
	if got := r.repo.Git("symbolic-ref", "--short", "HEAD"); got != branch {
		t.Fatalf("HEAD is on %s, want %s", got, branch)
	}
	r.mock.play(
		on("TCOMMIT", bash("echo own > own.txt && git add own.txt && git commit -q -m 'by the agent' && echo more > more.txt"), say("committed")),
		on("TCLEAN", bash("echo all > all.txt && git add . && git commit -q -m 'all of it'"), say("committed")),
	)

	var session string
	var wants []want
	head := main
	for i, prompt := range []string{"T1 hello", "T3 hello", "TCOMMIT hello", "TCLEAN hello", "T4 hello"} {
		if session == "" {
			session = r.claude(r.repo.Dir, prompt).ok().quiet().session()
		} else {
			r.claude(r.repo.Dir, prompt, "--resume", session).ok().quiet()
		}
		w := r.done(prompt)
		w.mission = mission
		wants = append(wants, w)
		last := r.list()[i]
		if got := r.repo.Git("rev-parse", branch); last.Code != got {
			t.Errorf("after %q the branch is at %s, want the code commit %s", prompt, got, last.Code)
		}
		if last.Base != head {
			t.Errorf("base of %q = %s, want the state before, %s", prompt, last.Base, head)
		}
		if got := r.repo.Git("status", "--porcelain", "-uall"); got != "" {
			t.Errorf("after %q status says %s", prompt, got)
		}
		head = last.Code
	}
	turns := r.check(wants...)

	subjects := strings.Split(r.repo.Git("log", "--reverse", "--format=%s", main+".."+branch), "\n")
	if want := []string{"turn 1: T1 hello", "by the agent", "turn 3: TCOMMIT hello", "all of it", "turn 5: T4 hello"}; !slices.Equal(subjects, want) {
		t.Errorf("commits of the branch = %q, want %q", subjects, want)
	}
	for trailer, want := range map[string]string{"Agent-Mission": mission, "Agent-Turn": "1", "Agent-Session": session} {
		if got := r.repo.Git("log", "-1", "--format=%(trailers:key="+trailer+",valueonly,separator=%x2C)", turns[0].Code); got != want {
			t.Errorf("trailer %s of turn 1 = %q, want %q", trailer, got, want)
		}
	}
	if got, want := turns[3].Code, r.repo.Git("rev-parse", branch+"~1"); got != want {
		t.Errorf("the turn that left nothing to commit has code %s, want the agent's own commit %s", got, want)
	}
	if got := r.repo.Git("rev-parse", "main"); got != main {
		t.Errorf("main moved to %s", got)
	}
}

// A mission in a worktree of its own leaves the user's checkout alone.
func TestAttachedWorktree(t *testing.T) {
	r := newNightly(t)
	r.repo.Write("draft.txt", "not to be touched\n")
	before := r.repo.Git("status", "--porcelain", "-uall")
	dir := filepath.Join(r.home, "mission")
	mission, branch := r.attach(r.repo.Dir, "--worktree", dir)
	if got := r.repo.In(dir).Git("symbolic-ref", "--short", "HEAD"); got != branch {
		t.Fatalf("HEAD of the worktree is on %s, want %s", got, branch)
	}
	session := r.claude(dir, "T1 hello").ok().quiet().session()
	r.claude(dir, "T2 hello", "--resume", session).ok().quiet()
	one, two := r.done("T1"), r.done("T2")
	one.mission, two.mission = mission, mission
	turns := r.check(one, two)
	if got := r.repo.Git("rev-parse", branch); got != turns[1].Code {
		t.Errorf("the branch is at %s, want %s", got, turns[1].Code)
	}
	if got := r.repo.In(dir).Git("status", "--porcelain", "-uall"); got != "" {
		t.Errorf("status of the worktree: %s", got)
	}
	if got := r.repo.Git("status", "--porcelain", "-uall"); got != before {
		t.Errorf("status of the user's checkout: %s, was %s", got, before)
	}
	if got := r.repo.Git("symbolic-ref", "--short", "HEAD"); got != "main" {
		t.Errorf("the user's checkout is on %s", got)
	}
}

// An interactive session on a mission's branch, with an Esc in it and a /clear:
// the new conversation belongs to the same mission.
func TestAttachedInteractive(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")))
	mission, branch := r.attach(r.repo.Dir)
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.interrupt()
	s.prompt("T2 hello")
	s.clear()
	s.prompt("T5 hello")
	s.exit()
	wants := []want{r.done("T1"), r.interrupted("TTOOL"), r.done("T2"), r.done("T5")}
	for i := range wants {
		wants[i].mission = mission
	}
	turns := r.check(wants...)
	if got := turns[3].Transcript.After; got != 0 {
		t.Errorf("the first turn after /clear comes after turn %d, want 0", got)
	}
	if got := r.repo.Git("rev-parse", branch); got != turns[3].Code {
		t.Errorf("the branch is at %s, want %s", got, turns[3].Code)
	}
	if got := r.repo.Git("status", "--porcelain", "-uall"); got != "" {
		t.Errorf("status: %s", got)
	}
}

// start runs the client itself, with a session id that the mission knows beforehand.
func TestStartLaunchesClient(t *testing.T) {
	r := newNightly(t)
	mission, _ := r.attach(r.repo.Dir, append([]string{"--title", "Launched", "--", r.client()}, r.arguments("-p", "T1 hello", "--output-format", "json")...)...)
	w := r.done("T1")
	w.mission = mission
	r.check(w)
	var about struct {
		Title    string   `json:"title"`
		Branch   string   `json:"branch"`
		Sessions []string `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(r.show(mission, "mission.json")), &about); err != nil || !slices.Contains(about.Sessions, w.session) || about.Title != "Launched" {
		t.Errorf("mission.json = %+v, %v, want session %s", about, err, w.session)
	}
}
