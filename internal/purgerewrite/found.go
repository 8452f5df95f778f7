package purgerewrite

import (
	"context"

	"gitagent/internal/record"
)

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
