package purgerewrite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
	"gitagent/test/gittest"
)

// A maker makes random ledgers that look like ours, with the secret here and there.
type maker struct {
	*lab
	rnd     *rand.Rand
	objects *git.Objects
	key     *sshsig.Key
	at      time.Time
	tips    map[record.ID]object.Hash
	codes   map[record.ID]object.Hash // the last code commit of each
	events  map[record.ID][]object.Hash
	notes   map[record.ID]*gitnotes.Notes
}

func newMaker(t testing.TB, seed uint64) *maker {
	l := newLab(t)
	m := &maker{
		lab: l, rnd: rand.New(rand.NewPCG(seed, 1)), objects: l.workspace().Repo.Objects(context.Background()), key: l.workspace().Trust.Keys().Own,
		at: time.Unix(1795176000, 0).UTC(), tips: map[record.ID]object.Hash{}, codes: map[record.ID]object.Hash{},
		events: map[record.ID][]object.Hash{}, notes: map[record.ID]*gitnotes.Notes{},
	}
	t.Cleanup(m.objects.Close)
	return m
}

func (m *maker) must(hash object.Hash, err error) object.Hash {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
	return hash
}

// says is a text, which has the secret once in so many times.
func (m *maker) says(often int) string {
	words := []string{"fix", "the \"login\"", "form\\", "naïve", "\t", "<b>&", "[redacted:url-password]", "…"}
	var b strings.Builder
	for range 1 + m.rnd.IntN(5) {
		b.WriteString(words[m.rnd.IntN(len(words))] + " ")
	}
	if m.rnd.IntN(often) == 0 {
		b.WriteString(slip + words[m.rnd.IntN(len(words))])
	}
	return b.String()
}

func (m *maker) who() object.Signature {
	m.at = m.at.Add(time.Second)
	name := "Dev"
	if m.rnd.IntN(30) == 0 {
		name += " " + slip
	}
	return object.Signature{Name: name, Email: "dev@example.invalid", When: m.at}
}

// code makes a commit on the last one, with a few changes.
func (m *maker) code(id record.ID, turn int) object.Hash {
	parent := m.codes[id]
	if parent.IsZero() || m.rnd.IntN(8) == 0 {
		parent = object.NewHash(m.Git("rev-parse", "HEAD"))
	}
	changes := map[string]object.Entry{}
	for range m.rnd.IntN(4) {
		name := fmt.Sprintf("d%d/e%d/f%d", m.rnd.IntN(3), m.rnd.IntN(3), m.rnd.IntN(5))
		content, mode := m.says(6), filemode.Regular
		switch m.rnd.IntN(8) {
		case 0:
			mode = filemode.Symlink
		case 1:
			content = "\x00" + content
		case 2:
			mode = filemode.Executable
		case 3:
			name += " " + strings.Map(func(r rune) rune {
				if r == '/' {
					return '_'
				}
				return r
			}, m.says(10))
		}
		changes[name] = object.Entry{Mode: mode, Hash: m.must(m.objects.Write(plumbing.BlobObject, []byte(content)))}
	}
	if m.rnd.IntN(6) == 0 {
		changes["sub"] = object.Entry{Mode: filemode.Submodule, Hash: object.NewHash(gittest.Hash("ab"))}
	}
	tree := m.must(m.objects.TreeOf(parent))
	tree = m.must(m.objects.EditTree(tree, changes))
	who := m.who()
	subject := strings.NewReplacer("\n", " ", "\t", " ").Replace(fmt.Sprintf("turn %d: %s", turn, m.says(6)))
	m.codes[id] = m.must(m.objects.CommitTree(tree, []object.Hash{parent}, who, who, ledger.CodeMessage(subject, id, turn, "s-1")))
	return m.codes[id]
}

func (m *maker) segment() string {
	var b strings.Builder
	for range m.rnd.IntN(6) {
		text, _ := json.Marshal(m.says(5))
		fmt.Fprintf(&b, `{"type": "user","n":%d, "message":{"content":[{"text":%s},%s]},"\u0061":null}`+"\n", m.rnd.IntN(99), text, text)
		if m.rnd.IntN(5) == 0 {
			b.WriteString("torn " + slip + " {\n")
		}
	}
	return b.String()
}

// turn appends a turn, of another shape each time.
func (m *maker) turn(id record.ID) {
	l, err := ledger.At(m.objects, id, m.tips[id])
	if err != nil {
		m.t.Fatal(err)
	}
	last, err := l.LastTurn()
	if err != nil {
		m.t.Fatal(err)
	}
	n := last + 1
	if last > 0 && m.rnd.IntN(6) == 0 {
		n = last // recorded again
	}
	code := m.code(id, n)
	segment, side := m.segment(), m.segment()
	prompt, _ := json.Marshal(m.says(4))
	reply, _ := json.Marshal(m.says(4))
	odd, _ := json.Marshal(map[string]any{m.says(9): []string{m.says(9), code.String()}})
	record := fmt.Sprintf(`{"v":1,"kind":"turn","mission":"%s","turn":%d,"at":"%s","outcome":"done","session":"s-1","prompt":%s,"reply":%s,`+
		`"code":"%s","base":"%s","files":1,"insertions":2,"deletions":3,"paths":[%s],"context":0,"output":0,"compactions":0,`+
		`"agents":[{"id":"a1","type":%s,"outcome":"done","calls":0,"bytes":%d,"from":0,"to":0}],`+
		`"transcript":{"path":"x","after":%d,"bytes":%d,"from":0,"to":0},"x":%s}`,
		id, n, m.at.Format(time.RFC3339), prompt, reply, code, code, prompt, reply, len(side), n-1, len(segment), odd)
	files := map[string][]byte{
		ledger.TurnPath("turns", n, ".json"):               []byte(record + "\n"),
		ledger.TurnPath("transcript", n, ".jsonl"):         []byte(segment),
		ledger.TurnPath("transcript", n, "") + "/a1.jsonl": []byte(side),
	}
	if m.rnd.IntN(3) == 0 {
		files["handoffs/000001/handoff.json"] = fmt.Appendf(nil, `{"v":1,"kind":"handoff","mission":"%s","handoff":1,"at":"%s","exit_type":"clean","last_prompt":%s,"stash_ref":"%s","recent_commits":[{"hash":"%s","subject":%s}],"todos":[{"text":%s}]}`+"\n",
			id, m.at.Format(time.RFC3339), prompt, code, code, reply, prompt)
		files["handoffs/000001/handoff.md"] = []byte(m.says(2))
		files["handoffs/000001/uncommitted.patch"] = []byte(m.says(2))
		files["handoffs/000001/terminal.txt"] = []byte(m.says(2))
	}
	if m.rnd.IntN(5) == 0 {
		files["unknown/of/later/version"] = []byte(m.says(2))
	}
	l.Mission.Title = m.says(4)
	who := m.who()
	m.tips[id] = m.must(l.Append(ledger.Event{Subject: fmt.Sprintf("turn %d", n), Files: files, Keep: []object.Hash{code}, Author: who, Committer: who, Key: m.key}))
	m.events[id] = append(m.events[id], m.tips[id])
	if err := m.notes[id].Append(code, []byte(record)); err != nil {
		m.t.Fatal(err)
	}
	m.must(m.notes[id].Commit(who, who, "mission "+string(id)+"\n"))
}

func (m *maker) begin(id record.ID, head *record.Mission) {
	notes, err := gitnotes.Open(m.objects, object.Hash{})
	if err != nil {
		m.t.Fatal(err)
	}
	m.notes[id] = notes
	if m.tips[id] != (object.Hash{}) {
		return
	}
	head.V, head.ID, head.Title, head.Created = record.Version, id, m.says(3), m.at
	who := m.who()
	m.tips[id] = m.must(ledger.New(m.objects, head).Append(ledger.Event{Subject: "start " + string(id), Author: who, Committer: who, Key: m.key}))
	m.events[id] = []object.Hash{m.tips[id]}
}

// fork goes on with a mission from one of its events.
func (m *maker) fork(id, source record.ID) {
	from := m.events[source][m.rnd.IntN(len(m.events[source]))]
	l, err := ledger.At(m.objects, source, from)
	if err != nil {
		m.t.Fatal(err)
	}
	last, _ := l.LastTurn()
	l.ID, l.Mission.ID = id, id
	l.Mission.ForkedFrom = &record.TurnID{Mission: source, Turn: last}
	who := m.who()
	m.tips[id] = m.must(l.Append(ledger.Event{Subject: fmt.Sprintf("fork of %s/%d", source, last), Author: who, Committer: who, Key: m.key}))
	m.events[id] = []object.Hash{m.tips[id]}
	m.codes[id] = m.codes[source]
	m.begin(id, nil)
}

// side makes the last events of a mission another side of it, with the name that it has then.
func (m *maker) side(of record.ID) record.ID {
	old, codes := m.tips[of], m.codes[of]
	m.turn(of)
	first := m.tips[of]
	id := record.OfCommit(first)
	m.tips[id], m.codes[id], m.events[id] = first, m.codes[of], []object.Hash{first}
	m.tips[of], m.codes[of] = old, codes
	m.events[of] = m.events[of][:len(m.events[of])-1]
	m.begin(id, nil)
	return id
}

// done moves the refs.
func (m *maker) done() []record.ID {
	if err := m.objects.Flush(); err != nil {
		m.t.Fatal(err)
	}
	var ids []record.ID
	var updates []git.Update
	for id, tip := range m.tips {
		ids = append(ids, id)
		updates = append(updates, git.Update{Ref: id.Ref(), New: tip})
		who := m.who()
		if commit := m.must(m.notes[id].Commit(who, who, "mission\n")); !commit.IsZero() {
			updates = append(updates, git.Update{Ref: id.NotesRef(), New: commit})
		}
	}
	if err := m.objects.Flush(); err != nil {
		m.t.Fatal(err)
	}
	if err := m.workspace().Repo.UpdateRefs(m.t.Context(), "test", updates); err != nil {
		m.t.Fatal(err)
	}
	return ids
}

func TestRewriteRandom(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(60, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, seed)
			m.begin("a1b2c3d4", &record.Mission{})
			ids := []record.ID{"a1b2c3d4"}
			for i := range 12 + m.rnd.IntN(12) {
				id := ids[m.rnd.IntN(len(ids))]
				switch m.rnd.IntN(6) {
				case 0:
					next := record.ID(fmt.Sprintf("f0%06x", i))
					m.fork(next, id)
					ids = append(ids, next)
				case 1:
					ids = append(ids, m.side(id))
				case 2:
					next := record.ID(fmt.Sprintf("e0%06x", i))
					m.begin(next, &record.Mission{Predecessor: id})
					ids = append(ids, next)
				default:
					m.turn(id)
				}
			}
			w := &world{m.lab, m.done()}
			d := w.rewrite(purgerewrite.Target{Finder: fixed(t, slip)})
			w.fsck()
			t.Log(len(d.Replaced()), d.Renamed(), len(d.Found()))
			for f := range d.Found() {
				if f.Fate == purgerewrite.Unread || f.Fate == purgerewrite.Kept {
					t.Errorf("%v", f)
				}
			}
			for hash, content := range w.objects(d.after) {
				if strings.Contains(content, slip) {
					t.Errorf("%s has it: %q", hash, content)
				}
			}
			for _, id := range w.ids {
				old, now := w.chain(d.before[id.Ref()]), w.chain(d.after[id.Ref()])
				for i := range old {
					if d.Successor(old[i]) != now[i] {
						t.Errorf("%s: event %d is %s, want %s", id, i, now[i], d.Successor(old[i]))
					}
					w.sameLedger(d, old[i], now[i])
				}
				name := id
				if to, ok := d.Renamed()[id]; ok {
					name = to
				}
				objects := w.workspace().Repo.Objects(t.Context())
				if s, err := w.workspace().Trust.Of(t.Context(), w.workspace().Repo, objects, name, d.after[id.Ref()]); err != nil || !s.Whole {
					t.Errorf("mission %s: %+v, %v", name, s, err)
				}
				objects.Close()
			}
			for from := range d.Ours() {
				w.sameState(d, from, d.Successor(from))
			}
		})
	}
}
