//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// A fork is what `git agent-fork --print` says.
type fork struct {
	Mission  string
	Source   string
	Branch   string
	Commit   string
	Worktree string
	Session  string
	Prompt   string
	Command  []string

	file   string // of the session, "" without a conversation
	placed []byte // what was in it before the client came
}

// fork runs `git agent-fork --print` as the user in dir.
func (r *rig) fork(dir string, args ...string) fork {
	r.t.Helper()
	cmd := exec.Command("git", append(append([]string{"agent-fork"}, args...), "--print")...)
	cmd.Dir, cmd.Env = dir, r.env()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("git agent-fork %s: %v\n%s\n%s", strings.Join(args, " "), err, &stderr, r.report())
	}
	var f fork
	if err := json.Unmarshal(stdout.Bytes(), &f); err != nil || f.Mission == "" || f.Command[0] != r.kind.program() {
		r.t.Fatalf("git agent-fork %s says %s: %v", strings.Join(args, " "), &stdout, err)
	}
	if _, ok := r.kind.(claude); ok && f.Session != "" {
		f.file = r.transcriptPath(f.Session)
		var err error
		if f.placed, err = os.ReadFile(f.file); err != nil {
			r.t.Fatalf("git agent-fork %s: the session's file: %v", strings.Join(args, " "), err)
		}
	}
	return f
}

// A sent is the body of one request to the model.
type sent struct {
	System   json.RawMessage
	Tools    json.RawMessage
	Messages []json.RawMessage
}

// marker is where the client wants the service to cache up to: it moves with every request.
var marker = regexp.MustCompile(`,?"cache_control":\{[^{}]*\}`)

// asked returns the requests that the client made with a prompt that begins with a word, in order:
// one for each time that it was given, without those that follow in the same turn.
func (r *rig) asked(word string) []sent {
	r.t.Helper()
	all := slices.DeleteFunc(r.during(word), sent.answered)
	if len(all) == 0 {
		r.t.Fatalf("no request for %s\n%s", word, r.report())
	}
	return all
}

// during returns all requests that the client made in turns whose prompts begin with a word, in order.
func (r *rig) during(word string) []sent {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.mock.log, "[0-9]*.json"))
	gittest.Must(r.t, err)
	var all []sent
	for _, name := range names {
		data, err := os.ReadFile(name)
		gittest.Must(r.t, err)
		var record struct{ Body json.RawMessage }
		if err := json.Unmarshal(data, &record); err != nil {
			r.t.Fatalf("read %s: %v", name, err)
		}
		var plain bytes.Buffer
		gittest.Must(r.t, json.Compact(&plain, record.Body))
		var s sent
		if err := json.Unmarshal(marker.ReplaceAll(plain.Bytes(), nil), &s); err != nil {
			r.t.Fatalf("read %s: %v", name, err)
		}
		if prompts := s.prompts(); len(prompts) > 0 && prompts[len(prompts)-1] == word {
			all = append(all, s)
		}
	}
	return all
}

// first is the first of the requests with a prompt.
func (r *rig) first(word string) sent { r.t.Helper(); return r.asked(word)[0] }

// answered says whether the model has said something since the last prompt.
func (s sent) answered() bool {
	for _, m := range slices.Backward(s.Messages) {
		if bytes.HasPrefix(m, []byte(`{"role":"assistant"`)) {
			return true
		}
		if prompt(m) != "" {
			return false
		}
	}
	return false
}

var (
	reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	word     = regexp.MustCompile(`(?m)^T[A-Z0-9]+\b`)
)

// prompt is the word that a message of the user's begins with, "" for any other message.
func prompt(message json.RawMessage) string {
	var m struct {
		Role    string
		Content json.RawMessage
	}
	json.Unmarshal(message, &m)
	if m.Role != "user" {
		return ""
	}
	var blocks []struct{ Type, Text string }
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return word.FindString(text)
	}
	json.Unmarshal(m.Content, &blocks)
	for _, b := range blocks {
		if found := word.FindString(reminder.ReplaceAllString(b.Text, "")); b.Type == "text" && found != "" {
			return found
		}
	}
	return ""
}

// prompts are the prompts of a conversation, by their first words, in order.
func (s sent) prompts() []string {
	var all []string
	for _, m := range s.Messages {
		if p := prompt(m); p != "" {
			all = append(all, p)
		}
	}
	return all
}

// before is the request without the prompt that it was made for and what comes after that.
func (s sent) before() sent {
	for i, m := range slices.Backward(s.Messages) {
		if prompt(m) != "" {
			s.Messages = s.Messages[:i]
			return s
		}
	}
	return s
}

// same fails the test unless the new request begins, byte for byte, with the old one up to its last
// prompt.
func (r *rig) same(what string, original, forked sent) {
	r.t.Helper()
	if !bytes.Equal(original.System, forked.System) {
		r.t.Errorf("%s: the system prompt differs: %s", what, around(string(original.System), string(forked.System)))
	}
	if !bytes.Equal(original.Tools, forked.Tools) {
		r.t.Errorf("%s: the tools differ: %s", what, around(string(original.Tools), string(forked.Tools)))
	}
	r.sameMessages(what, original, forked)
}

// sameMessages is same for the messages alone: the client's system prompt says whether it runs in a
// terminal.
func (r *rig) sameMessages(what string, original, forked sent) {
	r.t.Helper()
	cut := original.before()
	if len(forked.Messages) <= len(cut.Messages) {
		r.t.Errorf("%s: %d messages were sent, want %d and the new prompt", what, len(forked.Messages), len(cut.Messages))
		return
	}
	for i, m := range cut.Messages {
		if !bytes.Equal(m, forked.Messages[i]) {
			r.t.Errorf("%s: message %d of %d differs: %s", what, i+1, len(cut.Messages), around(string(m), string(forked.Messages[i])))
			return
		}
	}
}

// holds fails the test unless exactly these prompts were sent.
func (r *rig) holds(what string, s sent, want ...string) {
	r.t.Helper()
	if got := s.prompts(); !slices.Equal(got, want) {
		r.t.Errorf("%s: the prompts %q were sent, want %q", what, got, want)
	}
}

// goOn lets the client go on in a fork, with the last of these prompts, and
// checks that it sends all of them, and lives in the fork's worktree.
func (r *rig) goOn(what string, f fork, words ...string) sent {
	r.t.Helper()
	own := words[len(words)-1]
	r.claude(f.Worktree, own+" hello", f.Command[1:]...).ok().quiet()
	request := r.first(own)
	r.holds(what, request, words...)
	r.lives(f, request)
	return request
}

// lives fails the test unless the client worked in the fork's worktree and nowhere else.
func (r *rig) lives(f fork, s sent) {
	r.t.Helper()
	named := func(m json.RawMessage) bool {
		return bytes.Contains(m, []byte("Primary working directory: "+f.Worktree))
	}
	if !slices.ContainsFunc(s.Messages, named) {
		r.t.Errorf("fork %s: the request does not name the directory %s", f.Mission, f.Worktree)
	}
	n := 0
	for _, e := range r.witness.events() {
		if e.Session != f.Session {
			continue
		}
		n++
		if e.Cwd != f.Worktree || e.Toplevel != f.Worktree {
			r.t.Errorf("fork %s: a hook ran in %s of %s, want %s: %v", f.Mission, e.Cwd, e.Toplevel, f.Worktree, e)
		}
	}
	if n == 0 {
		r.t.Errorf("fork %s: no hook ran", f.Mission)
	}
}

// leaf is the uuid of the last record of the conversation that the assistant wrote.
func (r *rig) leaf(session string) (uuid string) {
	r.t.Helper()
	for line := range bytes.Lines(r.transcript(session).data) {
		var rec struct{ Type, UUID string }
		if json.Unmarshal(line, &rec) == nil && rec.Type == "assistant" {
			uuid = rec.UUID
		}
	}
	return uuid
}

// turns returns the turns of one mission, the inherited ones first.
func (r *rig) turns(mission string) []turn {
	r.t.Helper()
	all := r.decode(r.command(r.repo.Dir, "list", "--mission", mission, "--json"))
	slices.SortFunc(all, func(a, b turn) int { return a.Turn - b.Turn })
	return all
}

// checkFork compares what a fork's ledger holds with what is wanted: the source's turns, the very
// same objects, then the turns of its own, each stored once.
func (r *rig) checkFork(f fork, inherited []turn, wants ...want) []turn {
	r.t.Helper()
	all := r.turns(f.Mission)
	if len(all) != len(inherited)+len(wants) {
		r.t.Fatalf("fork %s has %d turns, want %d and %d\n%s", f.Mission, len(all), len(inherited), len(wants), r.report())
	}
	source, _, _ := strings.Cut(f.Source, "/")
	for _, t := range inherited {
		for _, path := range []string{recordPath(t.Turn), t.Transcript.Path} {
			got, want := r.repo.Git("rev-parse", ledgerRef(f.Mission)+":"+path), r.repo.Git("rev-parse", ledgerRef(source)+":"+path)
			if got != want {
				r.t.Errorf("fork %s: %s is not the source's", f.Mission, path)
			}
		}
	}
	own := all[len(inherited):]
	files := slices.DeleteFunc(strings.Fields(r.repo.Git("ls-tree", "-r", "--name-only", ledgerRef(f.Mission), "transcript/")), func(name string) bool {
		return strings.Count(name, "/") > 2 // a sub-agent's
	})
	if len(files) != len(all) {
		r.t.Errorf("fork %s has the segments %q, want one for each of %d turns", f.Mission, files, len(all))
	}
	var stored []byte
	for i, t := range own {
		if want := len(inherited) + i + 1; t.Turn != want || t.Mission != f.Mission {
			r.t.Errorf("turn %v in the place of %s/%d", t, f.Mission, want)
		}
		w := wants[i]
		w.mission = f.Mission
		r.checkRecord(t, w)
		r.checkObjects(t)
		if after := t.Turn - 1; t.Transcript.After != after {
			r.t.Errorf("%v: its segment comes after %d, want %d", t, t.Transcript.After, after)
		}
		stored = append(stored, r.show(f.Mission, t.Transcript.Path)...)
	}
	if len(own) > 0 && f.file != "" {
		tr := r.transcript(f.Session)
		fresh, found := bytes.CutPrefix(tr.data, f.placed)
		x, ok := tr.exchange(own[len(own)-1].PromptID)
		switch {
		case !found:
			r.t.Errorf("fork %s: the client changed what was placed", f.Mission)
		case !bytes.HasPrefix(fresh, stored):
			r.t.Errorf("fork %s: the new segments are not what the client added: %s", f.Mission, around(string(fresh), string(stored)))
		case !ok || len(f.placed)+len(stored) < x.last:
			r.t.Errorf("fork %s: the new segments end at byte %d, the last record at %d", f.Mission, len(f.placed)+len(stored), x.last)
		}
		last := own[len(own)-1]
		alike := slices.Clone(all) // all of them are in the fork's own ledger
		for i := range alike {
			alike[i].Mission = f.Mission
		}
		last.Mission = f.Mission
		whole := r.conversation(alike, last)
		if !strings.HasSuffix(whole, string(stored)) || len(whole) == len(stored) {
			r.t.Errorf("fork %s: the conversation does not go on from what was inherited", f.Mission)
		}
	}
	if got := r.repo.Git("rev-parse", "refs/heads/"+f.Branch); len(own) > 0 && got != own[len(own)-1].Code {
		r.t.Errorf("fork %s: the branch is at %s, want the last turn's code", f.Mission, got)
	}
	return all
}
