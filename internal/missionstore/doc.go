// Package missionstore makes, continues, archives and removes missions: their
// ledgers, branches and worktrees.
//
// Before it makes something it notes what, in a file that is locked. If it
// dies, [ClearDead] finds the note and removes what was made.
package missionstore
