package purgerewrite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// long makes a mission of so many turns, whose segments have so many bytes each; the secret is in the tenth.
func (l *lab) long(id record.ID, n, size int) (tip object.Hash) {
	l.t.Helper()
	repo := l.workspace().Repo
	objects := repo.Objects(l.t.Context())
	defer objects.Close()
	write := func(hash object.Hash, err error) object.Hash {
		if err != nil {
			l.t.Fatal(err)
		}
		return hash
	}
	who := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1795176000, 0).UTC()}
	code := object.NewHash(l.Git("rev-parse", "HEAD"))
	tree := write(objects.TreeOf(code))
	led := ledger.New(objects, &record.Mission{V: record.Version, ID: id, Created: who.When})
	for turn := 1; turn <= n; turn++ {
		text := strings.Repeat("word ", 100)
		if turn == n/10 {
			text += slip
		}
		line := fmt.Sprintf(`{"type":"user","uuid":"%d","message":{"role":"user","content":"%s"}}`, turn, text) + "\n"
		segment := strings.Repeat(line, max(1, size/len(line)))
		blob := write(objects.Write(plumbing.BlobObject, fmt.Appendf(nil, "turn %d %s\n", turn, text)))
		tree = write(objects.EditTree(tree, map[string]object.Entry{fmt.Sprintf("src/dir%d/f.txt", turn%40): {Mode: filemode.Regular, Hash: blob}}))
		code = write(objects.CommitTree(tree, []object.Hash{code}, who, who, ledger.CodeMessage(fmt.Sprintf("turn %d", turn), id, turn, "s")))
		record := fmt.Sprintf(`{"v":1,"kind":"turn","mission":"%s","turn":%d,"at":"2026-11-20T12:00:00Z","outcome":"done","prompt":"go","code":"%s","files":0,"insertions":0,"deletions":0,"context":0,"output":0,"compactions":0,"transcript":{"path":"%s","after":%d,"bytes":%d,"from":0,"to":0}}`+"\n",
			id, turn, code, ledger.TurnPath("transcript", turn, ".jsonl"), turn-1, len(segment))
		next := write(led.Append(ledger.Event{
			Subject: fmt.Sprintf("turn %d", turn), Keep: []object.Hash{code}, Author: who, Committer: who, Key: l.workspace().Trust.Keys().Own,
			Files: map[string][]byte{ledger.TurnPath("turns", turn, ".json"): []byte(record), ledger.TurnPath("transcript", turn, ".jsonl"): []byte(segment)},
		}))
		if turn%500 == 0 {
			if err := objects.Flush(); err != nil {
				l.t.Fatal(err)
			}
		}
		var err error
		if led, err = ledger.At(objects, id, next); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := objects.Flush(); err != nil {
		l.t.Fatal(err)
	}
	l.Git("update-ref", id.Ref(), led.Tip.String())
	return led.Tip
}

func BenchmarkRewrite(b *testing.B) {
	l := newLab(b)
	tip := l.long("a1b2c3d4", gittest.Size(1000, 100), 50<<10)
	w := l.workspace()
	for b.Loop() {
		objects := w.Repo.Objects(b.Context())
		r := purgerewrite.New(w.Repo, objects, purgerewrite.Target{Finder: fixed(b, slip)}, w.Trust.Keys().Own, nil)
		if err := r.Ledgers(b.Context(), []purgerewrite.Chain{{ID: "a1b2c3d4", Tip: tip, Usable: tip}}); err != nil {
			b.Fatal(err)
		}
		if r.Successor(tip) == tip {
			b.Error("nothing was rewritten")
		}
		objects.Close()
	}
}
