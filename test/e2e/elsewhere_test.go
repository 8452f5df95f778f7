//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestElsewhere has a session in a folder above of three repositories that edits two of them, and one in the first that edits
// the second, by paths and by a shell, commits there, and has a sub-agent edit the third. What each repository then has is
// looked at by every command, and gone on from with the client.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{claude{}, codex{}} {
		t.Run(k.program(), func(t *testing.T) {
			t.Parallel()
			if k != (claude{}) {
				gittest.Nightly(t)
			}
			elsewhere(newRigOf(t, k, gittest.New(t)))
		})
	}
}

// The first repository's name is in no prompt and no reply: where else it is found, its path was told. So are these.
const (
	secretFile    = "FILE OF HOME"
	secretThought = "THOUGHT AT HOME"
)

// below makes three repositories below one folder, in which recording is on: alpha, which has a branch and a file to tell of, beta and gamma.
func (r *rig) below() (folder string, a, b, c *rig) {
	r.t.Helper()
	folder = filepath.Join(r.home, "work")
	dirs := []string{folder}
	make := func(name string) *rig {
		in := *r
		in.repo = r.repo.In(filepath.Join(folder, name))
		gittest.Must(r.t, os.MkdirAll(in.repo.Dir, 0o777))
		in.repo.Git("init", "-q", "-b", "main")
		in.repo.Write("README.md", "# A project\n\nOld words.\n")
		in.repo.Commit("init")
		dirs = append(dirs, in.repo.Dir)
		return &in
	}
	a, b, c = make("alpha"), make("beta"), make("gamma")
	a.repo.Write("known.txt", secretFile+"\n")
	a.repo.Commit("known")
	a.repo.Git("switch", "-q", "-c", "topic-of-alpha")
	r.onboard(dirs...)
	for _, dir := range dirs[1:] {
		r.command(dir, "init", "--agent", r.kind.program())
	}
	r.patient()
	return folder, a, b, c
}

func elsewhere(r *rig) {
	folder, a, b, c := r.below()
	thinks := bash("cat known.txt; cat ../gamma/README.md")
	thinks["thinking"] = secretThought
	r.mock.play(
		on("TFOLD", append(r.edits(filepath.Join(a.repo.Dir, "README.md"), "Old", "New"), bash("echo fold > beta/fold.txt"), say("both are done"))...),
		on("THOME", slices.Concat([]reply{thinks}, r.edits(filepath.Join(b.repo.Dir, "README.md"), "Old", "Newer"),
			[]reply{bash("cd ../beta && echo shell > shell.txt"), bash("echo own > own.txt"), say("these are done")})...),
		on("TCOMMIT", bash("cd ../beta && echo kept > kept.txt && git add kept.txt && git commit -q -m kept"), say("committed")),
		r.delegate("TSUB", "it is back", "SUBGAMMA write there"),
		on("SUBGAMMA", bash("echo sub > ../gamma/sub.txt"), say("written")),
		on("TFORK", bash("echo forked > fork.txt"), say("forked")),
	)
	r.ask(folder, "", "TFOLD hello")
	session := r.ask(a.repo.Dir, "", "THOME hello")
	for _, word := range []string{"TCOMMIT", "TSUB"} {
		r.ask(a.repo.Dir, session, word+" hello")
	}

	wants := []string{"TFOLD hello: README.md, here", "THOME hello: own.txt, here", "TCOMMIT hello: , here", "TSUB hello: , here"}
	if r.kind == (claude{}) { // it tells the model of a sub-agent's end by a prompt of its own
		wants = append(wants, "<task-notification>: , here")
	}
	above := a.holdsTurns(wants...)[0].Mission
	turns := b.holdsTurns("TFOLD hello: fold.txt, home "+above+"/1", "THOME hello: README.md shell.txt, home "+passive(session)+"/1",
		"TCOMMIT hello: kept.txt, home "+passive(session)+"/2")
	sub := c.holdsTurns("TSUB hello: sub.txt, home " + passive(session) + "/3")
	b.tellsNothing("alpha", secretFile, secretThought)
	c.tellsNothing("alpha", "beta", secretFile, secretThought)

	name := fmt.Sprintf("%s/%d", turns[1].Mission, turns[1].Turn)
	for _, says := range []struct {
		args []string
		want []string
	}{
		{[]string{"list", "--all"}, []string{"TFOLD hello", "THOME hello", "TCOMMIT hello"}},
		{[]string{"missions"}, []string{"TFOLD hello", "TCOMMIT hello"}},
		{[]string{"show", name}, []string{"THOME hello", "these are done", "shell.txt", "turn 1, in " + a.repo.Dir}},
		{[]string{"show", name, "--conversation", "--full"}, []string{"THOME hello", secretFile}},
		{[]string{"diff", name}, []string{"-Old words.", "+Newer words.", "+shell"}},
		{[]string{"blame", "README.md"}, []string{turns[1].Mission[:4] + "/", "THOME hello"}},
		{[]string{"blame", "kept.txt"}, []string{turns[2].Mission[:4] + "/", "TCOMMIT hello"}},
		{[]string{"why", "shell.txt:1"}, []string{"THOME hello", "these are done"}},
		{[]string{"search", "these are done"}, []string{"THOME hello"}},
		{[]string{"search", "--everywhere", secretFile}, []string{a.repo.Dir}},
	} {
		out := b.command(b.repo.Dir, says.args...)
		for _, want := range says.want {
			if !strings.Contains(out, want) {
				r.t.Errorf("git agent-turn %s does not say %q:\n%s", strings.Join(says.args, " "), want, out)
			}
		}
	}
	if out, err := b.tryCommand(b.repo.Dir, "search", secretFile); err == nil {
		r.t.Errorf("search without --everywhere finds in another repository\n%s", out)
	}

	f := b.fork(b.repo.Dir, name)
	r.onboardAlso(f.Worktree)
	if got := r.repo.In(f.Worktree).Read("README.md"); !strings.Contains(got, "Newer words.") {
		r.t.Errorf("the fork has %q", got)
	}
	r.ask(f.Worktree, f.Session, "TFORK hello")
	r.continues("THOME", "TFORK")
	if got := b.turns(f.Mission); len(got) == 0 || got[len(got)-1].Prompt != "TFORK hello" || !slices.Equal(got[len(got)-1].Paths, []string{"fork.txt"}) {
		r.t.Errorf("the fork has recorded %v\n%s", got, r.report())
	}
	b.tellsNothing(secretFile, secretThought)
	again := b.fork(f.Worktree, "latest")
	r.onboardAlso(again.Worktree)
	r.ask(again.Worktree, again.Session, "TAGAIN hello")
	r.continues("THOME", "TFORK", "TAGAIN")

	b.command(b.repo.Dir, "revert", name)
	if got := b.repo.Git("status", "--porcelain"); got != "?? fold.txt" {
		r.t.Errorf("after revert, status says %q", got)
	}
	b.command(b.repo.Dir, "undo")
	b.command(b.repo.Dir, "finish", "-m", "finished", turns[1].Mission)
	if got := b.repo.Git("show", "--format=%s", "--name-only", "HEAD"); got != "finished\n\nREADME.md\nshell.txt" {
		r.t.Errorf("finish has committed %q", got)
	}
	c.command(c.repo.Dir, "finish", "-m", "finished", sub[0].Mission)
	for _, in := range []*rig{a, b, c} {
		if out, err := in.repo.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
			r.t.Errorf("git fsck --strict: %v: %s", err, out)
		}
		if log, err := os.ReadFile(filepath.Join(in.repo.Dir, ".git", "agent", "log")); err == nil {
			r.t.Errorf("%s has a log: %s", in.repo.Dir, log)
		}
	}
}

// edits are calls that replace a word in a file with an absolute path.
func (r *rig) edits(path, old, new string) []reply {
	if r.kind != (claude{}) {
		return []reply{bash(fmt.Sprintf("sed -i s/%s/%s/ %s", old, new, path))}
	}
	return []reply{
		{"tool": "Read", "input": map[string]any{"file_path": path}},
		{"tool": "Edit", "input": map[string]any{"file_path": path, "old_string": old, "new_string": new}},
	}
}

// ask runs the client of any kind in dir with one prompt; session is "" for a new one.
func (r *rig) ask(dir, session, prompt string) string {
	r.t.Helper()
	if _, ok := r.kind.(player); ok {
		return r.play(dir, session, prompt).ok().session()
	}
	var args []string
	if session != "" {
		args = []string{"--resume", session}
	}
	return r.claude(dir, prompt, args...).ok().quiet().session()
}

// continues fails the test unless exactly these prompts were sent with the last one of them.
func (r *rig) continues(words ...string) {
	r.t.Helper()
	if r.kind == (claude{}) {
		r.holds("the fork", r.first(words[len(words)-1]), words...)
	} else {
		r.sends("the fork", words...)
	}
}

// holdsTurns fails the test unless the repository has these turns: prompt, paths, and where the conversation is.
func (r *rig) holdsTurns(want ...string) []turn {
	r.t.Helper()
	all := r.list()
	slices.SortFunc(all, func(a, b turn) int { return a.At.Compare(b.At) })
	var got []string
	for _, t := range all {
		place := "nowhere"
		switch {
		case t.Transcript.Path != "" && t.Home == nil:
			place = "here"
		case t.Home != nil && t.Transcript.Path == "":
			place = fmt.Sprintf("home %s/%d", t.Home.Mission, t.Home.Turn)
		}
		prompt, _, _ := strings.Cut(t.Prompt, "\n")
		got = append(got, fmt.Sprintf("%s: %s, %s", prompt, strings.Join(t.Paths, " "), place))
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("%s has the turns\n%q, want\n%q\n%s", r.repo.Dir, got, want, r.report())
	}
	return all
}

// tellsNothing fails the test if any object of the repository, referred to or not, has one of the texts.
func (r *rig) tellsNothing(texts ...string) {
	r.t.Helper()
	objects := r.repo.Git("cat-file", "--batch-all-objects", "--batch", "--buffer")
	for _, text := range texts {
		if i := bytes.Index([]byte(objects), []byte(text)); i >= 0 {
			r.t.Errorf("an object of %s has %q: %q", r.repo.Dir, text, objects[max(0, i-300):min(len(objects), i+200)])
		}
	}
}
