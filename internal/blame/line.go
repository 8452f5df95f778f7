package blame

import (
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/turns"
)

// A Request is a question about the lines of a file.
type Request struct {
	// Commit is the one whose file is meant; zero for the worktree as it is
	// now.
	Commit object.Hash
	// Path is the file's, from the top of the worktree, as git has it.
	Path string
	// Ranges are those of git's -L; none for all lines.
	Ranges []string
	// Since leaves out the lines that came no later than this commit, unless it
	// is zero.
	Since object.Hash
	// Options are git's: -w, -M, -C.
	Options []string
	// Running are the sessions that live now; the turns that they are in may
	// have written what is not committed.
	Running []turns.Live
}

// A Line is a line of a file, and its origin; or several in a row which have
// their origins in a row, then without the text.
type Line struct {
	// Blame is the answer of plain `git blame`: the commit of the user's that
	// the line landed in. Its Commit is zero if the line is not committed.
	Blame gitdiff.Blamed
	Text  string // as stored, without the line feed
	// Turn is the one that wrote the line; nil if that was done by hand.
	Turn *turns.Turn
	// State is the commit in which the line is the turn's: its code commit, or
	// one that the agent made. Path is the file's name there, and Number the
	// line's.
	State  object.Hash
	Path   string
	Number int
	Others []*turns.Turn // turns at the same time that may have written the line
	// Unsure is set if Others or, beside the turn, somebody who is not known may
	// have written the line.
	Unsure bool
	// Running is the running turn that may have written a line that is not
	// committed, new since it began, and of no other known turn; else nil.
	Running *turns.Live
}

// part returns some of the lines, as [gitdiff.Blamed.Part] does.
func (l Line) part(from, end int) Line {
	if l.Turn != nil {
		l.Number += from - l.Blame.Number
	}
	l.Blame = l.Blame.Part(from, end)
	return l
}
