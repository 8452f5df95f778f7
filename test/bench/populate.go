package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
	"gitagent/internal/statedir"
	"gitagent/internal/trust"
	"gitagent/turns"
)

// turnsEach is how many turns a mission has.
const turnsEach = 2

// written is how many missions are written as one pack.
const written = 5000

// missionID is the id of mission i: no two are equal, and neighbours are far apart.
func missionID(i int) record.ID { return record.ID(fmt.Sprintf("%08x", uint32(i+1)*2654435761)) }

// populate gives the repository n missions of last year, each with turns that changed a file, what was said, and
// notes: what hooks record. The first of them, as many as own says, this clone has written; the others are unsigned,
// as an untrusted clone may push them.
func (r *repository) populate(n, own int) {
	repo := must(git.Find(r.dir))
	head := object.NewHash(r.git("rev-parse", "HEAD"))
	objects := repo.Objects(r.ctx)
	defer func() { objects.Close() }()
	keys := trust.ReadKeys(r.keys(), "")
	trusted := trust.New(statedir.Of(repo.CommonDir), func() *trust.Keys { return keys })
	var refs bytes.Buffer
	for i := range n {
		m := populating{repository: r, objects: objects, id: missionID(i), i: i, session: fmt.Sprintf("5b603d06-8528-4d54-8275-%012x", i), turns: turnsEach, at: time.Now().AddDate(-1, 0, 0).Add(time.Duration(i) * time.Second)}
		if i < own {
			m.key = keys.Own
		}
		tip, notes := m.write(head)
		if i < own {
			check(trusted.Own(m.id, tip, object.Hash{}))
		}
		fmt.Fprintf(&refs, "create %s %s\ncreate %s %s\n", m.id.Ref(), tip, m.id.NotesRef(), notes)
		if (i+1)%written == 0 || i == n-1 {
			check(objects.Flush())
			r.feed(r.dir, refs.Bytes(), "git", "update-ref", "--stdin")
			r.git("pack-refs", "--all")
			refs.Reset()
			objects.Close()
			objects = repo.Objects(r.ctx)
		}
	}
}

// A populating is a mission that is being made up.
type populating struct {
	*repository
	objects *git.Objects
	id      record.ID
	i       int
	session string
	turns   int
	at      time.Time
	key     *sshsig.Key // nil for events without a signature
}

func (m *populating) write(head object.Hash) (tip, notesTip object.Hash) {
	by := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: m.at}
	w := newWriter(m.dir, m.session, m.i)
	m.at = m.at.UTC().Truncate(time.Millisecond)
	l := ledger.New(m.objects, &record.Mission{
		V: record.Version, ID: m.id, Title: fmt.Sprintf("mission number %d", m.i), Created: m.at,
		Agent: "claude-code", Base: head.String(), Sessions: []string{m.session},
	})
	notes := must(gitnotes.Open(m.objects, object.Hash{}))
	code, base := head, head
	from := int64(0)
	for number := 1; number <= m.turns; number++ {
		w.begin(number)
		changed := m.i % m.files
		blob := must(m.objects.Write(plumbing.BlobObject, []byte(source(changed, m.i*m.turns+number))))
		tree := must(m.objects.EditTree(must(m.objects.TreeOf(head)), map[string]object.Entry{path(changed): {Mode: filemode.Regular, Hash: blob}}))
		before := code
		code = must(m.objects.CommitTree(tree, []object.Hash{before}, by, by, w.prompt[:40]+"\n"))
		segment := []byte(fmt.Sprintf(`{"type":"user","sessionId":%q,"message":{"role":"user","content":%q}}`+"\n"+
			`{"type":"assistant","sessionId":%q,"message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`+"\n",
			m.session, w.prompt, m.session, w.reply))
		t := turns.Turn{
			V: record.Version, Kind: "turn", Mission: m.id, Turn: number, At: m.at.Add(time.Duration(number) * time.Minute), Started: m.at,
			Outcome: record.Done, Agent: "claude-code", Model: "claude-opus-4-8", Session: m.session,
			PromptID: w.promptID, Prompt: w.prompt, Reply: w.reply,
			Code: code, Base: before, Head: base, Branch: "main",
			Files: 1, Insertions: rand.IntN(99), Deletions: rand.IntN(99), Paths: []string{path(changed)},
			Tools: map[string]int{"Edit": 1, "Read": 1}, Context: 123456, Output: 2048,
			Transcript: &record.Segment{
				Path: ledger.TurnPath("transcript", number, ".jsonl"), After: number - 1,
				Bytes: len(segment), From: from, To: from + int64(len(segment)),
			},
		}
		from += int64(len(segment))
		line := append(must(t.Encode()), '\n')
		tip = must(l.Append(ledger.Event{
			Subject: fmt.Sprintf("turn %d", number), Keep: []object.Hash{code}, Author: by, Committer: by, Key: m.key,
			Files: map[string][]byte{ledger.TurnPath("turns", number, ".json"): line, t.Transcript.Path: segment},
		}))
		l = must(ledger.At(m.objects, m.id, tip))
		check(notes.Append(code, bytes.TrimSuffix(line, []byte("\n"))))
	}
	return tip, must(notes.Commit(by, by, "mission "+string(m.id)))
}
