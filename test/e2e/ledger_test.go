//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"gitagent/test/gittest"
)

// generated is the mission that [rig.generate] makes.
const generated = "a1b2c3d4"

// generate makes a mission with as many turns as there are prompts, in one git process: a ledger as
// docs/format.md has it, with a conversation of one prompt and one reply for each turn. All turns
// end in HEAD. It is as if this clone had written it.
func (r *rig) generate(prompts []string) {
	r.t.Helper()
	code := r.repo.Git("rev-parse", "HEAD")
	const session = "00000000-0000-4000-8000-0000a1b2c3d4"
	began := time.Now().Add(-time.Duration(len(prompts)) * time.Minute)
	line := func(v any) []byte {
		b, err := json.Marshal(v)
		gittest.Must(r.t, err)
		return append(b, '\n')
	}
	var in bytes.Buffer
	file := func(path string, content []byte) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	fmt.Fprintf(&in, "feature done\n")
	last := "" // uuid of the record before
	for i, prompt := range prompts {
		n := i + 1
		at := began.Add(time.Duration(i) * time.Minute).UTC()
		fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata <<END\nturn %d\nEND\n", ledgerRef(generated), at.Unix(), n)
		if i == 0 {
			file("mission.json", line(map[string]any{"v": 1, "id": generated, "title": "Generated", "created": at, "agent": "claude-code"}))
		}
		record := func(kind, from, to, text string) []byte {
			var parent any
			if from != "" {
				parent = from
			}
			return line(map[string]any{
				"parentUuid": parent, "isSidechain": false, "type": kind, "uuid": to, "sessionId": session, "timestamp": at,
				"promptId": fmt.Sprintf("prompt-%d", n), "turnOrigin": "human",
				"message": map[string]any{"role": kind, "content": []any{map[string]any{"type": "text", "text": text}}},
			})
		}
		segment := append(record("user", last, fmt.Sprintf("u%d", n), prompt),
			record("assistant", fmt.Sprintf("u%d", n), fmt.Sprintf("a%d", n), fmt.Sprintf("Reply %d.", n))...)
		last = fmt.Sprintf("a%d", n)
		segmentPath := fmt.Sprintf("transcript/%04d/%06d.jsonl", n/100, n)
		short := []rune(prompt)
		file(segmentPath, segment)
		file(recordPath(n), line(map[string]any{
			"v": 1, "kind": "turn", "mission": generated, "turn": n, "at": at, "started": at, "outcome": "done",
			"agent": "claude-code", "model": model, "session": session, "prompt": string(short[:min(len(short), 500)]),
			"reply": fmt.Sprintf("Reply %d.", n), "code": code, "base": code, "head": code, "branch": "main",
			"files": 3, "insertions": 47, "deletions": 12, "paths": []string{"src/main.c", "two.txt", "three.txt"},
			"tools": map[string]int{"Edit": 2, "Bash": 1}, "context": 1000,
			"transcript": map[string]any{"path": segmentPath, "after": i, "bytes": len(segment)},
		}))
	}
	fmt.Fprintf(&in, "done\n")
	if _, err := r.repo.Feed(in.String(), "fast-import", "--quiet"); err != nil {
		r.t.Fatal(err)
	}
	r.repo.Write(".git/agent/trust/"+generated, "own "+r.repo.Git("rev-parse", ledgerRef(generated))+" "+gittest.Hash("0")+"\n")
}
