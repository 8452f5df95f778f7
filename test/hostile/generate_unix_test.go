//go:build unix

package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gitagent/test/gittest"
)

// mission is the hostile one.
const mission = "deadbeef"

const (
	file = "100644"
	dir  = "40000"
	link = "120000"
	repo = "160000"
)

// A ledger is a mission before it is written. Evils change it.
type ledger struct {
	*rand.Rand
	store
	large *large
	git   *gittest.Repo
	head  string // HEAD of the repository

	about    map[string]any         // mission.json
	turns    map[int]map[string]any // records
	handoffs map[int]map[string]any
	files    map[string]entry // by path; instead of what the maps say
	top      []entry          // more entries of the top directory, in front
	deeper   []entry          // of turns/0000
	instead  map[string]entry // by path of a directory; what is below it is gone
	commit   string           // instead of the commit, with %s for tree and parent
	notes    string           // hash of the notes' tree
	refs     map[string]string
	symbolic map[string]string
}

// newLedger makes a mission of five turns and two handoffs, as it should be.
func newLedger(r *rand.Rand, s store, l *large, repo *gittest.Repo) *ledger {
	head := repo.Git("rev-parse", "HEAD")
	g := &ledger{
		Rand: r, store: s, large: l, git: repo, head: head,
		about:    map[string]any{"v": 1, "id": mission, "title": "a title", "created": at, "sessions": []any{session}},
		turns:    map[int]map[string]any{},
		handoffs: map[int]map[string]any{},
		files:    map[string]entry{}, instead: map[string]entry{}, refs: map[string]string{}, symbolic: map[string]string{},
	}
	for n := 1; n <= 5; n++ {
		g.turns[n] = map[string]any{
			"v": 1, "kind": "turn", "mission": mission, "turn": n, "at": at, "outcome": "done", "agent": "claude-code", "session": session,
			"prompt": "do it", "reply": "done", "code": head, "base": head, "paths": []any{"file"}, "files": 1,
			"transcript": map[string]any{"path": "x", "after": n - 1, "bytes": 3, "from": 0, "to": 3},
		}
		g.files[fmt.Sprintf("transcript/0000/%06d.jsonl", n)] = entry{file, "", s.blob("{}\n")}
	}
	for n := 1; n <= 2; n++ {
		g.handoffs[n] = map[string]any{
			"v": 1, "kind": "handoff", "mission": mission, "handoff": n, "at": at, "exit_type": "clean", "session": session, "last_turn": n,
			"progress_summary": "well", "written": at, "git_sha": head, "doc": "x", "patch": "x", "terminal": "x",
			"open_questions": []any{"why?"}, "todos": []any{map[string]any{"text": "this", "status": "pending"}},
		}
		for _, name := range []string{"handoff.md", "uncommitted.patch", "terminal.txt"} {
			g.files[fmt.Sprintf("handoffs/%06d/%s", n, name)] = entry{file, "", s.blob("text\n")}
		}
	}
	g.notes = s.tree(entry{file, head, s.blob("{}\n")})
	return g
}

const (
	at      = "2026-11-20T12:00:00Z"
	session = "5ee7f6a0-0000-4000-8000-0000deadbeef"
)

// put writes the ledger and moves its refs.
func (g *ledger) put() {
	for n, record := range g.turns {
		g.record(fmt.Sprintf("turns/%04d/%06d.json", n/100, n), record)
	}
	for n, record := range g.handoffs {
		g.record(fmt.Sprintf("handoffs/%06d/handoff.json", n), record)
	}
	g.record("mission.json", g.about)
	for prefix, e := range g.instead {
		maps.DeleteFunc(g.files, func(path string, _ entry) bool { return strings.HasPrefix(path+"/", prefix+"/") })
		g.files[prefix] = e
	}
	tree := g.trees("", g.files)
	root := g.write("commit", fmt.Appendf(nil, "tree %s\n%s\nmission\n", g.tree(entry{file, "mission.json", g.blob("{}")}), who))
	commit := g.commit
	if commit == "" {
		commit = "tree %[1]s\nparent %[2]s\n" + who + "\nturn 5\n"
	}
	g.refs["refs/agent/missions/"+mission] = g.write("commit", fmt.Appendf(nil, commit, tree, root))
	g.refs["refs/notes/agent/"+mission] = g.write("commit", fmt.Appendf(nil, "tree %s\n%s\nnotes\n", g.notes, who))
	for ref, hash := range g.refs {
		g.git.Write(".git/"+ref, hash+"\n") // git would refuse some of them
	}
	for ref, to := range g.symbolic {
		g.git.Write(".git/"+ref, "ref: "+to+"\n")
	}
}

const who = "author Dev <dev@example.invalid> 1795176000 +0000\ncommitter Dev <dev@example.invalid> 1795176000 +0000\n"

func (g *ledger) record(path string, record map[string]any) {
	if _, ok := g.files[path]; ok {
		return
	}
	line, err := json.Marshal(record)
	gittest.Must(g.t, err)
	g.files[path] = entry{file, "", g.blob(string(line) + "\n")}
}

// trees writes the directories of some files.
func (g *ledger) trees(prefix string, files map[string]entry) string {
	below := make(map[string]map[string]entry)
	var entries []entry
	for path, e := range files {
		name, rest, nested := strings.Cut(path, "/")
		if !nested {
			entries = append(entries, entry{e.mode, name, e.hash})
			continue
		}
		if below[name] == nil {
			below[name] = make(map[string]entry)
		}
		below[name][rest] = e
	}
	for name, some := range below {
		entries = append(entries, entry{dir, name, g.trees(prefix+name+"/", some)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	switch prefix {
	case "":
		entries = append(slices.Clone(g.top), entries...)
	case "turns/0000/":
		entries = append(slices.Clone(g.deeper), entries...)
	}
	return g.tree(entries...)
}

// hidden are texts that a terminal would obey, or not show.
var hidden = []string{
	"\x1b[2J", "\x1b]0;title\a", "\x07\b\r\x7f", "\u0085\u009b31m", "\u202egpj.exe", "\u2066x\u2069", "\u200b\u2060\ufeff", "\U000e0041\U000e007f",
	"\u2028\u2029", "\u061c\u200e\u200f", "\x00", "\ufffd", "'; touch x; '", "$(touch x)", "--help", "-rf", "../../../x", "/etc/passwd", "%s%n",
}

// any is a value that no field should have.
func (g *ledger) any() any {
	switch g.IntN(14) {
	case 0:
		return nil
	case 1:
		return -1
	case 2:
		return json.Number("9223372036854775807")
	case 3:
		return json.Number("1e400")
	case 4:
		return json.Number("0.5")
	case 5:
		return true
	case 6:
		return []any{[]any{}, map[string]any{}}
	case 7:
		return map[string]any{"mission": "../x", "turn": -5, "after": 7}
	case 8:
		return strings.Repeat(g.pick(hidden), 1+g.IntN(50_000))
	case 9:
		return slices.Repeat([]any{g.pick(hidden)}, 1+g.IntN(5_000))
	case 10:
		return json.RawMessage(strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000))
	case 11:
		return strings.Repeat("word ", 200_000)
	case 12:
		return "9999-12-31T23:59:59Z"
	}
	return g.pick(hidden)
}

func (g *ledger) pick(from []string) string { return from[g.IntN(len(from))] }

// one is a record of the ledger.
func (g *ledger) one() map[string]any {
	switch g.IntN(5) {
	case 0:
		return g.about
	case 1, 2:
		return g.handoffs[1+g.IntN(2)]
	}
	return g.turns[1+g.IntN(5)]
}

// path is that of a file of the ledger.
func (g *ledger) path() string {
	return g.pick([]string{
		"mission.json", "turns/0000/000005.json", "turns/0000/000003.json", "transcript/0000/000005.jsonl", "handoffs/000002/handoff.json",
		"handoffs/000001/handoff.json", "handoffs/000002/handoff.md", "handoffs/000002/uncommitted.patch", "handoffs/000002/terminal.txt",
	})
}

var absent = gittest.Hash("0123456789abcdef0123456789abcdef01234567")

// conversation is what a client of some agent wrote.
func (g *ledger) conversation(name string) []byte {
	data, err := os.ReadFile(filepath.Join("../../internal/agent", filepath.FromSlash(name)))
	gittest.Must(g.t, err)
	return data
}

// figure is a number that counts nothing.
func (g *ledger) figure() any {
	return []any{0, -1, 1 << 62, json.Number("9223372036854775807"), json.Number("1e30"), json.Number("1e400"), json.Number("-0.5"), "NaN", nil, 7, 7, 7}[g.IntN(12)]
}

// tokens are those of some models.
func (g *ledger) tokens() any {
	models := make(map[string]any)
	for i := range []int{0, 1, 2, 17, 3000}[g.IntN(5)] {
		name := fmt.Sprint(g.pick(hidden), i)
		if i == 1 {
			name = strings.Repeat("m", 1<<g.IntN(17))
		}
		models[name] = map[string]any{g.pick([]string{"input", "cache_read", "output", "x"}): g.figure(), "output": []any{7, -7, 1 << 62}[g.IntN(3)]}
	}
	return models
}

// An evil makes a ledger hostile.
type evil struct {
	name string
	do   func(g *ledger)
}

var evils = []evil{
	{"a conversation of another agent", func(g *ledger) {
		names := []string{"claude-code", "codex", "opencode", "gemini", "", "../x", "-rf", "\x1b[2J", strings.Repeat("x", 100_000)}
		said := []string{"codex/testdata/three-turns.jsonl", "opencode/testdata/conversation.jsonl", "claude/testdata/interactive-command-queued-esc-shell.jsonl"}
		lines := g.conversation(g.pick(said))
		for n := 1; n <= 5; n++ {
			g.turns[n]["agent"] = g.pick(names)
			switch g.IntN(4) {
			case 0:
				lines = g.conversation(g.pick(said))
			case 1: // what a terminal would obey, in all of its texts
				hidden, _ := json.Marshal(g.pick(hidden))
				lines = bytes.ReplaceAll(lines, []byte(`text":"`), append([]byte(`text":"`), hidden[1:len(hidden)-1]...))
			case 2:
				lines = bytes.Repeat(lines, 1+g.IntN(20))
			}
			g.files[fmt.Sprintf("transcript/0000/%06d.jsonl", n)] = entry{file, "", g.blob(string(lines))}
			g.turns[n]["transcript"] = map[string]any{"path": "/etc/passwd", "after": n - 1, "bytes": len(lines), "from": 0, "to": len(lines)}
		}
		g.handoffs[2]["previous_agent"] = g.pick(names)
	}},
	{"tokens", func(g *ledger) {
		g.about["tokens"] = map[string]any{"turns": g.figure(), "models": g.tokens(), "agents": g.tokens()}
		for n := 1; n <= 5; n++ {
			g.turns[n]["tokens"], g.turns[n]["context"], g.turns[n]["output"] = g.tokens(), g.figure(), g.figure()
		}
	}},
	{"sub-agents", func(g *ledger) {
		ids := []string{"a1", "a1", "../x", "a/b", ".", "..", "", "-rf", "CON", "\x1b[2J", strings.Repeat("x", 100_000)}
		for n := 1; n <= 5; n++ {
			var list []any
			for i := range []int{1, 20, 10_000}[g.IntN(3)] {
				id, tokens := g.pick(ids), any(nil)
				if i > 20 {
					id = fmt.Sprint("a", i)
				} else {
					tokens = g.tokens()
				}
				list = append(list, map[string]any{
					"id": id, "type": g.pick(hidden), "call": g.pick(hidden), "outcome": g.pick([]string{"done", "running", "\x1b[2J", ""}), "calls": g.figure(),
					"tokens": tokens, "bytes": g.figure(), "from": g.figure(), "to": g.figure(), "missing": g.pick([]string{"", "", "size", "\x1b[2J"}),
				})
				g.files[fmt.Sprintf("transcript/0000/%06d/%s.jsonl", n, g.pick([]string{"a1", "a2", "x.y", "CON"}))] = entry{file, "", g.blob(g.pick(hidden) + "\n{}\n")}
			}
			g.turns[n]["agents"], g.turns[n]["agents_left"] = list, g.figure()
		}
	}},
	{"a field of another type", func(g *ledger) {
		r := g.one()
		r[g.pick(slices.Sorted(maps.Keys(r)))] = g.any()
	}},
	{"every text hides something", func(g *ledger) {
		for _, r := range append(slices.Collect(maps.Values(g.turns)), append(slices.Collect(maps.Values(g.handoffs)), g.about)...) {
			for name, v := range r {
				if text, ok := v.(string); ok && !slices.Contains([]string{"kind", "mission", "id", "code", "base", "git_sha", "at", "created", "written", "exit_type"}, name) {
					r[name] = g.pick(hidden) + text + g.pick(hidden)
				}
			}
			r[g.pick([]string{"model", "branch", "previous_agent", "doc_source", "log", "last_prompt", "last_outcome", "uncommitted_changes"})] = g.pick(hidden)
			r["paths"], r["tools"] = []any{g.pick(hidden)}, map[string]any{g.pick(hidden): 3}
			r["skipped"] = []any{map[string]any{"path": g.pick(hidden), "why": g.pick(hidden)}}
		}
	}},
	{"lists without end", func(g *ledger) {
		r := g.one()
		for _, name := range []string{"paths", "open_questions", "sessions", "truncated"} {
			r[name] = slices.Repeat([]any{"x"}, 1+g.IntN(60_000))
		}
		r["skipped"], r["todos"] = slices.Repeat([]any{map[string]any{}}, g.IntN(40_000)), slices.Repeat([]any{map[string]any{"text": "x"}}, g.IntN(40_000))
	}},
	{"no JSON", func(g *ledger) {
		text := []string{"", "{", "null\n", "[]", "{}{}", "\xff\xfe{", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), "\n\n\n", `{"v":1,"v":2}`}
		g.files[g.path()] = entry{file, "", g.blob(text[g.IntN(len(text))])}
	}},
	{"a newer version", func(g *ledger) { g.one()["v"] = g.IntN(3) * 2 }},
	{"numbers", func(g *ledger) {
		n := []int{0, -1, 1_000_000, 999_999, 1 << 40, 1<<63 - 1, -1 << 63}[g.IntN(7)]
		name := g.pick([]string{"turns/%[2]s/%[1]s.json", "turns/0000/%[1]s.json", "handoffs/%[1]s/handoff.json"})
		text := g.pick([]string{strconv.Itoa(n), fmt.Sprintf("%06d", n), fmt.Sprintf("+%d", n), fmt.Sprintf("%d ", n), "٣", "1e3", "0x10", "1_0"})
		r := maps.Clone(g.turns[5])
		r["turn"], r["handoff"] = n, n
		g.record(fmt.Sprintf(name, text, fmt.Sprintf("%04d", n/100)), r)
		g.turns[1+g.IntN(5)]["turn"] = n
		g.handoffs[2][g.pick([]string{"handoff", "last_turn", "files"})] = n
	}},
	{"the last number", func(g *ledger) {
		r := maps.Clone(g.turns[5])
		r["turn"] = 999_999
		g.turns[999_999] = r
	}},
	{"a cycle", func(g *ledger) {
		g.turns[5]["transcript"] = map[string]any{"path": "x", "after": g.IntN(12) - 2}
		g.about["forked_from"] = map[string]any{"mission": g.pick([]string{mission, "beefdead"}), "turn": g.IntN(9)}
		g.about["predecessor"] = mission
		other := map[string]any{"v": 1, "id": "beefdead", "created": at, "forked_from": map[string]any{"mission": mission, "turn": 1}, "predecessor": mission}
		line, _ := json.Marshal(other)
		g.refs["refs/agent/missions/beefdead"] = g.write("commit", fmt.Appendf(nil, "tree %s\n%s\nx\n", g.tree(entry{file, "mission.json", g.blob(string(line))}), who))
	}},
	{"something large", func(g *ledger) {
		g.files[g.path()] = entry{file, "", g.large.zeros(g.store, "blob", 513<<20)}
	}},
	{"something larger than it may be", func(g *ledger) {
		g.files[g.path()] = entry{file, "", g.large.zeros(g.store, "blob", 17<<20)}
	}},
	{"a large segment", func(g *ledger) {
		g.files["transcript/0000/000005.jsonl"] = entry{file, "", g.large.zeros(g.store, "blob", 210<<20)}
	}},
	{"a delta of something large", func(g *ledger) {
		path := g.path()
		g.files[path] = entry{file, "", g.large.delta(g.store, path+" of the size that it should have\n")}
	}},
	{"a large tree", func(g *ledger) {
		name := g.pick([]string{"turns", "transcript", "handoffs", "more"})
		g.top = append(g.top, entry{dir, name, g.large.zeros(g.store, "tree", 513<<20)})
	}},
	{"a tree of many", func(g *ledger) {
		var many []entry
		for n := range 60_000 {
			many = append(many, entry{file, fmt.Sprintf("%06d.json", n), g.head})
		}
		name := g.tree(many...)
		for n := range 100 {
			g.top = append(g.top, entry{dir, g.pick([]string{"turns", "handoffs", fmt.Sprint(n)}), name})
		}
	}},
	{"a tree of trees", func(g *ledger) {
		deep := g.tree(entry{file, "000001.json", g.blob("{}")})
		for range 12 {
			var ten []entry
			for n := range 10 {
				ten = append(ten, entry{dir, fmt.Sprintf("%04d", n), deep})
			}
			deep = g.tree(ten...)
		}
		g.top = append(g.top, entry{dir, g.pick([]string{"turns", "handoffs", "transcript"}), deep})
	}},
	{"deep trees", func(g *ledger) {
		deep := g.tree(entry{file, "000001.json", g.blob("{}")})
		for range 3000 {
			deep = g.tree(entry{dir, "0000", deep})
		}
		g.top = append(g.top, entry{dir, g.pick([]string{"turns", "handoffs", "a"}), deep})
	}},
	{"entries twice", func(g *ledger) {
		g.deeper = append(g.deeper, entry{file, "000005.json", g.blob("{}")}, entry{dir, "000005.json", g.tree()}, entry{file, "000003.json", absent})
		g.top = append(g.top, entry{dir, "turns", g.tree()}, entry{file, "mission.json", g.blob("{}")})
	}},
	{"something else in the place of a file", func(g *ledger) {
		g.files[g.path()] = []entry{{link, "", g.blob("../../../../etc/passwd")}, {repo, "", g.head}, {dir, "", g.tree()}, {"0", "", g.blob("x")}, {"777777", "", g.blob("x")}, {file, "", g.head}, {dir, "", g.blob("x")}}[g.IntN(7)]
	}},
	{"something else in the place of a directory", func(g *ledger) {
		prefix := g.pick([]string{"turns", "turns/0000", "handoffs", "handoffs/000002", "transcript", "transcript/0000"})
		g.instead[prefix] = []entry{{link, "", g.blob("..")}, {repo, "", g.head}, {file, "", g.blob("x")}, {dir, "", absent}}[g.IntN(4)]
	}},
	{"case tricks", func(g *ledger) {
		for _, name := range []string{"Turns", "TURNS", "Mission.json", "HANDOFFS", ".GIT", ".git", "git~1", "..", ".", "/", "a/b", "\xff\xfe", "turns\u200b", ".gitmodules", "CON"} {
			g.top = append(g.top, entry{g.pick([]string{dir, file, link}), name, g.tree()})
		}
	}},
	{"a missing object", func(g *ledger) { g.files[g.path()] = entry{file, "", absent} }},
	{"a missing directory", func(g *ledger) {
		g.top = append(g.top, entry{dir, g.pick([]string{"turns", "handoffs", "transcript"}), absent})
	}},
	{"a missing commit", func(g *ledger) {
		r := g.one()
		r[g.pick([]string{"code", "base", "stash_ref", "git_sha"})] = g.pick([]string{absent, gittest.Hash("0"), g.tree(), g.blob("x"), "HEAD", "--output=x"})
	}},
	{"an odd commit", func(g *ledger) {
		g.commit = []string{
			"tree %[1]s\n\n", "tree %[1]s\nparent %[2]s\n\nno author\n", "tree %[1]s\n" + strings.Repeat("parent %[2]s\n", 20_000) + who + "\nmany\n",
			"tree %[1]s\n" + who + "\n" + strings.Repeat("message ", 1<<20) + "\n", "tree %[1]s\nauthor \x00 <\x1b> 99999999999999999999 +9999\ncommitter <> -1 x\n\nNUL \x00\n",
			"tree %[1]s\nparent " + absent + "\n" + who + "\nshallow\n", "tree " + absent + "\n" + who + "\n%.0[1]s", "not a commit %.0[1]s", "parent %[2]s\ntree %[1]s\n\n",
			"tree %[1]s\nauthor " + g.pick(hidden) + " <x@example.invalid> 9223372036854775807 +0000\ncommitter " + g.pick(hidden) + " <" + g.pick(hidden) + "> 1 +0000\nencoding UTF-7\ngpgsig x\n y\n\n" + g.pick(hidden) + "\n",
		}[g.IntN(10)]
	}},
	{"a large commit", func(g *ledger) {
		g.refs["refs/agent/missions/beefdead"] = g.large.zeros(g.store, "commit", 513<<20)
	}},
	{"odd notes", func(g *ledger) {
		many := []entry{{file, g.head[:2] + "/" + g.head[2:], g.blob("x")}, {file, strings.ToUpper(g.head), g.blob("{}\n")}, {dir, g.head, g.tree()}, {dir, g.head[:2], g.tree(entry{file, g.head[2:], g.blob("not JSON\n")})}}
		g.notes = []string{
			g.tree(many...), g.tree(entry{file, g.head, absent}), absent, g.large.zeros(g.store, "tree", 513<<20), g.tree(entry{file, g.head, g.large.zeros(g.store, "blob", 513<<20)}),
			g.tree(entry{dir, g.head[:2], g.large.zeros(g.store, "tree", 513<<20)}), g.blob("x"),
		}[g.IntN(7)]
	}},
	{"notes of notes", func(g *ledger) {
		deep := g.tree(entry{file, g.head, g.blob("x")})
		for range 25 {
			deep = g.tree(entry{dir, g.head[:2], deep}, entry{dir, "AB", deep}, entry{dir, "ab", deep})
		}
		g.notes = deep
	}},
	{"odd refs", func(g *ledger) {
		for _, name := range []string{"DEADBEEF", "deadbee", "deadbeef0", "-rf", "a.lock", "00000000.json", "x\u202ey", "é"} {
			g.refs["refs/agent/missions/"+name] = g.pick([]string{g.head, absent})
		}
		g.refs["refs/agent/missions/00000001"] = g.blob("x")
		g.refs["refs/agent/missions/00000002"] = g.tree()
		g.refs["refs/agent/missions/00000003"] = absent
		g.refs["refs/agent/missions/deadbeef0000/x"] = g.head
		g.refs["refs/agent/remotes/origin/x/missions/00000004"] = g.head
	}},
	{"symbolic refs", func(g *ledger) {
		g.symbolic["refs/agent/missions/00000005"] = g.pick([]string{"refs/agent/missions/00000005", "refs/agent/missions/" + mission, "refs/heads/none", "../../../../etc/passwd"})
		g.symbolic["refs/notes/agent/00000005"] = "refs/heads/main"
	}},
	{"forks of forks", func(g *ledger) {
		before := mission
		for n := range 40 {
			id := fmt.Sprintf("%08x", n)
			line, _ := json.Marshal(map[string]any{"v": 1, "id": id, "created": at, "title": g.pick(hidden), "forked_from": map[string]any{"mission": before, "turn": 1}})
			g.refs["refs/agent/missions/"+id] = g.write("commit", fmt.Appendf(nil, "tree %s\n%s\nx\n", g.tree(entry{file, "mission.json", g.blob(string(line))}), who))
			before = id
		}
	}},
	{"broken records without end", func(g *ledger) {
		for n := 10; n < 99; n++ {
			g.files[fmt.Sprintf("turns/0000/%06d.json", n)] = entry{file, "", g.blob(fmt.Sprintf(`{"kind":%q}`, strings.Repeat(g.pick(hidden), 5_000)))}
		}
	}},
	{worstTexts, func(g *ledger) {
		for n := 1; n <= 5; n++ {
			lines := worstConversation(n)
			g.files[fmt.Sprintf("transcript/0000/%06d.jsonl", n)] = entry{file, "", g.blob(lines)}
			g.turns[n]["transcript"] = map[string]any{"path": "x", "after": n - 1, "bytes": len(lines), "from": 0, "to": len(lines)}
		}
		for n := 1; n <= 2; n++ {
			below := fmt.Sprintf("handoffs/%06d/", n)
			g.files[below+"handoff.md"] = entry{file, "", g.blob(worstText("- ", 1000, "\n"))}
			g.files[below+"uncommitted.patch"] = entry{file, "", g.blob(worstText("diff --git a/x b/x\n", 1, "@@ -1 +1 @@\n"))}
			g.files[below+"terminal.txt"] = entry{file, "", g.blob(worstText("\x1b[8;300;900t", 1, "\x1b[?1049ha\x1b[r\n\x1b[?1049hb\x1b[r\n"))}
		}
	}},
}

const worstTexts = "texts that cost a parser much"

// worstText is a head, some times, and something again and again, 256 KB in all.
func worstText(head string, times int, again string) string {
	text := strings.Repeat(head, times)
	return text + strings.Repeat(again, (256<<10-len(text))/len(again))
}

// worstConversation is turn n's: a prompt, a tool with its result, and a reply; and a record of 4 MB of brackets.
func worstConversation(n int) string {
	deep := strings.Repeat("[", 9000)
	texts := [][3]string{ // a reply, what a tool was given, what it printed
		{strings.Repeat("|a", 500) + "|\n" + worstText("|-", 500, "|\n"), `"` + worstText("", 0, "a ") + `"`, worstText("", 0, "\\\"kind\":\"Secret\"")},
		{worstText("- ", 1000, "\n"), deep + worstText("", 0, "1,") + "1" + strings.Repeat("]", 9000), worstText("", 0, "kind: Secret\n\"a\"")},
		{worstText("[a]: "+strings.Repeat("b", 10_000)+"\n\n", 1, "[a]\n\n"), "{" + worstText("", 0, `"a":{"a":1},`) + `"b":1}`, worstText("", 0, "\x1b[")},
		{worstText("", 0, "*a_ "), `[` + worstText("", 0, "{},") + "1]", worstText("", 0, "\u0301")},
		{worstText("", 0, "[a](b"), strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000), worstText("", 0, "\n")},
	}[n-1]
	quote := func(text string) string {
		line, _ := json.Marshal(text)
		return string(line)
	}
	return fmt.Sprintf(`{"type":"user","uuid":"u%[1]d","promptId":"p%[1]d","message":{"role":"user","content":%[2]s}}
{"type":"assistant","uuid":"a%[1]d","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"text","text":%[2]s},{"type":"tool_use","id":"t%[1]d","name":"Bash","input":{"command":"x","more":%[3]s}}]}}
{"type":"user","uuid":"r%[1]d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[4]s}]}}
{"type":"x","uuid":"x%[1]d","a":%[5]s
{"type":"assistant","uuid":"b%[1]d","message":{"id":"n%[1]d","role":"assistant","content":[{"type":"text","text":%[2]s}],"stop_reason":"end_turn"}}
`, n, quote(texts[0]), texts[1], quote(texts[2]), strings.Repeat("[", 4<<20))
}
