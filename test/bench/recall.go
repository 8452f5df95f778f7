package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
	"gitagent/internal/trust"
	"gitagent/test/planted"
)

// rememberedTurns is how many turns there are, and plants how many decisions and attempts among them.
const (
	rememberedTurns = 10_000
	plants          = 200
)

// recalled measures the hook after tools that have read a file for the first time, of which something is told, against one of which
// nothing is known; what the hints for it cost; and the command.
func recalled(l *lab) {
	r := l.newRepository("recall", 0)
	at := must(git.Find(r.dir))
	history := must(planted.Make(l.ctx, at, rememberedTurns, plants))
	r.enable()
	var refs bytes.Buffer
	keys := trust.ReadKeys(r.keys(), "")
	trusted := trust.New(statedir.Of(at.CommonDir), func() *trust.Keys { return keys })
	for id, tip := range history.Tips {
		fmt.Fprintf(&refs, "create %s %s\n", id.Ref(), tip)
		check(trusted.Own(id, tip, object.Hash{}))
	}
	r.feed(r.dir, refs.Bytes(), "git", "update-ref", "--stdin")
	r.git("reset", "-q", "--hard", history.Head.String())
	r.git("repack", "-qad")
	r.git("pack-refs", "--all")
	check(os.WriteFile(filepath.Join(r.keys(), "config.toml"), []byte("[recall]\nedits = true\n"), 0o600))
	hints := statedir.Of(at.CommonDir).Path("recall")

	heading()
	var note, again, whole, lines series
	for i := range l.times(5) {
		_ = os.Remove(hints)
		_, s := l.watched(true, r.dir, nil, nil, l.program, "housekeep")
		note = append(note, s)
		_, s = l.timed(r.dir, nil, nil, l.program, "housekeep")
		again = append(again, s)
		p := history.Attempts[i]
		_, s = l.watched(true, r.dir, nil, nil, l.program, "recall", fmt.Sprintf("%s:%d", p.Path, p.Line))
		lines = append(lines, s)
		_, s = l.timed(r.dir, nil, nil, l.program, "recall", p.Path)
		whole = append(whole, s)
	}
	alone(fmt.Sprintf("housekeeping with hints of %d turns", history.Turns), note, "")
	alone("housekeeping, nothing new", again, "")
	alone("recall of a line", lines, "")
	alone("recall of a file", whole, "")
	fmt.Printf("%d KB of hints; memory: noting %d MB, recall %d MB\n", must(os.Stat(hints)).Size()>>10, most(note), most(lines))

	handoff := *l
	handoff.program = l.now().program("git-agent-handoff")
	r.lab = &handoff
	s := r.newSession()
	n := 0
	read := func(path string) ([]byte, sample) {
		n++
		return l.timed(r.dir, s.env, s.payload("PostToolBatch", fields{"prompt_id": s.writer.promptID, "tool_calls": []any{
			map[string]any{"tool_name": "Read", "tool_use_id": fmt.Sprint("toolu_", n), "tool_input": map[string]any{"file_path": filepath.Join(r.dir, path)}},
		}}), handoff.program, "hook")
	}
	var first, second, none series
	var paths []string
	for _, p := range history.Attempts {
		if !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	for _, path := range paths {
		_, x := read("README.md")
		out, y := read(path)
		if !bytes.Contains(out, []byte("tried: turn")) {
			check(fmt.Errorf("of %s is told %q", path, out))
		}
		_, z := read(path)
		none, first, second = append(none, x), append(first, y), append(second, z)
	}
	compare("PostToolBatch, the first look at a file, against none known", first, none, "+15 ms")
	compare("PostToolBatch, the second look at it", second, none, "")
}

// most is the most memory that any of a series took, in megabytes.
func most(s series) int64 {
	return slices.MaxFunc(s, func(a, b sample) int { return int(a.peak - b.peak) }).peak >> 20
}
