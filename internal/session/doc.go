// Package session keeps the local state of agents' sessions: a session's
// mission, how much of its transcript is recorded, and its open turn.
//
// The state is in $GIT_COMMON_DIR/agent and is never pushed. All but enabled
// may be deleted at any time, as it is rebuilt from the refs.
//
//	enabled               its existence enables recording in this repository
//	sessions/<id>.json    one session
//	sessions/<id>.monitor what its agent was told about its context
//	sessions/<id>.worktrees in which others of the repository it works
//	locks/<name>          files to lock, with what their holders are about to do
//	planting/<id>         the worktree that a start or fork makes
//	log                   what hooks could not report otherwise
//
// See [Store.Tell] for the record of what the user was told.
package session
