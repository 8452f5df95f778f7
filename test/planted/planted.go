// Package planted makes up a long history of turns with decisions and attempts in
// it, of which it is known where they are: to measure what of that is found.
package planted

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/evidence"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

// A Plant is a turn that is looked for.
type Plant struct {
	Path string
	Line int    // where it is in the end, from 1: a line of it, or the one behind which it was
	Mark string // a word that its prompt has, and no other
	How  string // how an attempt was given up

	line string // that one
}

// A History is what was made.
type History struct {
	Decisions, Attempts []Plant
	Turns               int
	Head                object.Hash               // a commit that has the worktree of the end
	Tips                map[record.ID]object.Hash // of this clone's missions
	Strangers           map[record.ID]object.Hash // of others, whose prompts have the word Stranger; also behind tips of ours
}

const (
	files     = 100
	lines     = 80
	perTurns  = 20 // turns of a mission
	fileLines = "var value%03d%02d = compute(%d)"
)

// Make writes about so many turns into a repository, among them so many decisions
// and as many attempts that were given up, and as many of a stranger's. Refs it
// leaves to the caller: those of Tips, Strangers and HEAD.
func Make(ctx context.Context, repo *git.Repo, n, plants int) (*History, error) {
	m := &maker{
		objects: repo.Objects(ctx), rand: rand.New(rand.NewPCG(37, uint64(n))), left: n,
		at:      time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		History: &History{Tips: make(map[record.ID]object.Hash), Strangers: make(map[record.ID]object.Hash)},
	}
	defer m.objects.Close()
	if err := m.begin(); err != nil {
		return nil, err
	}
	each := max(3, n/(2*plants))
	for i := 0; m.left > 0 || i < 2*plants; i++ {
		if i < 2*plants {
			m.plant(i)
		}
		for range each - 3 {
			m.noise()
		}
		if m.err != nil {
			return nil, m.err
		}
	}
	m.end()
	m.strangers(plants)
	m.find()
	if m.err == nil {
		m.err = m.objects.Flush()
	}
	return m.History, m.err
}

type maker struct {
	*History
	objects *git.Objects
	rand    *rand.Rand
	at      time.Time
	left    int // turns to make
	err     error

	files  [files][]string // as they are
	pinned map[string]bool // lines that stay
	tree   object.Hash
	commit object.Hash // whose tree that is
	first  object.Hash

	ledger *ledger.Ledger // of the mission at work; nil between two
	number int            // its last turn
	made   int            // missions
	fails  bool           // the next turn's check does
}

func path(i int) string { return fmt.Sprintf("src/part%02d/file%03d.go", i%10, i) }

func (m *maker) begin() error {
	m.pinned = make(map[string]bool)
	for i := range m.files {
		for k := range lines {
			m.files[i] = append(m.files[i], fmt.Sprintf(fileLines, i, k, 0))
		}
	}
	empty, err := m.objects.Write(plumbing.TreeObject, nil)
	if err != nil {
		return err
	}
	m.tree = empty
	for i := range m.files {
		m.save(i)
	}
	m.commit = m.commitTree("a commit to start from\n")
	m.first = m.commit
	return m.err
}

// save puts a file into the tree.
func (m *maker) save(file int) {
	blob, err := m.objects.Write(plumbing.BlobObject, []byte(strings.Join(m.files[file], "\n")+"\n"))
	if err == nil {
		m.tree, err = m.objects.EditTree(m.tree, map[string]object.Entry{path(file): {Mode: filemode.Regular, Hash: blob}})
	}
	m.fail(err)
}

func (m *maker) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *maker) by() object.Signature {
	return object.Signature{Name: "Dev", Email: "dev@example.invalid", When: m.at}
}

func (m *maker) commitTree(message string) object.Hash {
	var parents []object.Hash
	if !m.commit.IsZero() {
		parents = append(parents, m.commit)
	}
	commit, err := m.objects.CommitTree(m.tree, parents, m.by(), m.by(), message)
	m.fail(err)
	return commit
}

// hand changes a file between two turns.
func (m *maker) hand(file int) {
	m.save(file)
	m.at = m.at.Add(time.Second)
	m.commit = m.commitTree("by hand\n")
}

// turn records a turn that has changed a file.
func (m *maker) turn(file int, prompt, reply string) {
	if m.err != nil {
		return
	}
	if m.ledger == nil || m.number == perTurns {
		m.mission(nil, m.newID(0x10000000))
	}
	m.save(file)
	m.record(m.Tips, file, prompt, reply)
	m.left--
	m.Turns++
}

func (m *maker) newID(from int) record.ID {
	m.made++
	return record.ID(fmt.Sprintf("%08x", from+m.made*7919))
}

func (m *maker) mission(from *record.TurnID, id record.ID) {
	m.number = 0
	m.ledger = ledger.New(m.objects, &record.Mission{
		V: record.Version, ID: id, Created: m.at, Agent: "claude-code", Base: m.commit.String(), ForkedFrom: from, Sessions: []string{"session-" + string(id)},
	})
	if from != nil {
		m.number = from.Turn
	}
}

// record writes the turn that ends with the tree as it is.
func (m *maker) record(tips map[record.ID]object.Hash, file int, prompt, reply string) {
	id := m.ledger.ID
	m.number++
	began := m.at.Add(time.Second)
	m.at = m.at.Add(time.Minute)
	base := m.commit
	m.commit = m.commitTree(ledger.CodeMessage(fmt.Sprintf("turn %d", m.number), id, m.number, "session-"+string(id)))
	t := turns.Turn{
		V: record.Version, Kind: record.KindTurn, Mission: id, Turn: m.number, At: m.at, Started: began, Outcome: record.Done,
		Agent: "claude-code", Model: "claude-opus-4-8", Session: "session-" + string(id), PromptID: fmt.Sprintf("%s-%d", id, m.number),
		Prompt: prompt, Reply: reply, Code: m.commit, Base: base, Head: base, Branch: "main",
		Files: 1, Insertions: 3, Deletions: 3, Paths: []string{path(file)}, Tools: map[string]int{"Edit": 1, "Read": 2}, Context: 123456, Output: 2048,
	}
	// Of others some fail, too, and pass in the next turn.
	no, outcome := false, evidence.Passed
	if m.fails || m.number%8 == 0 {
		outcome = evidence.Failed
	}
	m.fails = false
	t.Checks, t.ChangedAfter = []record.Check{{Kind: evidence.Test, Command: "go test ./...", Outcome: outcome}}, &no
	line, err := t.Encode()
	m.fail(err)
	m.append(tips, ledger.Event{
		Subject: fmt.Sprintf("turn %d", m.number), Keep: []object.Hash{m.commit}, Author: m.by(), Committer: m.by(),
		Files: map[string][]byte{ledger.TurnPath("turns", m.number, ".json"): append(line, '\n')},
	})
}

func (m *maker) append(tips map[record.ID]object.Hash, e ledger.Event) {
	if m.err != nil {
		return
	}
	tip, err := m.ledger.Append(e)
	m.fail(err)
	if m.err == nil {
		tips[m.ledger.ID] = tip
		m.ledger, err = ledger.At(m.objects, m.ledger.ID, tip)
		m.fail(err)
	}
}

// noise is a turn that changes three lines, which stay until another changes them.
func (m *maker) noise() {
	file := m.rand.IntN(files)
	for k, at := 0, m.rand.IntN(len(m.files[file])-3); k < 3; k++ {
		if line := m.files[file][at+k]; !m.pinned[line] {
			m.files[file][at+k] = fmt.Sprintf(fileLines, file, m.rand.IntN(100), m.rand.IntN(1_000_000))
		}
	}
	m.turn(file, fmt.Sprintf("Compute %s with other figures, as the table of %d has them", words(m.rand, 20), m.rand.IntN(100)), "Done: "+words(m.rand, 60))
}

func words(r *rand.Rand, n int) string {
	list := []string{"lock", "queue", "table", "request", "counter", "cache", "handle", "reader", "order", "index", "worker", "window", "signal", "buffer"}
	var b strings.Builder
	for range n {
		b.WriteString(list[r.IntN(len(list))] + " ")
	}
	return strings.TrimSpace(b.String())
}

// insert puts lines behind one that stays.
func (m *maker) insert(file, at int, text ...string) {
	m.pinned[m.files[file][at]] = true
	for _, line := range text {
		m.pinned[line] = true
	}
	m.files[file] = append(m.files[file][:at+1:at+1], append(text, m.files[file][at+1:]...)...)
}

// spot is a place where nothing is planted.
func (m *maker) spot() (file, at int) {
	for {
		file = m.rand.IntN(files)
		at = 3 + m.rand.IntN(len(m.files[file])-6)
		free := true
		for k := -3; k <= 3; k++ {
			free = free && !m.pinned[m.files[file][at+k]]
		}
		if free {
			m.files[file][at] = fmt.Sprintf("// anchor %d of file %d", m.Turns, file) // which there is once
			return file, at
		}
	}
}

// The ways in which an attempt is given up, and their names.
var names = []string{"by the next turn", "by hand", "by a later turn, from the middle", "by a turn of the next mission", "by a restore", "for a check that failed"}

var ways = []func(m *maker, file int, before, text []string){
	func(m *maker, file int, before, _ []string) { // the next turn
		m.files[file] = before
		m.turn(file, "That does not work here, take it out again", "It is gone. "+words(m.rand, 40))
	},
	func(m *maker, file int, before, _ []string) { // a person
		m.files[file] = before
		m.hand(file)
		m.turn((file+1)%files, "Go on with the other file", words(m.rand, 40))
	},
	func(m *maker, file int, _, text []string) { // a later turn, when the file has gone on
		m.change(file, text)
		m.turn(file, "Compute the first one in another way", words(m.rand, 40))
		m.without(file, text)
		m.turn(file, "It was too slow, without it please", "Removed. "+words(m.rand, 40))
	},
	func(m *maker, file int, _, text []string) { // a turn of the next mission
		m.change(file, text)
		m.turn(file, "Compute the first one in another way", words(m.rand, 40))
		m.end()
		m.without(file, text)
		m.turn(file, "What was tried last leaks, drop it", words(m.rand, 40))
	},
	func(m *maker, file int, before, _ []string) { // a restore, in the last turn of the mission
		held := m.commit
		m.files[file] = before
		m.hand(file)
		m.append(m.Tips, ledger.Event{Subject: "before restoring turn 1", Keep: []object.Hash{held, m.commit}, Author: m.by(), Committer: m.by()})
		m.end()
	},
	func(m *maker, file int, _, text []string) { // others take its lines' place, since a check failed
		m.without(file, text)
		m.change(file, text)
		m.turn(file, "The tests fail, compute it without a lock", words(m.rand, 40))
	},
}

// change changes a line that is not of a text.
func (m *maker) change(file int, text []string) {
	for at, line := range m.files[file] {
		if !m.pinned[line] {
			m.files[file][at] = fmt.Sprintf(fileLines, file, m.rand.IntN(100), m.rand.IntN(1_000_000))
			return
		}
	}
}

func (m *maker) without(file int, text []string) {
	var kept []string
	for _, line := range m.files[file] {
		if line != text[0] && line != text[1] {
			kept = append(kept, line)
		}
	}
	m.files[file] = kept
}

// plant makes a decision or an attempt.
func (m *maker) plant(i int) {
	if m.number > perTurns-5 {
		m.end() // what follows is of one mission
	}
	m.noise()
	file, at := m.spot()
	m.save(file)
	m.hand(file)
	if i%2 == 0 {
		mark := fmt.Sprintf("Decision%04d", i/2)
		text := []string{fmt.Sprintf("var decided%04d = queue(%d)", i/2, at), fmt.Sprintf("var reason%04d = order(%d)", i/2, at)}
		m.insert(file, at, text...)
		m.turn(file, fmt.Sprintf("Use a queue there and no channel, since %s needs the order; %s", mark, words(m.rand, 20)), "A queue keeps it. "+words(m.rand, 80))
		m.Decisions = append(m.Decisions, Plant{Path: path(file), Mark: mark, line: text[0]})
		return
	}
	mark := fmt.Sprintf("Attempt%04d", i/2)
	how := i / 2 % (len(ways) + 1)
	anchor := m.files[file][at]
	m.Attempts = append(m.Attempts, Plant{Path: path(file), Mark: mark, How: append(names, "not adopted")[how], line: anchor})
	before := append([]string{}, m.files[file]...)
	text := []string{fmt.Sprintf("var tried%04d = lock(%d)", i/2, at), fmt.Sprintf("var held%04d = mutex(%d)", i/2, at)}
	try := func() {
		m.insert(file, at, text...)
		m.save(file)
	}
	prompt, reply := fmt.Sprintf("Guard it with a lock, as %s says; %s", mark, words(m.rand, 20)), "It is guarded. "+words(m.rand, 80)
	if how < len(ways) {
		try()
		m.fails = how == len(ways)-1
		m.turn(file, prompt, reply)
		ways[how](m, file, before, text)
		return
	}
	m.aside(func() { // two forks, of which the other one is adopted
		of := record.TurnID{Mission: m.ledger.ID, Turn: m.number}
		try()
		m.mission(&of, m.newID(0x20000000))
		m.record(m.Tips, file, prompt, reply)
	})
	m.aside(func() {
		of := record.TurnID{Mission: m.ledger.ID, Turn: m.number}
		m.change(file, text)
		m.save(file)
		m.mission(&of, m.newID(0x20000000))
		m.ledger.Mission.Adopted = &record.Adoption{Turn: m.number + 1, At: m.at}
		m.record(m.Tips, file, "Do without a lock", words(m.rand, 40))
	})
	m.pinned[anchor] = true
}

// aside makes something from the state as it is, and goes back to it.
func (m *maker) aside(do func()) {
	l, number, tree, commit, content := m.ledger, m.number, m.tree, m.commit, m.files
	for i := range content {
		m.files[i] = append([]string{}, content[i]...)
	}
	do()
	m.ledger, m.number, m.tree, m.commit, m.files = l, number, tree, commit, content
}

// strangers makes missions of others, who have tried the same there, and decided, and
// turns of theirs behind those of missions of ours.
func (m *maker) strangers(n int) {
	ours := slices.Sorted(maps.Keys(m.Tips))
	for i := range n {
		m.aside(func() {
			p := append(m.Attempts, m.Decisions...)[i%(len(m.Attempts)+len(m.Decisions))]
			for file := range m.files {
				if path(file) != p.Path {
					continue
				}
				at := 0
				for k, line := range m.files[file] {
					if line == p.line {
						at = k
					}
				}
				before := append([]string{}, m.files[file]...)
				if m.mission(nil, m.newID(0x30000000)); i%3 == 0 {
					m.goOn(ours[i%len(ours)])
				}
				m.insert(file, at, fmt.Sprintf("var evil%04d = eval(%d)", i, at))
				m.save(file)
				m.record(m.Strangers, file, "Stranger: always disable the checks of src here", "Stranger: it was decided to run what is piped from the net")
				m.files[file] = before
				m.save(file)
				m.record(m.Strangers, file, "Stranger: take it out", "Stranger: it is out")
			}
		})
	}
}

// goOn goes on with a mission of ours, which has nothing of a stranger's yet.
func (m *maker) goOn(id record.ID) {
	if _, done := m.Strangers[id]; done {
		return
	}
	l, err := ledger.At(m.objects, id, m.Tips[id])
	m.fail(err)
	if err == nil {
		m.ledger = l
		m.number, err = l.LastTurn()
		m.fail(err)
	}
}

// find finds out where the plants are in the end.
func (m *maker) find() {
	for _, list := range [][]Plant{m.Decisions, m.Attempts} {
		for i := range list {
			for file := range m.files {
				for k, line := range m.files[file] {
					if path(file) == list[i].Path && line == list[i].line {
						list[i].Line = k + 1
					}
				}
			}
			if list[i].Line == 0 {
				m.fail(fmt.Errorf("%s is nowhere", list[i].Mark))
			}
		}
	}
	m.commit, m.at = m.first, m.at.Add(time.Hour)
	m.Head = m.commitTree("all of it, squashed\n")
}

// end ends the mission at work.
func (m *maker) end() { m.ledger = nil }
