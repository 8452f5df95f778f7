// Package gitdiff compares trees and commits: which paths differ, by how many
// lines, in which lines, what a merge of them is, and who wrote a line.
//
// Git compares, except where a tree may be untrusted or a process would cost
// too much: then [Differences] and [Stat] read the trees themselves.
package gitdiff
