// Package power says who may do what to whose record. It is the one place that
// decides: [Of] is the table that SECURITY.md prints, and [Commands] says what
// each command does. It is a function of values; who runs a command, and on
// what, finds out [gitagent/internal/command].
package power

import "sync"

// An Actor does something to the record.
type Actor string

// Actors. A program can't tell what an agent runs because its user was asked
// from what it runs unasked: an agent may do the same in both cases, and the
// plugin asks for less.
const (
	Person    Actor = "a person on a terminal"
	Script    Actor = "a script of a person"
	Hook      Actor = "a hook"
	Agent     Actor = "an agent"
	Plugin    Actor = "an agent, by the plugin unasked"
	Colleague Actor = "a trusted key from elsewhere"
	Stranger  Actor = "an untrusted key"
	Host      Actor = "a host"
)

// Actors in the order of the table.
var Actors = []Actor{Person, Script, Hook, Agent, Plugin, Colleague, Stranger, Host}

// A Deed is what is done.
type Deed string

// Deeds.
const (
	Read      Deed = "read"       // what was recorded
	Tell      Deed = "tell"       // a session something, or type into its terminal
	Record    Deed = "record"     // a turn, a handoff, a conversation
	Restore   Deed = "restore"    // change worktrees and branches by the record
	Push      Deed = "push"       // send to a remote
	Purge     Deed = "purge"      // or remove: what was recorded goes
	Trust     Deed = "trust"      // say whose record may be used
	Review    Deed = "review"     // say that a person has looked at it
	Configure Deed = "configure"  // begin to record, to send; mend
	SwitchOff Deed = "switch off" // end recording
)

// Deeds in the order of the table.
var Deeds = []Deed{Read, Tell, Record, Restore, Push, Purge, Trust, Review, Configure, SwitchOff}

// Whose is to whom it is done.
type Whose string

// To whom something is done.
const (
	Session   Whose = "its own session's"    // its mission, pane and standard input
	Clone     Whose = "this clone's"         // everything else of the repository
	Elsewhere Whose = "another repository's" // or terminals and files that are no part of the repository
	Everybody Whose = "everybody's"          // at a host, in other clones, in the user's settings
)

// All of whose, in the order of the table.
var All = []Whose{Session, Clone, Elsewhere, Everybody}

// A Grant says whether something may be done.
type Grant byte

// Grants.
const (
	No      Grant = '-'
	Yes     Grant = 'y'
	Asked   Grant = 'a' // if a person says yes to a question on a terminal
	Bounded Grant = 'b' // within bounds, which the row's note in SECURITY.md says
	Unknown Grant = '.' // it can't come up
)

// table has a grant for each of [All].
var table = sync.OnceValue(func() map[Actor]map[Deed]string {
	return map[Actor]map[Deed]string{
		Person: {
			Read: "yyyy", Tell: "yyy.", Record: "yyy.", Restore: ".yy.", Push: "..bb",
			Purge: ".aaa", Trust: ".aaa", Review: ".yy.", Configure: ".yyy", SwitchOff: ".yy.",
		},
		Script: {
			Read: "yyyy", Tell: "yyy.", Record: "yyy.", Restore: ".yy.", Push: "..bb",
			Purge: ".bbb", Trust: ".---", Review: ".--.", Configure: ".yyy", SwitchOff: ".yy.",
		},
		Hook: {
			Read: "yy-b", Tell: "yb-.", Record: "yb-.", Restore: ".--.", Push: "..-b",
			Purge: ".b--", Trust: ".---", Review: ".--.", Configure: ".---", SwitchOff: ".--.",
		},
		Agent: {
			Read: "yy-b", Tell: "y--.", Record: "y--.", Restore: ".y-.", Push: "..-b",
			Purge: ".---", Trust: ".---", Review: ".--.", Configure: ".---", SwitchOff: ".--.",
		},
		Plugin: {
			Read: "yy--", Tell: "y--.", Record: "y--.", Restore: ".--.", Push: "..--",
			Purge: ".---", Trust: ".---", Review: ".--.", Configure: ".---", SwitchOff: ".--.",
		},
		Colleague: {
			Read: "...b", Tell: ".b-.", Record: ".--b", Restore: ".--.", Push: "..--",
			Purge: ".b-b", Trust: ".---", Review: ".b-.", Configure: ".---", SwitchOff: ".--.",
		},
		Stranger: {
			Read: "...b", Tell: ".--.", Record: ".--b", Restore: ".--.", Push: "..--",
			Purge: ".---", Trust: ".---", Review: ".--.", Configure: ".---", SwitchOff: ".--.",
		},
		Host: {
			Read: "...b", Tell: ".--.", Record: ".---", Restore: ".--.", Push: "..--",
			Purge: ".---", Trust: ".---", Review: ".--.", Configure: ".---", SwitchOff: ".--.",
		},
	}
})

// Of returns what the table says.
func Of(a Actor, d Deed, w Whose) Grant {
	for i, is := range All {
		if is == w && i < len(table()[a][d]) {
			return Grant(table()[a][d][i])
		}
	}
	return No
}

// A Use is what a command does, to whom.
type Use struct {
	Deed  Deed
	Whose Whose
}

// Refused returns the first of some uses that an actor may not do. ok is false
// if they may do all; some of it only within bounds, or after a question.
func Refused(a Actor, uses []Use) (u Use, ok bool) {
	for _, u := range uses {
		if g := Of(a, u.Deed, u.Whose); g == No || g == Unknown {
			return u, true
		}
	}
	return Use{}, false
}
