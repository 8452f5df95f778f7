package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/search"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// A speech is what was said in a turn.
type speech struct {
	segment, record []passage
}

// A passage is a text and its place, as a search names it.
type passage struct{ place, text string }

// vocabulary are words of which some differ in case alone, and some in how JSON may write them.
var vocabulary = strings.Fields(`fix Fix FIX the login Login form größe Größe GRÖSSE kelvin ` + "\u212Aelvin" + ` task taſk TASK a/b <c> "q" \d 日本 main.go Main.go`)

func randomWords(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteString([]string{" ", " ", "\n", "\t", "", "\x1b[1m"}[r.IntN(6)])
	}
	return strings.TrimSpace(b.String())
}

// quoted is a text in JSON, in one of the ways that clients write it.
func quoted(r *rand.Rand, text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(r.IntN(2) == 0)
	if err := enc.Encode(text); err != nil {
		panic(err)
	}
	s := strings.TrimSpace(b.String())
	switch r.IntN(4) {
	case 0:
		return strings.ReplaceAll(s, "/", `\/`)
	case 1:
		b.Reset()
		for _, c := range s {
			if c >= 128 || unicode.IsLetter(c) && r.IntN(5) == 0 && !strings.Contains(s, `\`) {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
		return b.String()
	}
	return s
}

// speak makes up what is said in a turn: its segment, and what its record tells of that.
func speak(r *rand.Rand, t *turns.Turn) (s speech, segment []byte) {
	var b strings.Builder
	say := func(place, format string) {
		text := randomWords(r)
		line := fmt.Sprintf(`{"uuid":"%x",`, r.Uint64()) + strings.Replace(format, "TEXT", quoted(r, text), 1) + "}\n"
		b.WriteString(line)
		if r.IntN(5) == 0 {
			b.WriteString(line) // the client may write a record twice
		}
		if place != "" {
			s.segment = append(s.segment, passage{place, text})
		}
	}
	say("prompt", `"type":"user","message":{"content":TEXT}`)
	t.Prompt = s.segment[0].text
	if r.IntN(3) == 0 {
		t.Prompt = ledger.Head(t.Prompt, 5)
	}
	for range r.IntN(6) {
		switch r.IntN(7) {
		case 0:
			say("reply", `"type":"assistant","message":{"content":[{"type":"text","text":TEXT}]}`)
		case 1:
			say("", `"type":"assistant","message":{"content":[{"type":"thinking","thinking":TEXT}]}`)
		case 2:
			say("result", `"type":"user","message":{"content":[{"type":"tool_result","content":TEXT}]}`)
		case 3:
			say("prompt", `"type":"attachment","attachment":{"type":"queued_command","prompt":TEXT}`)
		case 4:
			say("", `"type":"summary","summary":TEXT`)
		case 5:
			say("", `"isSidechain":true,"type":"assistant","message":{"content":TEXT}`)
		case 6:
			say("tool", `"type":"assistant","message":{"content":[{"type":"tool_use","name":"T","input":{"x":TEXT}}]}`)
			last := &s.segment[len(s.segment)-1]
			last.text = "T()\n" + last.text
		}
	}
	say("reply", `"type":"assistant","message":{"content":TEXT}`)
	t.Reply = s.segment[len(s.segment)-1].text
	if r.IntN(3) == 0 {
		t.Reply = randomWords(r) // the record knows something that the segment doesn't
	}
	t.Paths = []string{"src/" + vocabulary[r.IntN(len(vocabulary))]}
	t.Transcript = &record.Segment{}
	switch r.IntN(8) {
	case 0:
		t.Transcript, s.segment = nil, nil
	case 1:
		t.Transcript.Missing, s.segment = "size", nil
	}
	s.record = []passage{{"prompt", t.Prompt}, {"reply", t.Reply}, {"path", strings.Join(t.Paths, "\n")}}
	return s, []byte(b.String())
}

// find is a simple search: the lines that have one of the words, nil if one is nowhere.
func (s speech) find(words []string, in func(place string) bool) []string {
	missing := slices.Clone(words)
	lines := func(all []passage) (found []passage) {
		for _, p := range all {
			for line := range strings.SplitSeq(p.text, "\n") {
				any := false
				for _, w := range words {
					if in(p.place) && hasWord(line, w) {
						any = true
						missing = slices.DeleteFunc(missing, func(m string) bool { return m == w })
					}
				}
				if any {
					found = append(found, passage{p.place, line})
				}
			}
		}
		return found
	}
	found := lines(s.segment)
	said := found
	for _, p := range lines(s.record) {
		if !slices.ContainsFunc(said, func(f passage) bool {
			return f.place == p.place && strings.Contains(f.text, strings.Trim(p.text, "…"))
		}) {
			found = append(found, p)
		}
	}
	if len(missing) > 0 {
		return nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.place+": "+f.text)
	}
	slices.Sort(names)
	return names
}

func hasWord(line, word string) bool {
	if strings.ContainsFunc(word, unicode.IsUpper) {
		return strings.Contains(line, word)
	}
	runes, n := []rune(line), len([]rune(word))
	for i := range runes {
		if i+n <= len(runes) && strings.EqualFold(string(runes[i:i+n]), word) {
			return true
		}
	}
	return false
}

// TestSearch compares with a model: in random missions, with forks and turns that were recorded again,
// every turn is found once that has what is looked for, the newest first, with the lines that match.
func TestSearch(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(20, 4)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := newGrove(t, seed)
			said := make(map[string]speech)
			key := func(t *turns.Turn) string { return named(t.ID(), t.Started) + t.At.UTC().Format(time.RFC3339Nano) }
			g.say = func(t *turns.Turn) []byte {
				s, segment := speak(g.rand, t)
				said[key(t)] = s
				return segment
			}
			for range 60 {
				g.grow()
			}
			repo := g.plant()
			var all []*turns.Turn
			gittest.Must(t, turns.EachOfAll(t.Context(), workspaceOf(repo), func(turn *turns.Turn) error { all = append(all, turn); return nil }))
			hits := 0
			for range 40 {
				hits += checkSearch(t, g, repo, all, func(t *turns.Turn) speech { return said[key(t)] })
			}
			if hits < 40 {
				t.Errorf("only %d turns are found in all searches", hits)
			}
		})
	}
}

// checkSearch searches for words, chosen at random, in what was said in turns, and returns in how many
// they are.
func checkSearch(t *testing.T, g *grove, repo *git.Repo, all []*turns.Turn, said func(*turns.Turn) speech) (hits int) {
	t.Helper()
	var words []string
	for range 1 + g.rand.IntN(2) {
		w := vocabulary[g.rand.IntN(len(vocabulary))]
		if g.rand.IntN(2) == 0 {
			w = strings.ToLower(w)
		}
		words = append(words, w)
	}
	query, err := search.Words(words)
	gittest.Must(t, err)
	some := func() bool { return g.rand.IntN(3) > 0 }
	s := &turns.Search{Query: query, Prompts: some(), Replies: some(), Tools: some(), Paths: some()}
	in := func(place string) bool {
		return map[string]bool{"prompt": s.Prompts, "reply": s.Replies, "tool": s.Tools, "result": s.Tools, "path": s.Paths}[place]
	}
	var mission record.ID
	if len(all) > 0 && g.rand.IntN(4) == 0 {
		mission = all[g.rand.IntN(len(all))].In()
		all, err = turns.List(t.Context(), repo, mission)
		gittest.Must(t, err)
		slices.Reverse(all)
	}
	if g.rand.IntN(4) == 0 {
		s.Since = g.now.Add(-time.Duration(g.rand.IntN(60)) * time.Second)
	}
	var want, got []string
	for _, turn := range all {
		if lines := said(turn).find(words, in); lines != nil && !turn.At.Before(s.Since) {
			want = append(want, fmt.Sprintf("%s in %s: %q", named(turn.ID(), turn.Started), turn.In(), lines))
		}
	}
	err = s.Each(t.Context(), workspaceOf(repo), mission, func(at time.Time, f *turns.Found) error {
		if f == nil {
			return nil
		}
		if !at.Equal(f.At) {
			t.Errorf("%s is of %s, not %s", f.ID(), f.At, at)
		}
		var lines []string
		for _, l := range f.Lines {
			lines = append(lines, l.Place+": "+l.Text)
		}
		slices.Sort(lines)
		got = append(got, fmt.Sprintf("%s in %s: %q", named(f.ID(), f.Started), f.In(), lines))
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %+v: %v, found\n%s\nwant\n%s", words, s, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return len(got)
}

// TestSearchLong: what is longer than is looked at together is found where it is, but for a line that is
// far too long.
func TestSearchLong(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	g := newGrove(t, 1)
	var segment bytes.Buffer
	line := func(text string) {
		fmt.Fprintf(&segment, `{"type":"assistant","message":{"content":%q}}`+"\n", text)
	}
	filler := strings.Repeat("nothing to see here, ", 5000)
	for i := range 60 { // 6 MB
		line(filler)
		line(fmt.Sprintf("needle %d", i))
	}
	line(strings.Repeat(filler, 30) + "needle 60") // 3 MB
	line(strings.Repeat(filler, 200) + "needle")   // 20 MB
	line("needle 61")
	segment.WriteString(`{"type":"assistant","message":{"content":"needle 62"}}`) // without a newline
	g.say = func(t *turns.Turn) []byte {
		t.Transcript = &record.Segment{}
		return segment.Bytes()
	}
	g.grow()
	repo := g.plant()
	query, err := search.Words([]string{"needle"})
	gittest.Must(t, err)
	s := &turns.Search{Query: query, Replies: true}
	var lines []string
	err = s.Each(t.Context(), workspaceOf(repo), "", func(_ time.Time, f *turns.Found) error {
		for _, l := range f.Lines {
			lines = append(lines, l.Text[max(0, len(l.Text)-9):])
		}
		return nil
	})
	if err != nil || len(lines) != 63 || s.Read.Load() != int64(segment.Len()) {
		t.Fatalf("%d lines of %d bytes, %v", len(lines), s.Read.Load(), err)
	}
	for i, l := range lines {
		if l = strings.TrimSpace(strings.TrimLeft(l, ", ")); l != fmt.Sprintf("needle %d", i) {
			t.Errorf("line %d is %q", i, l)
		}
	}
}

// TestSearchBroken: what can't be read hides nothing else, and an error of the caller ends the search.
func TestSearchBroken(t *testing.T) {
	t.Parallel()
	g := newGrove(t, 3)
	g.say = func(t *turns.Turn) []byte {
		t.Transcript = &record.Segment{}
		return fmt.Appendf(nil, `{"type":"user","message":{"content":"needle %s"}}`, t.ID())
	}
	for range 80 {
		g.grow()
	}
	repo := g.plant()
	query, err := search.Words([]string{"needle"})
	gittest.Must(t, err)
	s := &turns.Search{Query: query, Prompts: true}
	var found []*turns.Found
	collect := func(_ time.Time, f *turns.Found) error { found = append(found, f); return nil }
	if err := s.Each(t.Context(), workspaceOf(repo), "", collect); err != nil || len(found) < 10 || slices.Contains(found, nil) {
		t.Fatalf("%d turns, %v", len(found), err)
	}
	stop := errors.New("stop")
	for _, after := range []int{1, 7} {
		n := 0
		err := s.Each(t.Context(), workspaceOf(repo), "", func(time.Time, *turns.Found) error {
			if n++; n == after {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || n != after {
			t.Errorf("%d turns, %v; want %d and the error", n, err, after)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Each(ctx, workspaceOf(repo), "", collect); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	all := len(found)
	victim := found[2]
	path := ledger.TurnPath("transcript", victim.Turn.Turn, ".jsonl")
	g.lose(g.repo.Git("rev-parse", victim.In().Ref()+":"+path))
	found = nil
	err = s.Each(t.Context(), workspaceOf(repo), "", collect)
	if !errors.As(err, new(*ledger.UnreadError)) || !strings.Contains(err.Error(), victim.ID().String()) || len(found) != all || found[2] != nil {
		t.Errorf("%d turns of %d, %v", len(found), all, err)
	}
}

// lose removes an object from the repository.
func (g *grove) lose(hash string) {
	g.t.Helper()
	objects := filepath.Join(g.repo.Dir, ".git", "objects")
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	gittest.Must(g.t, err)
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		for _, ext := range []string{".pack", ".idx"} {
			err = errors.Join(err, os.Remove(strings.TrimSuffix(pack, ".pack")+ext))
		}
		if err == nil {
			_, err = g.repo.Feed(string(data), "unpack-objects", "-q")
		}
		gittest.Must(g.t, err)
	}
	gittest.Must(g.t, os.Remove(filepath.Join(objects, hash[:2], hash[2:])))
}
