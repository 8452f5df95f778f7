package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// The sizes of a long history.
const (
	longCommits = 10_000
	longTurns   = 1000
	longLines   = 1000
)

const longFile = "src/long.go"

// blame asks who wrote the lines of a file with a long history, against plain git blame. Every tenth
// commit takes up what a turn has written, with a line by hand; one more in ten changes the file, too.
func blame(l *lab) {
	r := l.newRepository("blame", smallFiles)
	r.longHistory("a1b2c3d4")
	heading()
	var with, plain, one, plainOne series
	for range l.times(10) {
		_, p := l.timed(r.dir, nil, nil, "git", "blame", "--porcelain", longFile)
		out, w := l.timed(r.dir, nil, nil, l.program, "blame", longFile)
		if lines, of := bytes.Count(out, []byte("\n")), bytes.Count(out, []byte("a1b2/")); lines < longLines || of < longLines/2 {
			check(fmt.Errorf("blame: %d lines, %d of turns", lines, of))
		}
		_, q := l.timed(r.dir, nil, nil, "git", "blame", "--porcelain", path(7))
		_, o := l.timed(r.dir, nil, nil, l.program, "blame", path(7))
		with, plain, one, plainOne = append(with, w), append(plain, p), append(one, o), append(plainOne, q)
	}
	compare(fmt.Sprintf("blame, %d lines, %d commits, %d turns", longLines, longCommits, longTurns), with, plain, "3")
	compare("blame of a file that no turn changed", one, plainOne, "")
}

// longHistory writes it, and a mission whose turns are in it.
func (r *repository) longHistory(id record.ID) {
	began := time.Now().Add(-longCommits * time.Minute).UTC().Truncate(time.Second)
	w := newWriter(r.dir, "5b603d06-8528-4d54-8275-dcebec74b87e", 1)
	lines := make([]string, longLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("var first%04d = compute(%d)", i, i)
	}
	marks := filepath.Join(r.lab.dir, "marks")
	var in bytes.Buffer
	next, head := 0, "refs/heads/main^0"
	add := func(ref string, at time.Time, message, parent string) string {
		next++
		fmt.Fprintf(&in, "commit %s\nmark :%d\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\nfrom %s\n", ref, next, at.Unix(), len(message), message, parent)
		return fmt.Sprintf(":%d", next)
	}
	long := func() { put(&in, longFile, strings.Join(lines, "\n")+"\n") }
	type took struct{ code, base string }
	var list []took
	head = add("refs/heads/main", began, "the file", head)
	long()
	for i := 1; i < longCommits; i++ {
		at := began.Add(time.Duration(i) * time.Minute)
		switch i % (longCommits / longTurns) {
		case 0:
			n := len(list) + 1
			for k := range 3 {
				lines[(n*7+k)%longLines] = fmt.Sprintf("var turn%04dx%d = compute(%d)", n, k, i)
			}
			code := add("refs/made/code", at.Add(-20*time.Second), ledger.CodeMessage(fmt.Sprintf("turn %d", n), id, n, w.session), head)
			long()
			list = append(list, took{code, head})
			lines[(n*7+500)%longLines] = fmt.Sprintf("var hand%05d = compute(%d)", i, i)
			head = add("refs/heads/main", at, "take it up", head)
			long()
		case 5:
			lines[i*3%longLines] = fmt.Sprintf("var hand%05d = compute(%d)", i, i)
			head = add("refs/heads/main", at, "by hand", head)
			long()
		default:
			head = add("refs/heads/main", at, "another file", head)
			put(&in, path(i%smallFiles), source(i%smallFiles, i))
		}
	}
	r.feed(r.dir, in.Bytes(), "git", "fast-import", "--quiet", "--export-marks="+marks)
	hashes := make(map[string]string)
	for line := range strings.Lines(string(must(os.ReadFile(marks)))) {
		mark, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[mark] = hash
	}
	hex := func(mark string) object.Hash { return object.NewHash(hashes[mark]) }
	mission := record.Mission{
		V: record.Version, ID: id, Title: "a long history", Created: began,
		Agent: "claude-code", Base: hashes[list[0].base], Sessions: []string{w.session},
	}
	in.Reset()
	event := func(at time.Time, subject string) {
		fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\n", id.Ref(), at.Unix(), len(subject), subject)
	}
	event(began, "mission "+string(id))
	put(&in, "mission.json", string(must(mission.Encode())))
	for i, t := range list {
		at := began.Add(time.Duration((i+1)*longCommits/longTurns)*time.Minute - 20*time.Second)
		w.begin(i + 1)
		record := turns.Turn{
			V: record.Version, Kind: "turn", Mission: id, Turn: i + 1, At: at, Started: at.Add(-20 * time.Second),
			Outcome: record.Done, Agent: "claude-code", Session: w.session, PromptID: w.promptID, Prompt: w.prompt, Reply: w.reply,
			Code: hex(t.code), Base: hex(t.base), Head: hex(t.base), Branch: "main",
			Files: 1, Insertions: 3, Deletions: 3, Paths: []string{longFile},
		}
		event(at, fmt.Sprintf("turn %d", i+1))
		fmt.Fprintf(&in, "merge %s\n", hashes[t.code])
		put(&in, ledger.TurnPath("turns", i+1, ".json"), string(must(record.Encode()))+"\n")
	}
	r.load(&in)
	r.git("update-ref", "-d", "refs/made/code")
	r.git("reset", "-q", "--hard")
	r.git("repack", "-qad")
	r.accept(id)
}

// accept lets the user rely on a mission that is not signed, as if he had looked at it.
func (r *repository) accept(id record.ID) {
	repo := must(git.Find(r.dir))
	check(workspace.New(repo, config.Default()).Trust.Accept(object.NewHash(r.git("rev-parse", id.Ref())), id))
}
