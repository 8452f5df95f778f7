package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/turns"
)

const listedTurns = 10_000

// list lists a mission of 10,000 turns. Its ledger comes from git fast-import, in the format of
// docs/format.md.
func list(l *lab) error {
	r, err := l.newRepository("list", smallFiles)
	if err != nil {
		return err
	}
	const id = ledger.ID("a1b2c3d4")
	if err := r.fill(id); err != nil {
		return err
	}
	heading()
	n := l.times(15)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"list", []string{"list", "--mission", string(id)}},
		{"list --json", []string{"list", "--json", "--mission", string(id)}},
	} {
		var s series
		for range n {
			out, x, err := l.timed(r.dir, nil, nil, l.program, c.args...)
			if err != nil {
				return err
			}
			if lines := bytes.Count(out, []byte("\n")); lines != listedTurns {
				return fmt.Errorf("%s: %d lines, not %d", c.name, lines, listedTurns)
			}
			s = append(s, x)
		}
		alone(fmt.Sprintf("%s, %d turns", c.name, listedTurns), s, "300")
	}
	return nil
}

// fill writes a mission of many turns.
func (r *repository) fill(id ledger.ID) error {
	head, err := r.git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	repo, err := git.Find(r.dir)
	if err != nil {
		return err
	}
	code, err := repo.Resolve(r.ctx, "HEAD")
	if err != nil {
		return err
	}
	w := newWriter(r.dir, "5b603d06-8528-4d54-8275-dcebec74b87e", 1)
	at := time.Now().Add(-listedTurns * time.Minute).UTC().Truncate(time.Millisecond)
	mission := ledger.Mission{
		V: ledger.Version, ID: id, Title: "ten thousand turns", Created: at,
		Agent: "claude-code", Base: head, Sessions: []string{w.session},
	}
	encoded, err := mission.Encode()
	if err != nil {
		return err
	}
	var in bytes.Buffer
	ledgerCommit(&in, id, "mission "+string(id), nil)
	put(&in, "mission.json", string(encoded))
	for number := 1; number <= listedTurns; number++ {
		w.begin(number)
		path := ledger.TurnPath("transcript", number, ".jsonl")
		segment := w.turn(0)[:200] // the list does not look at it
		t := turns.Turn{
			V: ledger.Version, Kind: "turn", Mission: id, Turn: number, At: at.Add(time.Duration(number) * time.Minute), Started: at,
			Outcome: turns.Done, Agent: "claude-code", Model: "claude-opus-4-8", Session: w.session,
			PromptID: w.promptID, Prompt: w.prompt, Reply: w.reply,
			Code: git.Hex(code), Base: git.Hex(code), Head: git.Hex(code), Branch: "main",
			Files: 2, Insertions: rand.IntN(99), Deletions: rand.IntN(99), Paths: []string{"src/module00/part00/file00007.go", "README.md"},
			Tools: map[string]int{"Edit": 2, "Bash": 1, "Read": 1}, Context: 123456, Output: 2048,
			Transcript: &turns.Segment{Path: path, After: number - 1, Bytes: len(segment), From: int64(number-1) * 200, To: int64(number) * 200},
		}
		line, err := t.Encode()
		if err != nil {
			return err
		}
		ledgerCommit(&in, id, fmt.Sprintf("turn %d", number), []string{head})
		put(&in, ledger.TurnPath("turns", number, ".json"), string(line)+"\n")
		put(&in, path, string(segment))
	}
	return r.load(&in)
}

// ledgerCommit begins a ledger commit in a stream for git fast-import; the ledger's tip is its
// first parent.
func ledgerCommit(in *bytes.Buffer, id ledger.ID, subject string, keep []string) {
	fmt.Fprintf(in, "commit %s\ncommitter Dev <dev@example.invalid> 1795176000 +0000\ndata %d\n%s\n", id.Ref(), len(subject), subject)
	for _, k := range keep {
		fmt.Fprintf(in, "merge %s\n", k)
	}
}
