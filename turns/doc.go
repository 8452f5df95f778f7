// Package turns records, finds and restores the turns of agents' missions.
//
// A turn is one exchange between a person and an agent: a prompt, the work that it led to, and the
// state the worktree ended in. A mission is a line of such turns; a session is one conversation of
// the agent's client, and records to one mission at a time.
//
// # What a turn leaves
//
//   - a code commit, whose tree is the worktree at the end of the turn. If nothing was changed, it
//     is HEAD or, in a passive mission, the commit that the turn started from;
//   - its record, a [Turn], in the mission's ledger and as a line of a git note on the code commit;
//   - a segment: the bytes that it added to the client's transcript, redacted.
//
// A passive mission records a session in a checkout whose branch is the user's own and changes
// nothing that the user sees. An attached one has a branch; every turn moves it.
//
// # How a turn is recorded
//
// A client's events arrive as [Signal] values from hooks, each in its own process: sometimes twice,
// sometimes two at once, and sometimes not at all, for there is no event when the user interrupts
// the agent. [Recorder.Record] is therefore idempotent, locks the session and the worktree, and
// records a turn still open when the next one begins as interrupted. All objects are written before
// any ref moves, and all refs of an event move in one transaction; the loser of a race reads the
// refs again and starts over.
//
// The format is docs/format.md.
package turns
