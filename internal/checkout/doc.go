// Package checkout brings the worktree to another state: to one of a turn, back
// to what it was before, or to what it is with a fork's work.
//
// What was there is saved in the mission's ledger first, so each step can be
// undone. If a file was changed since, the change stays, or the step is
// refused.
package checkout
