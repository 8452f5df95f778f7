// Package bisect finds the first bad one of the states of a mission between a good one and a bad one.
//
// [Halve] decides which state to try next, as a function of what is known of them. A [Worktree] is where
// they are tried: a linked one, detached, which no hook sees and which is exactly the state each time,
// whatever was left there by the last trial. It is removed in the end, or by [ClearDead] if the process
// that made it was killed. [Chain] makes commits of the states, for git's own bisect.
package bisect
