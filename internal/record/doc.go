// Package record is the schema of what a ledger holds: mission.json, records of
// turns and handoffs, ids, numbers, and for each field what a purge may do with
// it. docs/format.md specifies it.
package record
