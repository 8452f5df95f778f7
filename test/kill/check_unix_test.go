//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gitagent/test/gittest"
)

// find notes something that is wrong. kind names what, for the counts.
func (l *lab) find(kind, format string, args ...any) {
	l.t.Helper()
	l.kinds[kind] = true
	l.t.Errorf("%s: %s", kind, fmt.Sprintf(format, args...))
}

// try runs a command of git's that must succeed.
func (l *lab) try(what string, args ...string) bool {
	l.t.Helper()
	_, err := l.Try(args...)
	if err != nil {
		l.find(what, "%v", err)
	}
	return err == nil
}

// check looks for what must not be after a kill and an event of ours: traces of the dead process,
// halves of missions and worktrees, and whatever was acknowledged and is gone.
func (l *lab) check() {
	l.t.Helper()
	l.family.Await()
	l.traces()
	l.worktrees()
	l.missions()
	if wrong := l.fsck(); wrong != "" {
		l.find("git fsck", "%s", wrong)
	}
	l.acknowledged()
}

func (l *lab) fsck() string {
	out, err := l.main.Try("fsck", "--strict", "--no-dangling")
	if err != nil {
		out += "\n" + err.Error()
	}
	return strings.TrimSpace(out)
}

// traces finds locks and temporary files. No process of ours lives, so nobody holds them.
func (l *lab) traces() {
	l.t.Helper()
	l.passing(func(path string) {
		rel, err := filepath.Rel(l.common, path)
		gittest.Must(l.t, err)
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() || strings.HasPrefix(rel, "objects"+string(filepath.Separator)) {
			return // git gc removes what is unfinished there
		}
		if l.used != "" && rel == filepath.Join("worktrees", filepath.Base(l.used), "agent", "index.lock") {
			return
		}
		l.find("left "+l.pattern(path), "%s, of %v", rel, info.ModTime())
	})
}

// worktrees finds those that are half made.
func (l *lab) worktrees() {
	l.t.Helper()
	out, err := l.main.Try("worktree", "list", "--porcelain")
	if err != nil {
		l.find("git worktree list fails", "%v", err)
		return
	}
	known := make(map[string]bool)
	for entry := range strings.SplitSeq(out, "\n\n") {
		lines := strings.Split(entry, "\n")
		dir := strings.TrimPrefix(lines[0], "worktree ")
		known[dir] = true
		if dir == l.going {
			continue
		}
		for _, line := range lines[1:] {
			word, _, _ := strings.Cut(line, " ")
			if word == "locked" || word == "prunable" || line == "HEAD "+gittest.Hash("0") {
				l.find("half a worktree: "+line, "%s", entry)
			}
		}
		if dir == l.Dir || dir == l.main.Dir {
			continue
		}
		if status, err := l.In(dir).Try("status", "--porcelain"); err != nil || status != "" {
			l.find("half a worktree: not checked out", "%s: %v\n%.500s", dir, err, status)
		}
	}
	entries, err := os.ReadDir(l.outside)
	gittest.Must(l.t, err)
	for _, e := range entries {
		if dir := filepath.Join(l.outside, e.Name()); !known[dir] && dir != l.going {
			l.find("half a worktree: a directory that git does not know", "%s", dir)
		}
	}
}

// absent checks that there is no worktree in dir.
func (l *lab) absent(dir string) {
	l.t.Helper()
	out, err := l.main.Try("worktree", "list", "--porcelain")
	if err != nil || strings.Contains(out+"\n", "worktree "+dir+"\n") {
		l.find("remove leaves the worktree", "%v\n%s", err, out)
	}
	if _, err := os.Lstat(dir); err == nil {
		l.find("remove leaves the directory", "%s", dir)
	}
}

// missions finds those that are neither whole nor absent.
func (l *lab) missions() {
	l.t.Helper()
	out, err := l.main.Try("for-each-ref", "--format=%(refname)", "refs/agent", "refs/notes/agent", "refs/heads/agent")
	if err != nil {
		l.find("git for-each-ref fails", "%v", err)
		return
	}
	refs := make(map[string]bool)
	for ref := range strings.FieldsSeq(out) {
		refs[ref] = true
	}
	for ref := range refs {
		switch ref {
		case "refs/agent/archive", "refs/agent/archive-keep", "refs/agent/purges":
			continue
		}
		if strings.HasPrefix(ref, "refs/agent/archives/") || strings.HasPrefix(ref, "refs/agent/kept/") {
			continue // what the archive of a remote was; keepers
		}
		if strings.HasPrefix(ref, "refs/agent/remotes/") {
			l.find("left refs/agent/remotes", "%s", ref)
			continue
		}
		ledger := "refs/agent/missions/" + filepath.Base(ref)
		if !refs[ledger] {
			l.find("half a mission: without a ledger", "%s", ref)
		}
		if ref != ledger {
			continue
		}
		var m struct{ Branch string }
		data, err := l.main.Try("cat-file", "blob", ref+":mission.json")
		if err == nil {
			err = json.Unmarshal([]byte(data), &m)
		}
		if err != nil || m.Branch != "" && !refs[m.Branch] {
			l.find("half a mission: without its branch", "%s: %v\n%s", ref, err, data)
		}
	}
}

// acknowledged checks that what was acknowledged is there: each turn once, with the code that it had
// and its segment of the conversation, and each handoff.
func (l *lab) acknowledged() {
	l.t.Helper()
	listed := make(map[string]turn)
	for _, t := range l.list() {
		if _, twice := listed[t.Prompt]; twice && !strings.Contains(l.name, "fork") {
			l.find("a turn is there twice", "%q", t.Prompt)
		}
		listed[t.Prompt] = t
	}
	var names strings.Builder
	var prompts []string
	for prompt, code := range l.done {
		t, ok := listed[prompt]
		if !ok || t.Outcome != "done" {
			l.find("an acknowledged turn is lost", "%q: %+v", prompt, t)
			continue
		}
		if t.By != "this clone" && !strings.Contains(l.name, "fetch") {
			l.find("an acknowledged turn is a stranger's", "%q: %+v", prompt, t)
		}
		if code == "" {
			if file, err := l.main.Try("cat-file", "blob", t.Code+":file"); err != nil || file != prompt {
				l.find("an acknowledged turn has wrong code", "%q: %v, %q", prompt, err, file)
			}
		} else if code != t.Code {
			l.find("an acknowledged turn has other code", "%q: %s, was %s", prompt, t.Code, code)
		}
		l.done[prompt] = t.Code
		prompts = append(prompts, prompt)
		fmt.Fprintf(&names, "refs/agent/missions/%s:transcript/%04d/%06d.jsonl\n", t.Mission, t.Turn/100, t.Turn)
	}
	sizes, err := l.main.Feed(names.String(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		l.find("git cat-file fails", "%v", err)
	}
	for i, size := range strings.Split(sizes, "\n")[:len(prompts)] {
		if want := fmt.Sprint(listed[prompts[i]].Transcript.Bytes); size != want || size == "0" {
			l.find("an acknowledged turn has no conversation", "%q: %s bytes, want %s", prompts[i], size, want)
		}
	}
	if len(l.handoffs) == 0 {
		return
	}
	out := l.must(command{dir: l.main.Dir, args: []string{"git-agent-handoff", "list", "--all", "--json"}}).stdout
	there := make(map[string]bool)
	for line := range strings.Lines(out) {
		var h struct {
			Mission string
			Handoff int
		}
		gittest.Must(l.t, json.Unmarshal([]byte(line), &h))
		there[fmt.Sprintf("%s/%d", h.Mission, h.Handoff)] = true
	}
	for _, name := range l.handoffs {
		if !there[name] {
			l.find("an acknowledged handoff is lost", "%s", name)
		}
	}
}

// same checks that a clone has the refs that the remote has.
func (l *lab) same(clone *gittest.Repo) {
	l.t.Helper()
	args := []string{"for-each-ref", "refs/agent/missions", "refs/notes/agent", "refs/heads/agent"}
	want, err := l.bare.Try(args...)
	gittest.Must(l.t, err)
	if got, err := clone.Try(args...); err != nil || got != want {
		l.find("clone and remote differ", "%v\n%s\nthe remote has\n%s", err, got, want)
	}
	if got, err := l.Try(args...); err != nil || !contains(got, want) {
		l.find("clone and remote differ", "%v\n%s\nthe remote has\n%s", err, got, want)
	}
}

// contains reports whether all lines of part are among those of whole.
func contains(whole, part string) bool {
	for line := range strings.SplitSeq(part, "\n") {
		if !strings.Contains("\n"+whole+"\n", "\n"+line+"\n") {
			return false
		}
	}
	return true
}

// What differs from one run to the next: hashes and ids, and names with a number in them.
var (
	hashes  = regexp.MustCompile(`\b[0-9a-f]{8,64}\b`)
	numbers = regexp.MustCompile(`\b(place-|tmp_\w+_)\w+`)
)

// pattern is a path without what differs from one run to the next.
func (l *lab) pattern(path string) string {
	path = strings.ReplaceAll(path, l.common, ".git")
	path = strings.ReplaceAll(path, l.outside, "outside")
	return numbers.ReplaceAllString(hashes.ReplaceAllString(path, "<id>"), "${1}<n>")
}
