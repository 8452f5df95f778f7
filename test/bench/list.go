package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

const listedTurns = 10_000

// list lists a mission of 10,000 turns. Its ledger comes from git fast-import, in the format of
// docs/format.md.
func list(l *lab) {
	r := l.newRepository("list", smallFiles)
	const id = record.ID("a1b2c3d4")
	r.fill(id, listedTurns)
	heading()
	n := l.times(15)
	for _, c := range []struct {
		name  string
		args  []string
		lines int
		most  string
	}{
		{"list -n 100", []string{"list", "-n", "100", "--mission", string(id)}, 100, "150"},
		{"list --grep", []string{"list", "--grep", "there is none", "--mission", string(id)}, 0, "500"},
		{"list", []string{"list", "--mission", string(id)}, listedTurns, "300"},
		{"list --json", []string{"list", "--json", "--mission", string(id)}, listedTurns, "300"},
	} {
		var s series
		for range n {
			out, x := l.timed(r.dir, nil, nil, l.program, c.args...)
			if lines := bytes.Count(out, []byte("\n")); lines != c.lines {
				check(fmt.Errorf("%s: %d lines, not %d", c.name, lines, c.lines))
			}
			s = append(s, x)
		}
		alone(fmt.Sprintf("%s, %d turns", c.name, listedTurns), s, c.most)
	}
}

// fill writes a mission of many turns.
func (r *repository) fill(id record.ID, many int) {
	head := r.git("rev-parse", "HEAD")
	code := object.NewHash(head)
	w := newWriter(r.dir, "5b603d06-8528-4d54-8275-dcebec74b87e", 1)
	at := time.Now().Add(-time.Duration(many) * time.Minute).UTC().Truncate(time.Millisecond)
	mission := record.Mission{
		V: record.Version, ID: id, Title: "many turns", Created: at,
		Agent: "claude-code", Base: head, Sessions: []string{w.session},
	}
	var in bytes.Buffer
	commit(&in, id.Ref(), "mission "+string(id))
	put(&in, "mission.json", string(must(mission.Encode())))
	for number := 1; number <= many; number++ {
		w.begin(number)
		path := ledger.TurnPath("transcript", number, ".jsonl")
		segment := w.turn(0)[:200] // the list does not look at it
		t := turns.Turn{
			V: record.Version, Kind: "turn", Mission: id, Turn: number, At: at.Add(time.Duration(number) * time.Minute), Started: at,
			Outcome: record.Done, Agent: "claude-code", Model: "claude-opus-4-8", Session: w.session,
			PromptID: w.promptID, Prompt: w.prompt, Reply: w.reply,
			Code: code, Base: code, Head: code, Branch: "main",
			Files: 2, Insertions: rand.IntN(99), Deletions: rand.IntN(99), Paths: []string{"src/module00/part00/file00007.go", "README.md"},
			Tools: map[string]int{"Edit": 2, "Bash": 1, "Read": 1}, Context: 123456, Output: 2048,
			Transcript: &record.Segment{Path: path, After: number - 1, Bytes: len(segment), From: int64(number-1) * 200, To: int64(number) * 200},
		}
		commit(&in, id.Ref(), fmt.Sprintf("turn %d", number))
		fmt.Fprintf(&in, "merge %s\n", head)
		put(&in, ledger.TurnPath("turns", number, ".json"), string(must(t.Encode()))+"\n")
		put(&in, path, string(segment))
	}
	r.load(&in)
}
