// Package ledger keeps missions: their refs, and the chain of event commits, which is authoritative.
//
// A mission has up to three refs, and nothing else in the repository belongs to it:
//
//	refs/agent/missions/<id>      the ledger: one commit per event, first parent the event before
//	refs/notes/agent/<id>         git notes on the code commits, an index of the ledger
//	refs/heads/<prefix><id>       the branch of an attached mission
//
// The tree of a ledger commit holds everything known at that event: mission.json and the files that
// package turns and package handoffstore put there. The commit's further parents keep the code
// commits reachable. The format is specified in docs/format.md.
//
// This package stages objects and never moves a ref: all refs of an event move in
// one [gitagent/internal/git.RefTransaction], which the caller commits.
package ledger
