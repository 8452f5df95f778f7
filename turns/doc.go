// Package turns finds and reads the turns of agents' missions.
//
// A turn is one exchange between a person and an agent: a prompt, the work that
// it led to, and the state the worktree ended in. A mission is a line of such
// turns; a session is one conversation of an agent's client, and records to one
// mission at a time.
//
// # What a turn leaves
//
//   - a code commit with the worktree at the end of the turn as its tree; if
//     nothing changed, HEAD or, in a passive mission, the commit it started
//     from;
//   - its record, a [Turn], in the mission's ledger and in a git note on that
//     commit;
//   - a segment: the bytes that it added to the client's transcript, redacted.
//
// A passive mission records a session on the user's own branch and changes
// nothing that the user sees. An attached one has a branch; every turn moves
// it.
//
// This package reads: it finds the turn that a name means, and lists, compares
// and searches turns and conversations. It writes nothing to the repository.
// The format is docs/format.md.
package turns
