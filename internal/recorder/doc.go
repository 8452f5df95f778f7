// Package recorder makes turns of what agents' clients report.
//
// A client's events arrive as [Signal] values from hooks, each in its own
// process: sometimes twice, or two at once, or not at all, as for an interrupt.
// So [Record] is idempotent, locks the session and the worktree, and records a
// turn still open when the next begins as interrupted. All objects are written
// before any ref moves, and an event's refs move in one transaction; the loser
// of a race reads the refs again and starts over.
//
// [Import] records the conversations that clients have on disk from before.
package recorder
