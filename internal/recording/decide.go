// Package recording decides whether turns are recorded in a repository. In the
// order in which they count, these say so:
//
//  1. agent.record = false in the repository's own configuration: off.
//  2. git agent-turn init in the repository, or agent.record = true in its own
//     configuration, if it is the user's repository: on.
//  3. agent.record = false in the rest of git's configuration: off.
//  4. Where the user has asked for all repositories, by everywhere in the [record]
//     table of the configuration file or by agent.record = true: off in what is no
//     repository of the user's to record (somebody else's, a temporary one, bare,
//     the home directory), off if the exceptions can't be read, off where one
//     matches, and on elsewhere.
//  5. Nothing: off.
package recording

import "gitagent/internal/git"

// A Reason is why recording is on or off.
type Reason int

const (
	Nothing    Reason = iota // nobody has asked for it
	Init                     // git agent-turn init was run in the repository
	Record                   // agent.record says so: Verdict.Line
	Everywhere               // the user's file says so
	Never                    // it is never everywhere here: Verdict.Text
	Unread                   // the exceptions can't be read: Verdict.Text
	Except                   // an exception matches: Verdict.Text
)

// Facts are what decides.
type Facts struct {
	Init       bool             // see [Init]
	Record     []git.ConfigLine // of agent.record, in git's order
	Everywhere bool             // in the user's file
	Never      string           // why the repository is none that is recorded as one of all, or ""
	Foreign    bool             // it belongs to somebody else
	Unread     error            // of the exceptions
	Except     string           // that matches, or ""
}

// A Verdict is whether turns are recorded, and why.
type Verdict struct {
	On     bool
	Reason Reason
	Line   git.ConfigLine // of [Record]
	Text   string
}

// Withholds reports whether somebody has said that nothing is to be recorded: then
// it must not be later, either.
func (v Verdict) Withholds() bool {
	return !v.On && (v.Reason == Record || v.Reason == Unread || v.Reason == Except)
}

// Decide decides.
func Decide(f Facts) Verdict {
	var here, user *git.ConfigLine // the last one counts
	for i, l := range f.Record {
		if l.Scope == "local" || l.Scope == "worktree" {
			here = &f.Record[i]
		} else {
			user = &f.Record[i]
		}
	}
	switch {
	case here != nil && !isTrue(here):
		return Verdict{Reason: Record, Line: *here}
	case f.Init:
		return Verdict{On: true, Reason: Init}
	case here != nil && !f.Foreign:
		return Verdict{On: true, Reason: Record, Line: *here}
	case user != nil && !isTrue(user):
		return Verdict{Reason: Record, Line: *user}
	case here == nil && user == nil && !f.Everywhere && f.Unread == nil:
		return Verdict{}
	case f.Never != "":
		return Verdict{Reason: Never, Text: f.Never}
	case f.Unread != nil:
		return Verdict{Reason: Unread, Text: f.Unread.Error()}
	case f.Except != "":
		return Verdict{Reason: Except, Text: f.Except}
	case f.Everywhere:
		return Verdict{On: true, Reason: Everywhere}
	case user != nil:
		return Verdict{On: true, Reason: Record, Line: *user}
	}
	return Verdict{} // a stranger's word alone
}

// isTrue reports whether git takes a value for true. What is no boolean is not.
func isTrue(l *git.ConfigLine) bool {
	return git.ConfigOf([]git.ConfigLine{*l}).Bool(l.Key)
}
