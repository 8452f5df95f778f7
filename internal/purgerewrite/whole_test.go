package purgerewrite_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/agent"
	"gitagent/internal/agent/claude"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// usable checks that all of a mission can be relied on.
func (l *lab) usable(id record.ID) {
	l.t.Helper()
	w := l.workspace()
	objects := w.Repo.Objects(l.t.Context())
	defer objects.Close()
	tip := object.NewHash(l.Git("rev-parse", id.Ref()))
	if s, err := w.Trust.Of(l.t.Context(), w.Repo, objects, id, tip); err != nil || !s.Whole {
		l.t.Errorf("mission %s: %+v, %v", id, s, err)
	}
}

// A turn that is purged as a whole keeps its number, and the conversation goes on over it.
func TestRewriteTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ids[0]
	before := w.list(id)
	d := w.rewrite(purgerewrite.Target{Turns: []record.TurnID{{Mission: id, Turn: 1}}})
	w.fsck()
	after := w.list(id)
	if len(after) != len(before) {
		t.Fatalf("there are %d turns, and were %d", len(after), len(before))
	}
	first := after[0]
	if first.Prompt != scrub.Mark || first.Reply != scrub.Mark || first.Files != 0 || first.Session != before[0].Session || !first.At.Equal(before[0].At) {
		t.Errorf("the turn is %+v", first)
	}
	if got, want := w.Git("rev-parse", first.Code.String()+"^{tree}"), w.Git("rev-parse", first.Code.String()+"^^{tree}"); got != want {
		t.Error("the state of the turn is not that before it")
	}
	if subject := w.Git("show", "-s", "--format=%B", first.Code.String()); !strings.HasPrefix(subject, "turn 1\n\nAgent-Mission: "+string(id)+"\nAgent-Turn: 1\n") {
		t.Errorf("its message is %q", subject)
	}
	if d.Successor(before[1].Code) != after[1].Code || after[1].Prompt != before[1].Prompt {
		t.Errorf("the next turn is %+v", after[1])
	}
	if got, want := w.Git("rev-parse", after[1].Code.String()+"^{tree}"), w.Git("rev-parse", before[1].Code.String()+"^{tree}"); got != want {
		t.Error("the state of the next turn is another one")
	}
	for _, turn := range after {
		segments, err := w.conversation(turn)
		if err != nil {
			t.Fatal(err)
		}
		said := string(segments)
		if strings.Contains(said, "log in") {
			t.Errorf("turn %d: its conversation has the prompt", turn.Turn)
		}
		if got := transcript.Turns(agent.Default().Reader(), []byte(said)); len(got) != turn.Turn || got[0].Prompt != scrub.Mark {
			t.Errorf("turn %d: the conversation has the turns %+v", turn.Turn, got)
		}
		rebuilt, err := agenttest.Rebuilt(claude.Rebuild(transcript.Cut{Lines: agenttest.Lines(segments), Session: "5ee7f6a0-0000-4000-8000-0000a1b2c3d4", Config: t.TempDir(), Dir: w.Dir}))
		if err != nil {
			t.Fatal(err)
		}
		parent := "null"
		for line := range strings.Lines(string(rebuilt.Content())) {
			var v struct {
				UUID   string  `json:"uuid"`
				Parent *string `json:"parentUuid"`
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if v.Parent != nil && parent != *v.Parent || v.Parent == nil && parent != "null" {
				t.Errorf("turn %d: the chain is broken at %s", turn.Turn, line)
			}
			parent = v.UUID
		}
		w.noted(id, turn)
	}
	for _, id := range w.ids {
		w.usable(id)
	}
	if d := w.rewrite(purgerewrite.Target{Turns: []record.TurnID{{Mission: id, Turn: 1}}}); len(d.Replaced()) > 0 {
		t.Errorf("once more, %d objects are replaced", len(d.Replaced()))
	}
}

func TestRewritePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.rewrite(purgerewrite.Target{Paths: gitdiff.Paths{Specs: []string{"deep", "*.bin"}}})
	w.fsck()
	for from := range d.Ours() {
		old, now := w.files(from), w.files(d.Successor(from))
		delete(old, "deep/er/again.txt")
		delete(old, "blob.bin")
		for name := range old {
			if old[name] != now[name] {
				t.Errorf("%s in %s differs", name, from)
			}
		}
		if len(old) != len(now) {
			t.Errorf("%s has %d files, want %d", from, len(now), len(old))
		}
	}
	for _, id := range w.ids {
		w.usable(id)
		for _, turn := range w.list(id) {
			for _, path := range []string{"deep/er/again.txt", "blob.bin"} {
				if !slices.Contains(turn.Skipped, record.Skip{Path: path, Why: "purged"}) {
					t.Errorf("turn %s leaves out %v", turn.ID(), turn.Skipped)
				}
			}
			w.noted(id, turn)
		}
	}
	if d := w.rewrite(purgerewrite.Target{Paths: gitdiff.Paths{Specs: []string{"deep", "*.bin"}}}); len(d.Replaced()) > 0 {
		t.Errorf("once more, %d objects are replaced", len(d.Replaced()))
	}
}

// A mission goes; those that were forked from it keep what they have of it.
func TestRewriteMission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.rewrite(purgerewrite.Target{Missions: []record.ID{w.ids[0]}})
	if !d.after[w.ids[0].Ref()].IsZero() {
		t.Error("the mission is there")
	}
	for _, id := range w.ids[1:] {
		if d.after[id.Ref()] != d.before[id.Ref()] {
			t.Errorf("mission %s has changed", id)
		}
	}
	if len(d.Replaced()) != 1 {
		t.Errorf("replaced are %v", d.Replaced())
	}
}

// What comes after the usable events is rewritten, and does not become usable.
func TestRewriteStranger(t *testing.T) {
	t.Parallel()
	m := newMaker(t, 1)
	m.begin("a1b2c3d4", &record.Mission{})
	for range 4 {
		m.turn("a1b2c3d4")
	}
	usable := m.tips["a1b2c3d4"]
	own := m.key
	m.key = nil
	for range 4 {
		m.turn("a1b2c3d4")
	}
	m.key = own
	m.done()
	d := m.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
	m.fsck()
	tip := d.after[record.ID("a1b2c3d4").Ref()]
	w := m.workspace()
	objects := w.Repo.Objects(t.Context())
	defer objects.Close()
	s, err := w.Trust.Of(t.Context(), w.Repo, objects, "a1b2c3d4", tip)
	if err != nil || s.Commit != d.Successor(usable) || s.Commit == usable || s.Whole {
		t.Errorf("usable is %+v, %v, want up to %s", s, err, d.Successor(usable))
	}
	for hash, content := range m.lab.objects(d.after) {
		if strings.Contains(content, slip) {
			t.Errorf("%s has it", hash)
		}
	}
}

// Without a key, what is written is noted as this clone's.
func TestRewriteKeyless(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.key = filepath.Join(l.config, "there is none")
	c := l.client()
	l.turn(c, "log in with "+slip, "ok", l.write("a.txt", slip+"\n"))
	l.turn(c, "go on", "ok", l.write("b.txt", "b\n"))
	id := record.ID(c.Session[len(c.Session)-8:])
	l.usable(id)
	d := l.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
	l.fsck()
	was := l.chain(d.before[id.Ref()])
	for _, event := range was {
		if d.Successor(event) == event {
			t.Errorf("event %s was not written again", event)
		}
	}
	if now := l.chain(d.after[id.Ref()]); len(now) != len(was) {
		t.Errorf("%d events were written of %d", len(now), len(was))
	}
	l.usable(id)
}

// What the user has committed on a turn stays, unless he says otherwise.
func TestRewriteTheirs(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newWorld(t)
	turn := w.list(w.ids[0])[0].Code
	w.Git("checkout", "-q", "-f", "-b", "mine", turn.String())
	w.Write("mine.txt", "mine\n")
	mine := object.NewHash(w.Commit("my own"))
	d := w.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
	if d.Successor(mine) != mine || d.Ours()[mine] {
		t.Error("the user's commit was rewritten")
	}
	w = newWorld(t)
	turn = w.list(w.ids[0])[0].Code
	w.Git("checkout", "-q", "-f", "-b", "mine", turn.String())
	w.Write("mine.txt", "mine\n")
	mine = object.NewHash(w.Commit("my own"))
	w.theirs = map[object.Hash]bool{mine: true}
	d = w.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
	if d.Successor(mine) == mine || d.Ours()[mine] {
		t.Error("the user's commit was not rewritten")
	}
	w.Git("update-ref", "refs/heads/mine", d.Successor(mine).String())
	w.sameState(d, mine, d.Successor(mine))
	w.fsck()
}

// What is not here stays as it is, and is named; the rest is rewritten.
func TestRewriteMissing(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newWorld(t)
	id := w.ids[0]
	blob := w.Git("rev-parse", id.Ref()+":"+ledger.TurnPath("transcript", 2, ".jsonl"))
	w.Git("repack", "-adq")
	for _, file := range glob(t, filepath.Join(w.Dir, ".git", "objects", "pack", "*.pack")) {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.Remove(file)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(strings.TrimSuffix(file, ".pack") + ".idx"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Feed(string(data), "unpack-objects", "-q"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(w.Dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	d := w.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
	unread := 0
	for f := range d.Found() {
		if f.Fate == purgerewrite.Unread {
			unread++
			if f.Turn != 2 || f.Kind != purgerewrite.Conversation {
				t.Errorf("unread is %v", f)
			}
		}
	}
	if unread != 1 {
		t.Errorf("%d places were not read", unread)
	}
	if first := w.list(id)[0]; first.Prompt != "log in with "+scrub.Mark {
		t.Errorf("the first prompt is %q", first.Prompt)
	}
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// conversation is what a fork of the turn begins with.
func (l *lab) conversation(t *turns.Turn) ([]byte, error) {
	var b bytes.Buffer
	err := turns.Conversation(l.t.Context(), l.workspace().Repo, t, func(segment io.Reader, _ bool) error {
		_, err := b.ReadFrom(segment)
		return err
	})
	return b.Bytes(), err
}
