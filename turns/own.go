package turns

import (
	"cmp"

	"gitagent/hooks"
	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
)

// A Change is what a turn itself changed: all between two of its states or,
// where somebody else worked in the worktree too, its own share.
type Change struct {
	// From holds the turn's end without what the turn did, surely or not, Sure
	// the same without what it surely did, and To is the end. From and Sure are
	// the turn's start if nobody else worked.
	From, Sure, To object.Hash
	With           []string // the sessions that worked too; "" is nobody known

	Files, Insertions, Deletions int      // what was surely changed, as the record has it
	Paths                        []string // the first of these files
}

// Alone reports whether nobody else changed anything in the turn.
func (c *Change) Alone() bool { return len(c.With) == 0 }

// Unsure reports whether some of the change may be somebody else's.
func (c *Change) Unsure() bool { return c.From != c.Sure }

// Change returns what the turn changed itself.
func (t *Turn) Change() *Change {
	start := cmp.Or(t.Base, t.Code)
	c := &Change{
		From: start, Sure: start, To: t.Code,
		Files: t.Files, Insertions: t.Insertions, Deletions: t.Deletions, Paths: t.Paths,
	}
	if o := t.Own; o.Holds(t.Code) && !o.Others.IsZero() {
		c.From, c.Sure, c.With = o.Others, cmp.Or(o.Shared, o.Others), o.With
		c.Files, c.Insertions, c.Deletions, c.Paths = o.Files, o.Insertions, o.Deletions, o.Paths
		if len(c.With) == 0 {
			c.With = []string{""}
		}
	}
	return c
}

// Company names those who worked beside a turn, for people: by their missions
// here if local state knows them, else by their sessions.
func Company(w *workspace.Workspace, with []string) []string {
	var list []string
	for _, session := range with {
		switch {
		case session == "":
			list = append(list, "a person or a program")
		case !hooks.ValidID(session): // an untrusted record
		case w.Store.Load(session).Mission != "":
			list = append(list, "mission "+string(w.Store.Load(session).Mission))
		default:
			list = append(list, "session "+session)
		}
	}
	return list
}
