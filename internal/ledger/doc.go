// Package ledger keeps missions: their refs, and the authoritative chain of
// event commits.
//
// Nothing but up to three refs belongs to a mission:
//
//	refs/agent/missions/<id>  the ledger: event commits, each on the one before
//	refs/notes/agent/<id>     notes on the code commits, an index of the ledger
//	refs/heads/<prefix><id>   the branch of an attached mission
//
// A ledger commit's tree holds all that is known then: mission.json and the
// files of packages turns and handoffstore. Its further parents keep code
// commits reachable. docs/format.md specifies the format. An [Archive] has
// missions without refs of their own.
//
// This package stages objects and never moves a ref: all refs of an event move
// in one [gitagent/internal/git.RefTransaction] of the caller.
package ledger
