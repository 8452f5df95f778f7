// Package session keeps the local state of agents' sessions: which mission a session records to, how
// much of its transcript has been taken, which turn is open.
//
// The state is in $GIT_COMMON_DIR/agent, is never pushed, and may be deleted at any time (except
// for the file that enables recording): what matters is rebuilt from the refs.
//
//	enabled               its existence enables recording in this repository
//	sessions/<id>.json    one session
//	sessions/<id>.monitor what its agent was told about its context
//	locks/<name>          files to lock, with what their holders are about to do
//	planting/<id>         the worktree that a start or fork is making; see package turns
//	log                   what hooks could not tell anybody else
//
// What the user was told is noted elsewhere; see [Store.Tell].
package session
