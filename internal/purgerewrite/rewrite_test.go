package purgerewrite_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// expect is what a text should be, found out in the plainest way: spans replaced, hashes followed.
func (d *done) expect(text string) string {
	text = strings.ReplaceAll(text, slip, scrub.Mark)
	for from, to := range d.Replaced() {
		if d.Successor(from) != from {
			text = strings.ReplaceAll(text, from.String(), to.String())
		}
	}
	for from, to := range d.Renamed() {
		text = strings.ReplaceAll(text, `"`+string(from)+`"`, `"`+string(to)+`"`)
	}
	return text
}

// chain is the first-parent chain of a ledger, oldest first.
func (l *lab) chain(tip object.Hash) []object.Hash {
	l.t.Helper()
	var list []object.Hash
	for _, hash := range strings.Fields(l.Git("rev-list", "--first-parent", "--reverse", tip.String())) {
		list = append(list, object.NewHash(hash))
	}
	return list
}

// A record without what was computed anew, so that the rest can be compared as bytes.
func uncomputed(t testing.TB, record string) string {
	t.Helper()
	var v map[string]json.RawMessage
	if err := json.Unmarshal([]byte(record), &v); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"transcript", "agents", "skipped"} {
		if raw, ok := v[name]; ok {
			record = strings.Replace(record, `"`+name+`":`+string(raw)+`,`, "", 1)
			record = strings.Replace(record, `,"`+name+`":`+string(raw), "", 1)
		}
	}
	return record
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newWorld(t)
	var prompts []string
	for _, id := range w.ids {
		for _, turn := range w.list(id) {
			prompts = append(prompts, fmt.Sprint(turn.ID(), turn.Outcome, turn.At, turn.Session))
		}
	}
	d := w.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
	for f, n := range d.Found() {
		t.Log(n, f)
		if f.Fate == purgerewrite.Unread || f.Fate == purgerewrite.Kept {
			t.Errorf("%v", f)
		}
	}
	for _, kind := range []purgerewrite.Kind{purgerewrite.Prompt, purgerewrite.Reply, purgerewrite.Conversation, purgerewrite.SubAgent, purgerewrite.Document, purgerewrite.Handoff, purgerewrite.Patch, purgerewrite.Terminal, purgerewrite.Title, purgerewrite.Message, purgerewrite.Code, purgerewrite.FileName} {
		if !slices.ContainsFunc(keys(d.Found()), func(f purgerewrite.Find) bool { return f.Kind == kind }) {
			t.Errorf("nothing of the kind %q was found", kind)
		}
	}
	w.fsck()
	for hash, content := range w.objects(d.after) {
		if strings.Contains(content, slip) {
			t.Errorf("%s has it: %q", hash, content)
		}
	}

	// Every file of every event, and of every state, is what it was but for the secret.
	for name, from := range d.before {
		if !strings.HasPrefix(name, "refs/agent/missions/") {
			continue
		}
		old, now := w.chain(from), w.chain(d.after[name])
		if len(old) != len(now) {
			t.Fatalf("%s has %d events, and had %d", name, len(now), len(old))
		}
		for i := range old {
			if d.Successor(old[i]) != now[i] {
				t.Errorf("%s: event %d is %s, want %s", name, i, now[i], d.Successor(old[i]))
			}
			w.sameLedger(d, old[i], now[i])
		}
	}
	for from := range d.Ours() {
		w.sameState(d, from, d.Successor(from))
	}

	// It all works as before.
	list := filepath.Join(t.TempDir(), "allowed_signers")
	own := w.workspace().Trust.Keys().Own
	if err := os.WriteFile(list, []byte("dev@example.invalid "+own.Public().String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	objects := w.workspace().Repo.Objects(t.Context())
	defer objects.Close()
	var again []string
	for _, id := range w.ids {
		tip := d.after[id.Ref()]
		for _, hash := range w.chain(tip) {
			w.Git("-c", "gpg.ssh.allowedSignersFile="+list, "verify-commit", hash.String())
		}
		if s, err := w.workspace().Trust.Of(t.Context(), w.workspace().Repo, objects, id, tip); err != nil || !s.Whole {
			t.Errorf("mission %s: %+v, %v", id, s, err)
		}
		for _, turn := range w.list(id) {
			again = append(again, fmt.Sprint(turn.ID(), turn.Outcome, turn.At, turn.Session))
			segments, err := w.conversation(turn)
			if err != nil {
				t.Errorf("turn %s: %v", turn.ID(), err)
			}
			for line := range strings.Lines(string(segments)) {
				if !json.Valid([]byte(line)) {
					t.Errorf("turn %s: not valid: %s", turn.ID(), line)
				}
			}
			w.noted(id, turn)
		}
	}
	if !slices.Equal(prompts, again) {
		t.Errorf("turns are\n%s\nand were\n%s", strings.Join(again, "\n"), strings.Join(prompts, "\n"))
	}
	skipped := w.list(w.ids[0])[0].Skipped
	for _, want := range []string{"blob.bin", scrub.Mark + ".txt"} {
		if !slices.Contains(skipped, record.Skip{Path: want, Why: "purged"}) {
			t.Errorf("skipped = %v, want %s", skipped, want)
		}
	}

	if d := w.rewrite(purgerewrite.Target{Finder: fixed(t, slip)}); len(d.Replaced()) > 0 || len(d.Found()) > 0 {
		t.Errorf("once more, %d objects are replaced: %v", len(d.Replaced()), d.Found())
	}
	if d := w.rewrite(purgerewrite.Target{Finder: fixed(t, "nobody has said this")}); len(d.Replaced()) > 0 {
		t.Errorf("of another secret, %d objects are replaced", len(d.Replaced()))
	}
}

func keys[K comparable, V any](m map[K]V) []K {
	var list []K
	for k := range m {
		list = append(list, k)
	}
	return list
}

// noted checks that the note on a turn's commit has the line that the ledger has.
func (w *world) noted(id record.ID, turn *turns.Turn) {
	w.t.Helper()
	if turn.Mission != id {
		return
	}
	line, err := turn.Line()
	if err != nil {
		w.t.Fatal(err)
	}
	if encoded, err := turn.Encode(); err != nil || string(encoded) != string(line) {
		w.t.Errorf("the record of turn %s is\n%s\nand would be written as\n%s", turn.ID(), line, encoded)
	}
	note := w.Git("notes", "--ref=agent/"+string(id), "show", turn.Code.String())
	if !strings.Contains(note+"\n", string(line)+"\n") {
		w.t.Errorf("the note of turn %s is\n%s\nwithout\n%s", turn.ID(), note, line)
	}
}

func (w *world) sameLedger(d *done, from, to object.Hash) {
	w.t.Helper()
	old, now := w.files(from), w.files(to)
	for name, content := range old {
		want, got := d.expect(content), now[name]
		if strings.HasPrefix(name, "turns/") || strings.HasSuffix(name, "handoff.json") {
			mode, record, _ := strings.Cut(got, " ")
			w.sizes(name, record, now)
			want, got = uncomputed(w.t, want[len(mode)+1:]), uncomputed(w.t, record)
		}
		if want != got {
			w.t.Errorf("%s in %s:\n%s\nwant\n%s", name, to, got, want)
		}
	}
	if len(old) != len(now) {
		w.t.Errorf("%s has %d files, want %d", to, len(now), len(old))
	}
	w.sameHeaders(d, from, to)
}

// sizes checks what a record says of the segments beside it.
func (w *world) sizes(name, record string, files map[string]string) {
	w.t.Helper()
	turn, err := turns.Parse([]byte(record), object.NewHash(gittest.Hash("1")).Format())
	if err != nil || turn.Transcript == nil {
		return
	}
	segment := ledger.TurnPath("transcript", turn.Turn, ".jsonl")
	if size := len(files[segment]) - len("0100644 "); size != turn.Transcript.Bytes {
		w.t.Errorf("%s says %d bytes, and there are %d", name, turn.Transcript.Bytes, size)
	}
	for _, a := range turn.Agents {
		path := strings.TrimSuffix(segment, ".jsonl") + "/" + a.ID + ".jsonl"
		if size := len(files[path]) - len("0100644 "); size != a.Bytes {
			w.t.Errorf("%s says %d bytes of %s, and there are %d", name, a.Bytes, a.ID, size)
		}
	}
}

func (w *world) sameState(d *done, from, to object.Hash) {
	w.t.Helper()
	old, now := w.files(from), w.files(to)
	left := 0
	for name, content := range old {
		binary := strings.Contains(content, "\x00") && strings.Contains(content, slip)
		switch got, is := now[name]; {
		case binary || strings.Contains(name, slip):
			if left++; is {
				w.t.Errorf("%s is in %s", name, to)
			}
		case got != d.expect(content):
			w.t.Errorf("%s in %s: %q, want %q", name, to, got, d.expect(content))
		}
	}
	if len(now) != len(old)-left {
		w.t.Errorf("%s has %d files, want %d", to, len(now), len(old)-left)
	}
	w.sameHeaders(d, from, to)
}

// sameHeaders compares commits but for trees and signatures.
func (w *world) sameHeaders(d *done, from, to object.Hash) {
	w.t.Helper()
	const format = "--format=%P%n%an%n%ae%n%ai%n%cn%n%ce%n%ci%n%B"
	want := d.expect(w.Git("show", "-s", format, from.String()))
	if got := w.Git("show", "-s", format, to.String()); got != want {
		w.t.Errorf("%s:\n%s\nwant\n%s", to, got, want)
	}
}
