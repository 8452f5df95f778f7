package main

import (
	"bytes"
	"fmt"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/trust"
	"gitagent/turns"
)

// The sizes of what missionLists lists.
const (
	listedMissions = 10_000
	listedForks    = 1_000 // of these
	chainedForks   = 3_000 // forks of forks
	chain          = 100   // one after the other
)

// missionLists measures the lists of many missions against those of an older build.
func missionLists(l *lab) {
	contestHeading()
	r := l.newRepository("many", sharedFiles)
	r.enable()
	r.populate(listedMissions-listedForks, listedMissions)
	r.forks(listedForks)
	r.git("repack", "-adq", "--window=0")
	for _, args := range [][]string{{"missions"}, {"missions", "--json"}, {"missions", "--tree"}, nil} {
		name := "git agent-turn"
		if len(args) > 0 {
			name = args[0] + " " + args[len(args)-1]
		}
		l.play(contest{
			name: fmt.Sprintf("%s, %d missions", name, listedMissions), target: "0.15 of CPU, 0.2 of memory",
			ours: func(b build) sample { return r.printing(b.program("git-agent-turn"), args...) },
			git:  func() sample { return r.printing("git", "for-each-ref", "--format=%(subject)", record.MissionRefs) },
		})
	}
	r = l.newRepository("chains", sharedFiles)
	r.enable()
	r.chains(chainedForks)
	r.git("repack", "-adq", "--window=0")
	l.play(contest{
		name: fmt.Sprintf("handoff list --all, %d forks of forks", chainedForks), target: "0.15",
		ours: func(b build) sample { return r.printing(b.program("git-agent-handoff"), "list", "--all") },
		git:  func() sample { return r.printing("git", "for-each-ref", "--format=%(subject)", record.MissionRefs) },
	})
}

// A forking makes forks of missions that are there.
type forking struct {
	*repository
	objects *git.Objects
	keys    *trust.Keys
	trusted *trust.Trust
	head    object.Hash
	refs    bytes.Buffer
}

func (r *repository) forking() *forking {
	repo := must(git.Find(r.dir))
	keys := trust.ReadKeys(r.keys(), "")
	return &forking{
		repository: r, objects: repo.Objects(r.ctx), keys: keys,
		trusted: trust.New(statedir.Of(repo.CommonDir), func() *trust.Keys { return keys }), head: object.NewHash(r.git("rev-parse", "HEAD")),
	}
}

func (f *forking) done() {
	check(f.objects.Flush())
	f.objects.Close()
	f.feed(f.dir, f.refs.Bytes(), "git", "update-ref", "--stdin")
	f.git("pack-refs", "--all")
}

// event adds one that this clone has written.
func (f *forking) event(l *ledger.Ledger, at time.Time, subject string, files map[string][]byte, keep object.Hash) *ledger.Ledger {
	by := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: at}
	tip := must(l.Append(ledger.Event{Subject: subject, Keep: []object.Hash{keep}, Author: by, Committer: by, Key: f.keys.Own, Files: files}))
	return must(ledger.At(f.objects, l.ID, tip))
}

// fork begins a mission at a turn of another one.
func (f *forking) fork(id record.ID, of *ledger.Ledger, turn int, at time.Time, code object.Hash) *ledger.Ledger {
	of.ID, of.Mission = id, &record.Mission{
		V: record.Version, ID: id, Title: fmt.Sprintf("fork number %s", id), Created: at.UTC().Truncate(time.Millisecond),
		Agent: "claude-code", Base: code.String(), ForkedFrom: &record.TurnID{Mission: of.ID, Turn: turn},
	}
	return f.event(of, at, "fork of "+of.Mission.ForkedFrom.String(), nil, code)
}

// moved notes whose a mission is, and where its ref leads.
func (f *forking) moved(l *ledger.Ledger) {
	check(f.trusted.Own(l.ID, l.Tip, object.Hash{}))
	fmt.Fprintf(&f.refs, "create %s %s\n", l.ID.Ref(), l.Tip)
}

// turn adds one that changed nothing.
func (f *forking) turn(l *ledger.Ledger, number int, at time.Time) *ledger.Ledger {
	t := turns.Turn{
		V: record.Version, Kind: record.KindTurn, Mission: l.ID, Turn: number, At: at.UTC().Truncate(time.Millisecond), Started: at.UTC().Truncate(time.Millisecond),
		Outcome: record.Done, Agent: "claude-code", Prompt: fmt.Sprintf("go on with %s", l.ID), Code: f.head, Base: f.head, Head: f.head, Branch: "main",
		Context: 123456, Output: 2048,
	}
	line := append(must(t.Encode()), '\n')
	return f.event(l, at, fmt.Sprintf("turn %d", number), map[string][]byte{ledger.TurnPath("turns", number, ".json"): line}, f.head)
}

// forks makes n forks of missions that are there, each with a turn of its own.
func (r *repository) forks(n int) {
	f := r.forking()
	for i := range n {
		of := missionID(i * 3)
		l := must(ledger.At(f.objects, of, object.NewHash(r.git("rev-parse", of.Ref()))))
		at := time.Now().AddDate(0, -1, 0).Add(time.Duration(i) * time.Minute)
		l = f.fork(missionID(1_000_000+i), l, turnsEach, at, f.head)
		f.moved(f.turn(l, turnsEach+1, at.Add(time.Second)))
	}
	f.done()
}

// chains makes forks of forks, with handoffs that most of them have inherited.
func (r *repository) chains(n int) {
	r.populate(n/chain, n)
	f := r.forking()
	for i := range n / chain {
		of := missionID(i)
		l := must(ledger.At(f.objects, of, object.NewHash(r.git("rev-parse", of.Ref()))))
		at := time.Now().AddDate(0, -1, 0).Add(time.Duration(i) * time.Minute)
		handoffs := 0
		for k := range chain {
			l = f.fork(missionID(1_000+i*chain+k), l, turnsEach, at.Add(time.Duration(k)*time.Second), f.head)
			if k%10 == 0 {
				handoffs++
				h := handoffstore.Handoff{
					V: record.Version, Kind: record.KindHandoff, Mission: l.ID, Number: handoffs, At: at.UTC().Truncate(time.Millisecond),
					ExitType: record.Clean, Agent: "claude-code", LastTurn: turnsEach, Head: f.head, LastPrompt: "what was asked last",
				}
				l = f.event(l, at, fmt.Sprintf("handoff %d", handoffs), map[string][]byte{ledger.HandoffPath(handoffs, "handoff.json"): append(must(h.Encode()), '\n')}, f.head)
			}
			f.moved(l)
		}
	}
	f.done()
}
