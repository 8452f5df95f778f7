// Package purgerewrite says what objects become when something is purged: a
// [Rewrite] makes the successors of ledgers, notes and states, and a [Prover]
// finds out whether an object is the successor of another one. It stages
// objects, and moves no ref.
//
//	rewrite.go     the order, the results; found.go what was found
//	code.go        commits that hold states; tree.go their trees
//	events.go      commits of ledgers; ledgertree.go their trees
//	commit.go      commits as they are stored
//	blob.go        texts
//	segment.go     conversations
//	record.go      records, also those in notes
//	edits.go       edits of a text
//	notes.go       notes
//	read.go        objects, many at once
//	prove.go       a pair is equal but for redacted spans; proverecord.go
//	lacks.go       what went of the one and not of the other
package purgerewrite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/sshsig"
)

// A Target says what is purged: texts that Finder finds, whole turns, files at
// paths in all states, whole missions. Empty parts purge nothing.
type Target struct {
	Finder   *scrub.Finder
	Turns    []record.TurnID
	Paths    gitdiff.Paths
	Missions []record.ID
}

// A Chain is the ledger of a mission.
type Chain struct {
	ID  record.ID
	Tip object.Hash
	// Usable is the newest event to rely on, or zero, see
	// [gitagent/internal/trust]. Events up to it are signed again; later,
	// untrusted ones lose their signatures.
	Usable object.Hash
}

// A Rewrite computes the successors of objects, one for each, so forks share a
// rewritten past. It stages new objects, which the caller flushes, and moves no
// ref. Call Ledgers once with all missions, then Notes.
type Rewrite struct {
	store
	Repo   *git.Repo
	Target Target
	Key    *sshsig.Key // signs ledgers; nil leaves them unsigned

	// Theirs are the user's own commits that may be rewritten too.
	Theirs map[object.Hash]bool

	// Given are successors of the files of ledgers that a map has given, zero for
	// none: what was recorded on top of what it replaces has them, too.
	Given map[object.Hash]object.Hash

	// Lacks are paths that go in states, besides what the target says.
	Lacks map[object.Hash][]string

	// AllNotes are the tips of notes that Notes may be called for, or none.
	AllNotes map[object.Hash]bool

	// Seen is what a search of all objects has told, with what nothing leads to
	// that was found is not read again; nil for no search. It may be given if
	// only texts and missions are purged, with no known successors.
	Seen *Seen

	// Filtered says that another program has rewritten all of it, with known
	// successors of commits, as `git filter-repo` does: states stay as they
	// are, the ledgers' events are signed again, and records get the sizes of
	// what is there. A program that has moved all files below a directory has
	// moved those of ledgers as well, and they are moved back.
	Filtered bool

	done     map[object.Hash]object.Hash // commits
	replaced map[object.Hash]object.Hash // objects of every kind
	found    map[Find]int

	inNotes *bool // whether anything is in AllNotes, once looked at

	memo
	names  map[string]bool            // of files: whether something is found in them
	events map[object.Hash]bool       // of ledgers, that were looked at
	states map[object.Hash]*codeState // commits that hold states, and may be rewritten
	ours   map[object.Hash]bool

	paths   *paths
	prompts []string                  // of turns that are purged
	usable  map[object.Hash]bool      // events that may be relied on
	naming  map[record.ID]object.Hash // the commits that missions are named by

	roots map[object.Hash]object.Hash // what events keep besides, see [Rewrite.dropped]

	gone, stay []*chain // ledgers that were read, if missions go
}

// A memo has what was rewritten, so that nothing is rewritten twice.
type memo struct {
	blobs   map[blobKey]rewritten
	trees   map[treeKey]pruned
	ledgers map[dirKey]object.Hash
	records map[recordKey]object.Hash
	began   map[object.Hash]record.ID // the id in a mission.json
}

// New begins a rewrite. known are successors that a map has given.
func New(repo *git.Repo, objects *git.Objects, t Target, key *sshsig.Key, known map[object.Hash]object.Hash) *Rewrite {
	r := &Rewrite{
		store: store{Objects: objects, cache: map[object.Hash]*git.Object{}, looked: map[object.Hash]bool{}},
		memo: memo{
			blobs: map[blobKey]rewritten{}, trees: map[treeKey]pruned{}, ledgers: map[dirKey]object.Hash{},
			records: map[recordKey]object.Hash{}, began: map[object.Hash]record.ID{},
		},
		Repo: repo, Target: t, Key: key,
		done: map[object.Hash]object.Hash{}, replaced: map[object.Hash]object.Hash{}, found: map[Find]int{},
		events: map[object.Hash]bool{}, states: map[object.Hash]*codeState{}, ours: map[object.Hash]bool{},
		usable: map[object.Hash]bool{}, naming: map[record.ID]object.Hash{},
		roots: map[object.Hash]object.Hash{}, names: map[string]bool{},
	}
	maps.Copy(r.done, known)
	maps.Copy(r.replaced, known)
	return r
}

// A Seen tells what a search of all objects has told: which have something that
// is found, or may have it, and which of these or of commits and trees lead to
// one.
type Seen struct {
	Holds func(object.Hash) bool
	Leads func(object.Hash) bool
}

// clean reports whether nothing is found in an object and what it leads to.
func (r *Rewrite) clean(hash object.Hash) bool { return r.Seen != nil && !r.Seen.Leads(hash) }

// stays reports whether a commit of that tree stays as it is, unless one of its
// parents or what its records name does not.
func (r *Rewrite) stays(hash, tree object.Hash) bool {
	return r.clean(tree) && !r.Seen.Holds(hash)
}

// Ledgers computes the successors of ledgers and of code commits they keep or
// name. Tips of purged missions have none, unless another ledger goes on there.
func (r *Rewrite) Ledgers(ctx context.Context, list []Chain) error {
	kept := map[object.Hash]bool{}
	all := map[record.ID]*chain{}
	for _, c := range list {
		read, err := r.readChain(ctx, c, kept)
		if err != nil {
			return fmt.Errorf("read mission %s: %w", c.ID, err)
		}
		if slices.Contains(r.Target.Missions, c.ID) {
			r.gone = append(r.gone, read)
			continue
		}
		if all[c.ID] = read; len(r.Target.Missions) > 0 {
			r.stay = append(r.stay, read)
		}
	}
	if err := r.findStates(ctx, kept); err != nil {
		return err
	}
	if !r.Filtered {
		if err := r.code(ctx); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if err := r.chains(ctx, all, all[id]); err != nil {
			return err
		}
	}
	for _, c := range r.gone {
		if !r.events[c.Tip] {
			r.done[c.Tip], r.replaced[c.Tip] = object.Hash{}, object.Hash{}
		}
	}
	return nil
}

// Gone returns the events of purged missions that no other one has.
func (r *Rewrite) Gone() (events []object.Hash) {
	for _, c := range r.gone {
		for _, hash := range c.events {
			if !r.events[hash] {
				events = append(events, hash)
			}
		}
	}
	return events
}

// GoesOn returns a mission that stays and has all of a purged one, which then
// can't go.
func (r *Rewrite) GoesOn() (gone, in record.ID) {
	for _, c := range r.gone {
		for _, other := range r.stay {
			if slices.Contains(other.events, c.Tip) {
				return c.ID, other.ID
			}
		}
	}
	return "", ""
}

// Successor returns what replaces a commit, itself if it stays, or zero.
func (r *Rewrite) Successor(commit object.Hash) object.Hash {
	if to, ok := r.done[commit]; ok {
		return to
	}
	return commit
}

// Replaced returns replaced objects with successors, or zero. The user's
// commits may still use a tree or blob among them.
func (r *Rewrite) Replaced() map[object.Hash]object.Hash { return r.replaced }

// Commits returns replaced commits with successors, or zero.
func (r *Rewrite) Commits() map[object.Hash]object.Hash { return r.done }

// Prompts returns the prompts of purged turns.
func (r *Rewrite) Prompts() []string { return r.prompts }

// Ours returns the code commits of ledgers, rewritten or not.
func (r *Rewrite) Ours() map[object.Hash]bool { return r.ours }

// Renamed returns new names of missions that replaced commits named.
func (r *Rewrite) Renamed() map[record.ID]record.ID {
	names := map[record.ID]record.ID{}
	for id := range r.naming {
		if to, ok := r.renamed(id); ok {
			names[id] = to
		}
	}
	return names
}
