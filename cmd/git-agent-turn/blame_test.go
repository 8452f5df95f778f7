package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// severalLines are lines of two commits, of which one has two paths, and of turns that ran at the same time.
func severalLines() []blame.Line {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("", -90*60))
	one := object.NewHash(gittest.Hash("1"))
	two := object.NewHash(gittest.Hash("2"))
	in := &gitdiff.Blamable{Author: "Ada", Email: "ada@example.invalid", At: at, Committer: "Bob", CommitterEmail: "bob@example.invalid", Committed: at, Summary: "some"}
	turn := &turns.Turn{Mission: "a1b2c3d4", Turn: 12, At: at, Agent: "claude-code", Model: "m", Prompt: "Fix\nit\x1b"}
	other := &turns.Turn{Mission: "0badcafe", Turn: 3, At: at, Agent: "codex", Prompt: "and this"}
	line := func(number int, commit object.Hash, orig int, path string) blame.Line {
		return blame.Line{Text: "text", Blame: gitdiff.Blamed{Number: number, Lines: 1, Commit: commit, Line: orig, Path: path, In: in}}
	}
	lines := []blame.Line{line(1, one, 1, "f"), line(2, one, 2, "f"), line(3, one, 9, "old"), line(5, two, 5, "f"), line(6, two, 6, "f"), line(7, one, 3, "f")}
	lines[2].Blame.Previous, lines[2].Blame.PreviousPath = two, "ä\t"
	for _, l := range []*blame.Line{&lines[3], &lines[4]} {
		l.Turn, l.Others, l.Unsure = turn, []*turns.Turn{other}, true
	}
	lines[5].Turn = other
	return lines
}

func TestPorcelain(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	lines := severalLines()
	p := newPorcelain(&b, lines, "f")
	p.isEnd = func(l gitdiff.Blamed) bool { return l.Commit.String()[0] == '2' }
	for i, l := range lines {
		gittest.Must(t, p.line(i, l))
	}
	gittest.Must(t, p.out.Flush())
	const who = `author Ada
author-mail <ada@example.invalid>
author-time 1795181400
author-tz -0130
committer Bob
committer-mail <bob@example.invalid>
committer-time 1795181400
committer-tz -0130
summary some
`
	want := strings.NewReplacer("1x40", gittest.Hash("1"), "2x40", gittest.Hash("2"), "WHO\n", who).Replace(`1x40 1 1 2
WHO
filename f
	text
1x40 2 2
	text
1x40 9 3 1
previous 2x40 "\303\244\t"
filename old
	text
2x40 5 5 2
WHO
boundary
filename f
agent-turn a1b2c3d4/12
agent-or 0badcafe/3
agent claude-code
agent-model m
agent-prompt Fix it\x1b
agent-time 1795181400
	text
2x40 6 6
agent-turn a1b2c3d4/12
agent-or 0badcafe/3
	text
1x40 3 7 1
filename f
agent-turn 0badcafe/3
agent codex
agent-prompt and this
agent-time 1795181400
	text
`)
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestBlameSeveral(t *testing.T) {
	t.Parallel()
	names := &shortNames{missions: map[record.ID]record.ID{"a1b2c3d4": "a1b2"}, commits: map[object.Hash]string{}}
	var b bytes.Buffer
	out := bufio.NewWriter(&b)
	lines := severalLines()
	for _, l := range lines {
		gittest.Must(t, printBlamed(out, l))
	}
	gittest.Must(t, out.Flush())
	objects := strings.Split(b.String(), "\n")
	for i, want := range []string{3: "a1b2/12?", 5: "0badcafe/3"} {
		if want == "" {
			continue
		}
		if got := names.line(lines[i]); got != want {
			t.Errorf("line %d is of %s, want %s", i, got, want)
		}
		var object blamedLine
		gittest.Must(t, json.Unmarshal([]byte(objects[i]), &object))
		several := len(lines[i].Others) > 0
		if object.Turn == nil || (object.Confidence == "several") != several || (len(object.Others) == 1) != several {
			t.Errorf("line %d: %s", i, objects[i])
		}
	}
	if got := called(lines[3].Turn.Agent, lines[3].Turn.Prompt); got != "claude: Fix\nit\x1b" {
		t.Errorf("called %q", got)
	}
	if got := groups(lines); len(got) != 3 || len(got[1]) != 2 || numbers(got[0]) != "1-3" {
		t.Errorf("%d groups: %v", len(got), got)
	}
}
