// Package purge takes a secret out of all that git-agent has recorded: what
// holds it is rewritten, refs move together, and the old objects are deleted
// ([gitagent/internal/objectpurge]).
//
//	rewrite.go      replacements of objects: the order, the results
//	code.go         commits that hold states; tree.go their trees
//	events.go       commits of ledgers; ledgertree.go their trees
//	commit.go       commits as they are stored
//	blob.go         texts
//	segment.go      conversations
//	record.go       records, also those in notes
//	json.go         the tokens of JSON, and edits of a text
//	notes.go        notes
//	read.go         objects, many at once
//	archived.go     archived missions
//	files.go        local state
//	plan.go         all that a purge will do; report.go what was found
//	execute.go      a plan carried out; lockall.go its locks
//	journal.go      the work list; complete.go ends a killed purge
//	unreachable.go  the user's commits that nothing refers to
//	map.go          refs/agent/purges: replacements, for other clones
//	prove.go        a pair is equal but for redacted spans; proverecord.go
//	apply.go        a map from a remote, applied here
//	matchmap.go     which of its pairs are applied; splice.go
package purge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
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
	Tip git.Hash
	// Usable is the newest event to rely on, or zero, see
	// [gitagent/internal/trust]. Events up to it are signed again; later,
	// untrusted ones lose their signatures.
	Usable git.Hash
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
	Theirs map[git.Hash]bool

	done     map[git.Hash]git.Hash // commits
	replaced map[git.Hash]git.Hash // objects of every kind
	found    map[Find]int

	memo
	events map[git.Hash]bool       // of ledgers, that were looked at
	states map[git.Hash]*codeState // commits that hold states, and may be rewritten
	ours   map[git.Hash]bool

	paths   *paths
	prompts []string               // of turns that are purged
	usable  map[git.Hash]bool      // events that may be relied on
	naming  map[record.ID]git.Hash // the commits that missions are named by
}

// A memo has what was rewritten, so that nothing is rewritten twice.
type memo struct {
	blobs   map[blobKey]rewritten
	trees   map[treeKey]pruned
	ledgers map[dirKey]git.Hash
	records map[recordKey]git.Hash
	began   map[git.Hash]record.ID // the id in a mission.json
}

// NewRewrite begins a rewrite. known are successors that a map has given.
func NewRewrite(repo *git.Repo, objects *git.Objects, t Target, key *sshsig.Key, known map[git.Hash]git.Hash) *Rewrite {
	r := &Rewrite{
		store: store{Objects: objects, cache: map[git.Hash]*git.Object{}, looked: map[git.Hash]bool{}},
		memo: memo{
			blobs: map[blobKey]rewritten{}, trees: map[treeKey]pruned{}, ledgers: map[dirKey]git.Hash{},
			records: map[recordKey]git.Hash{}, began: map[git.Hash]record.ID{},
		},
		Repo: repo, Target: t, Key: key,
		done: map[git.Hash]git.Hash{}, replaced: map[git.Hash]git.Hash{}, found: map[Find]int{},
		events: map[git.Hash]bool{}, states: map[git.Hash]*codeState{}, ours: map[git.Hash]bool{},
		usable: map[git.Hash]bool{}, naming: map[record.ID]git.Hash{},
	}
	maps.Copy(r.done, known)
	maps.Copy(r.replaced, known)
	return r
}

// Ledgers computes the successors of ledgers and of code commits they keep or
// name. Tips of purged missions have none, unless another ledger goes on there.
func (r *Rewrite) Ledgers(ctx context.Context, list []Chain) error {
	kept := map[git.Hash]bool{}
	all := map[record.ID]*chain{}
	var gone []git.Hash
	for _, c := range list {
		read, err := r.readChain(ctx, c, kept)
		if err != nil {
			return fmt.Errorf("read mission %s: %w", c.ID, err)
		}
		if slices.Contains(r.Target.Missions, c.ID) {
			gone = append(gone, c.Tip)
		} else {
			all[c.ID] = read
		}
	}
	if err := r.findStates(ctx, kept); err != nil {
		return err
	}
	if err := r.code(ctx); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if err := r.chains(ctx, all, all[id]); err != nil {
			return err
		}
	}
	for _, tip := range gone {
		if !r.events[tip] {
			r.done[tip], r.replaced[tip] = git.Hash{}, git.Hash{}
		}
	}
	return nil
}

// Successor returns what replaces a commit, itself if it stays, or zero.
func (r *Rewrite) Successor(commit git.Hash) git.Hash {
	if to, ok := r.done[commit]; ok {
		return to
	}
	return commit
}

// Replaced returns replaced objects with successors, or zero. The user's
// commits may still use a tree or blob among them.
func (r *Rewrite) Replaced() map[git.Hash]git.Hash { return r.replaced }

// Commits returns replaced commits with successors, or zero.
func (r *Rewrite) Commits() map[git.Hash]git.Hash { return r.done }

// Prompts returns the prompts of purged turns.
func (r *Rewrite) Prompts() []string { return r.prompts }

// Ours returns the code commits of ledgers, rewritten or not.
func (r *Rewrite) Ours() map[git.Hash]bool { return r.ours }

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

// A Kind is a kind of text.
type Kind string

// The kinds, in the words that a person reads.
const (
	Prompt       Kind = record.Prompt
	Reply        Kind = record.Reply
	Record       Kind = "record" // anything else in the record of a turn or a handoff
	Conversation Kind = "conversation"
	SubAgent     Kind = "sub-agent"
	Document     Kind = "handoff document"
	Handoff      Kind = "handoff"
	Patch        Kind = record.Patch
	Terminal     Kind = "terminal"
	Title        Kind = record.Title
	Mission      Kind = "mission" // anything else in mission.json
	Message      Kind = "commit message"
	Identity     Kind = "author"
	Code         Kind = "code"
	FileName     Kind = "file name"
	Note         Kind = "note"
	Other        Kind = "other file" // of a ledger
)

// A Place is where something was found.
type Place struct {
	Mission record.ID // that recorded it
	Turn    int       // 0 if it is not a turn's
	Handoff int       // 0 if it is not a handoff's
	Kind    Kind
	Path    string // of a file in a state; redacted
}

// A Fate is what became of something that was found.
type Fate string

const (
	Redacted Fate = "redacted"
	LeftOut  Fate = "left out" // a binary file, one whose name holds it, or a very large one
	// Kept is what stands in an id, a number or a hash, which a record needs.
	Kept Fate = "kept"
	// Unread is what is not here, damaged, or too large.
	Unread Fate = "unread"
)

// A Find is something that was found, or could not be read.
type Find struct {
	Place
	Fate Fate
}

// Found returns all finds with their counts, of Unread things in objects.
func (r *Rewrite) Found() map[Find]int { return r.found }

func (r *Rewrite) find(at Place, fate Fate, n int) { r.found[Find{at, fate}] += n }

// unread notes something unreadable, which stays. Only ctx's error ends the
// work.
func (r *Rewrite) unread(ctx context.Context, at Place, _ error) error {
	r.find(at, Unread, 1)
	return ctx.Err()
}
