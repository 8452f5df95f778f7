// Package recall finds what the record has on a file: what was tried there and
// given up, and which turns are not. docs/decisions/91-recall.md has the rules:
//
//	fate.go     what became of a change: a function of values
//	past.go     the changes of all missions that the user may rely on
//	about.go    which missions are about this repository
//	tried.go    what was given up in a file, and where in it
//	hints.go    a file that says in which turns to look, for hooks
//	told.go     what a hook tells of a file
//	quote.go    what is told, cut to a number of tokens
//	tokens.go   how many tokens a text has, at most
//
// Untrusted missions are left out: they could plant any decision.
package recall
