// Package purge takes a secret out of all that git-agent has recorded: what holds it is written anew
// without it, refs move together, and the objects that held it go ([gitagent/internal/objectpurge]).
//
//	rewrite.go     what takes the place of an object: the order of the work, and what came of it
//	code.go        commits that hold states
//	tree.go        their trees
//	events.go      the commits of ledgers
//	ledgertree.go  the trees of ledgers
//	commit.go      commits as they are stored
//	blob.go        texts
//	segment.go     conversations
//	record.go      records, also those in notes
//	json.go        the tokens of JSON, and edits of a text
//	notes.go       notes
//	read.go        objects, many at once
//	plan.go        where it was found, and everything that a purge will do
//	do.go          a plan carried out
//	hold.go        while nobody else records
//	journal.go     the work list, and each of its steps
//	complete.go    a purge that was killed is completed from there
//	lost.go        what commits of the user's need that nothing refers to
//	map.go         refs/agent/purges: which commits were replaced, for other clones
//	prove.go       a pair of the map proves itself: equal but for redacted spans
//	apply.go       a map from a remote, applied to what is here
//	pairing.go     which of its pairs are applied
package purge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/sshsig"
)

// A Target says what is purged: what Finder finds everywhere, the whole of turns, the files at paths in
// the states of all turns, the whole of missions. Parts that are empty purge nothing.
type Target struct {
	Finder   *scrub.Finder
	Turns    []record.TurnID
	Paths    git.Paths
	Missions []record.ID
}

// A Chain is the ledger of a mission.
type Chain struct {
	ID  record.ID
	Tip git.Hash
	// Usable is the newest event that may be relied on, zero for none: see [gitagent/internal/trust].
	// Events up to there are signed again, later ones (a stranger's) lose their signatures.
	Usable git.Hash
}

// A Rewrite computes what takes the place of objects. It stages what is new (the caller flushes it), and moves
// no ref. An object has one successor, so a fork shares its source's rewritten past.
//
// The order of calls is Ledgers, once and with all missions, then Notes.
type Rewrite struct {
	Repo    *git.Repo
	Objects *git.Objects
	Target  Target
	Key     *sshsig.Key // ledgers are signed with; nil writes them without a signature

	// Theirs are commits of the user's own that may be rewritten as well, since he said so. Others sit on
	// what they sat on.
	Theirs map[git.Hash]bool

	done     map[git.Hash]git.Hash // commits
	replaced map[git.Hash]git.Hash // objects of every kind
	found    map[Find]int

	staged int                      // bytes that were written and are not on the disk, about
	cache  map[git.Hash]*git.Object // that were read together
	looked map[git.Hash]bool        // objects that were read ahead, and need not be again

	// Of what is rewritten, so that nothing is twice:
	events  map[git.Hash]bool // of ledgers
	blobs   map[blobKey]rewritten
	trees   map[treeKey]pruned
	ledgers map[dirKey]git.Hash
	records map[recordKey]git.Hash
	began   map[git.Hash]record.ID // the id in a mission.json

	states  map[git.Hash]*codeState // commits that hold states, and may be rewritten
	ours    map[git.Hash]bool
	left    map[git.Hash][]string // what is left out of their successors
	paths   *paths
	prompts []string               // of turns that are purged
	usable  map[git.Hash]bool      // events that may be relied on
	naming  map[record.ID]git.Hash // the commits that missions are named by
	written map[git.Hash]git.Hash
}

// NewRewrite begins a rewrite. known are commits whose successors are known already, from a map.
func NewRewrite(repo *git.Repo, objects *git.Objects, t Target, key *sshsig.Key, known map[git.Hash]git.Hash) *Rewrite {
	r := &Rewrite{
		Repo: repo, Objects: objects, Target: t, Key: key,
		done: map[git.Hash]git.Hash{}, replaced: map[git.Hash]git.Hash{}, found: map[Find]int{},
		cache: map[git.Hash]*git.Object{}, looked: map[git.Hash]bool{},
		events: map[git.Hash]bool{}, blobs: map[blobKey]rewritten{}, trees: map[treeKey]pruned{},
		ledgers: map[dirKey]git.Hash{}, records: map[recordKey]git.Hash{}, began: map[git.Hash]record.ID{},
		states: map[git.Hash]*codeState{}, ours: map[git.Hash]bool{}, left: map[git.Hash][]string{},
		usable: map[git.Hash]bool{}, naming: map[record.ID]git.Hash{}, written: map[git.Hash]git.Hash{},
	}
	maps.Copy(r.done, known)
	maps.Copy(r.replaced, known)
	return r
}

// Ledgers computes the successors of the ledgers of all missions, and of the code commits that these keep or
// name; see [Rewrite.Successor]. The tips of purged missions have none, unless another ledger goes on from
// there.
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

// Successor is what takes the place of a commit: itself if nothing in it is purged, zero for nothing.
func (r *Rewrite) Successor(commit git.Hash) git.Hash {
	if to, ok := r.done[commit]; ok {
		return to
	}
	return commit
}

// Replaced are all objects that have another successor than themselves, of every kind; zero for one that
// has none. A tree or a blob among them may still be in use elsewhere, in a commit of the user's.
func (r *Rewrite) Replaced() map[git.Hash]git.Hash { return r.replaced }

// Ours are the code commits of ledgers: those that may be rewritten, whether or not they were.
func (r *Rewrite) Ours() map[git.Hash]bool { return r.ours }

// Renamed are the missions that are named by a commit which was replaced, with their new names: their refs
// are to be renamed.
func (r *Rewrite) Renamed() map[record.ID]record.ID {
	names := map[record.ID]record.ID{}
	for id := range r.naming {
		if to, ok := r.renamed(id); ok {
			names[id] = to
		}
	}
	return names
}

// Written are the new events of ledgers up to the usable ones, each with the event before it (zero for a
// first one). Where there is no key they are to be noted as this clone's: the run of them that ends in the
// successor of the usable one, see [gitagent/internal/trust.Trust.Own].
func (r *Rewrite) Written() map[git.Hash]git.Hash { return r.written }

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

// What became of something that was found.
type Fate string

const (
	Redacted Fate = "redacted"
	LeftOut  Fate = "left out" // a binary file, one whose name holds it, or a very large one
	// Kept is what can't go without making the record unreadable: it stands in an id, a number, a hash.
	Kept Fate = "kept"
	// Unread is what is not here, is damaged, or is larger than such a thing may be.
	Unread Fate = "unread"
)

// A Find is something that was found, or could not be read.
type Find struct {
	Place
	Fate Fate
}

// Found are all finds with the number of times; of Unread things it is the number of objects.
func (r *Rewrite) Found() map[Find]int { return r.found }

func (r *Rewrite) find(at Place, fate Fate, n int) { r.found[Find{at, fate}] += n }

// unread notes that something can't be read, and so stays as it is. It returns the error that ends the work.
func (r *Rewrite) unread(ctx context.Context, at Place, _ error) error {
	r.find(at, Unread, 1)
	return ctx.Err()
}
