// Package finisher makes the user's commits of a mission's work: all of it as
// one commit or several, or a fork's own commits one by one.
//
// Git merges, asks and commits, as the user would do by hand. The ledger notes
// which commit a mission became.
package finisher
