//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Wherever the fork's worktree lies, the client finds its conversation at the place where it looks
// for that directory's own.
func TestForkPlaces(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for _, tt := range []struct {
		name   string
		dir    string // of the worktree, below the home directory
		config string // the client's directory, if not the usual one
	}{
		{name: "blanks, accents, wide", dir: "a fork é 日本語 👍"},
		{name: "long", dir: strings.Repeat("a-long-name/", 20) + "fork"},
		{name: "symbolic link", dir: "link/fork"},
		{name: "the client's directory is elsewhere", dir: "fork", config: ".claude-elsewhere"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newBareRig(t)
			if tt.config != "" {
				r.vars = append(r.vars, "CLAUDE_CONFIG_DIR="+filepath.Join(r.home, tt.config))
			}
			r.command(r.repo.Dir, "init")
			gittest.Must(t, os.Mkdir(filepath.Join(r.home, "real"), 0o777))
			gittest.Must(t, os.Symlink("real", filepath.Join(r.home, "link")))
			session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
			r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
			f := r.fork(r.repo.Dir, "1", "--worktree", filepath.Join(r.home, filepath.FromSlash(tt.dir)))
			r.claude(f.Worktree, "T5 hello", f.Command[1:]...).ok().quiet()
			request := r.first("T5")
			r.holds("the fork", request, "T1", "T5")
			r.sameMessages("the fork", r.first("T2"), request)
			real, err := filepath.EvalSymlinks(f.Worktree)
			gittest.Must(t, err)
			f.Worktree = real
			r.lives(f, request)
			for _, e := range r.witness.events() {
				if e.Session == f.Session && e.Transcript != f.file {
					t.Errorf("the client's file is %s, the conversation was placed at %s", e.Transcript, f.file)
				}
			}
			if all := r.turns(f.Mission); len(all) != 2 || all[1].Mission != f.Mission || all[1].Transcript.After != 1 {
				t.Errorf("the fork has the turns %v, want one inherited and one of its own", all)
			}
		})
	}
}

// A conversation from which secrets were cut out is taken up again; what the model thought is sent
// back as it was signed.
func TestForkOfRedacted(t *testing.T) {
	r := newNightly(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	r.mock.play(on("TSECRET", reply{"thinking": "Let me look.", "tool": "Bash", "input": map[string]any{"command": "echo token=" + secret, "description": "run"}}, say("It is "+secret+".")))
	session := r.claude(r.repo.Dir, "TSECRET is "+secret).ok().quiet().session()
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	f := r.fork(r.repo.Dir, "1")
	if strings.Contains(string(f.placed), secret) || !strings.Contains(string(f.placed), "[redacted:") {
		t.Fatalf("the conversation that was placed is not redacted:\n%s", f.placed)
	}
	request := r.goOn("the fork", f, "TSECRET", "T5")
	original := r.first("T2").before()
	if len(request.Messages) < len(original.Messages) {
		t.Fatalf("%d messages were sent, want the original's %d and more", len(request.Messages), len(original.Messages))
	}
	thoughts, redacted := 0, 0
	for i, m := range original.Messages {
		got := string(request.Messages[i])
		if strings.Contains(string(m), `"signature"`) {
			thoughts++
			if !strings.Contains(got, `"signature"`) || !strings.Contains(got, "Let me look.") {
				t.Errorf("message %d: the thought is gone: %s", i+1, got)
			}
		}
		if strings.Contains(string(m), secret) {
			redacted++
		} else if got != string(m) {
			t.Errorf("message %d differs: %s", i+1, around(string(m), got))
		}
		if strings.Contains(got, secret) {
			t.Errorf("message %d holds the secret", i+1)
		}
	}
	if thoughts == 0 || redacted < 3 {
		t.Errorf("%d thoughts and %d messages with a secret, want one, and prompt, call, output and reply", thoughts, redacted)
	}
}

// The agent is started in the terminal that the fork was made in, and gets the prompt to replay.
func TestForkLaunch(t *testing.T) {
	r := newNightly(t)
	original := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	r.claude(r.repo.Dir, "T2 hello", "--resume", original).ok().quiet()
	r.script("bin/claude", "exec '"+r.client()+"' '"+strings.Join(r.arguments(), "' '")+"' \"$@\"\n")
	r.vars = append(r.vars, "PATH="+filepath.Join(r.home, "bin")+":"+os.Getenv("PATH"), "GIT_PROGRESS_DELAY=0")
	dir := filepath.Join(r.home, "fork")
	stops := len(r.witness.named("Stop"))
	term := newTerminal(t, r.env(), r.repo.Dir, "git-agent-fork", "2", "--before", "--launch", "--worktree", dir)
	s := &session{r: r, term: term, pid: term.pid()}
	t.Cleanup(s.kill)
	r.sessions = append(r.sessions, s)
	s.stopped(stops+1, "the prompt on the command line")
	s.ready("the replayed turn")
	s.prompt("T3 hello")
	f := fork{Session: s.registry().SessionID, Worktree: dir}
	s.exit()
	request := r.first("T3")
	r.holds("the launched fork", request, "T1", "T2", "T3")
	r.sameMessages("the launched fork", r.first("T2"), r.asked("T2")[1])
	r.lives(f, request)
}

// Git's progress reaches the terminal.
func TestForkProgress(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	r.generate(numbered(3))
	r.vars = append(r.vars, "GIT_PROGRESS_DELAY=0")
	dir := filepath.Join(r.home, "fork")
	term := newTerminal(t, r.env(), r.repo.Dir, "git-agent-fork", "2", "--worktree", dir)
	r.await("the end of the fork", term.dead)
	if screen := term.screen(); !strings.Contains(screen, "Updating files: 100%") || !strings.Contains(screen, "claude --resume ") {
		t.Errorf("the screen is\n%s", screen)
	}
}
