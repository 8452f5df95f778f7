package provenance

import (
	"gitagent/internal/git"
	"gitagent/turns"
)

// A Request is a question about the lines of a file.
type Request struct {
	// Commit is the one whose file is meant; zero for the worktree as it is now.
	Commit git.Hash
	// Path is the file's, from the top of the worktree, as git has it.
	Path string
	// Ranges are those of git's -L; none for all lines.
	Ranges []string
	// Since leaves out the lines that came no later than this commit, unless it is zero.
	Since git.Hash
	// Options are git's: -w, -M, -C.
	Options []string
	// Running are the sessions that live now; the turns that they are in may have written what is not
	// committed.
	Running []turns.Live
}

// A Line is a line of a file, and where it comes from.
type Line struct {
	// Blame is the answer of plain `git blame`: the commit of the user's that the line landed in. Its
	// Commit is zero if the line is not committed.
	Blame git.Blamed
	// Turn is the one that wrote the line; nil if that was done by hand.
	Turn *turns.Turn
	// State is the commit in which the line is the turn's: its code commit, or one that the agent made. Path
	// is the file's name there, and Number the line's.
	State  git.Hash
	Path   string
	Number int
	// Others are turns that ran at the same time, and may have written the line as well.
	Others []*turns.Turn
	// Running is the turn that runs, if the line is not committed, nobody else is known to have written it, and
	// it was not there when the turn began; otherwise nil.
	Running *turns.Live
}
