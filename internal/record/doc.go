// Package record is the schema of what a ledger holds: mission.json, the
// records of turns and of handoffs, ids and numbers, and beside each field what
// a purge may do with it. docs/format.md specifies it.
package record
