package turns

import (
	"errors"
	"fmt"
)

// The evidence of an imported turn's code, see [record.Turn.Imported].
const (
	ByReflog     = "reflog"     // of the worktree's HEAD
	ByTranscript = "transcript" // a commit was made in the turn, and the transcript has its name
	ByNothing    = "head"       // none: it is HEAD at the import
)

// ErrCodeUnknown reports an imported turn with no evidence of its code.
var ErrCodeUnknown = errors.New("where the code was then is not known: the turn was imported")

// CodeKnown returns nil if Code and Base are the turn's code, else an error
// wrapping [ErrCodeUnknown].
func (t *Turn) CodeKnown() error {
	switch t.Imported {
	case "", ByReflog, ByTranscript:
		return nil
	}
	return fmt.Errorf("turn %s: %w", t.After(), ErrCodeUnknown)
}

// Proof describes the evidence of an imported turn's code; else it is empty.
func (t *Turn) Proof() string {
	switch t.Imported {
	case "":
		return ""
	case ByReflog:
		return "the commit is HEAD's then, as its reflog tells; what else the worktree held is not known"
	case ByTranscript:
		return "the commit was made in the turn, as the conversation tells; what else the worktree held is not known"
	}
	return "where the code was is not known; the commit is HEAD's at the import"
}
