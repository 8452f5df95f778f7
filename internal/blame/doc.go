// Package blame finds the turn that wrote a line of a file, or that it was
// written by hand. It sees through what the user did since, such as a rebase,
// squash or rename.
//
// A turn's states are commits. The package inserts them among the ancestors of
// the commits that contain their work and runs `git blame` over that ancestry.
// Nothing is stored but what git has said. docs/decisions/46-blame.md has the rule:
//
//	history.go   the missions that may be relied on, their turns and states
//	events.go    what ledgers' commits say, and are made for
//	graph.go     the commits of a history, in one order
//	revisions.go the question to git which these are
//	chart.go     what git has said of commits, to answer for it
//	chartfile.go where that is kept for the next process
//	versions.go  what a file was in each of them
//	presence.go  which of these texts have a line, kept as where it comes and goes
//	lookup.go    what files were in all of them, asked of git together
//	sources.go   which states a commit took its lines from
//	blame.go     the question to git
//	plain.go     what git says by itself
//	answer.go    the answer: runs of lines, and their texts, read as they are needed
//	added.go     lines by turns that a commit brought
//
//	contributions.go  what turns contributed to commits: lines counted
//	steps.go          files that only turns changed
//	deletions.go      what lines do not tell: deletions, modes, binary files
//	prompts.go        what else was asked while the commits came about
//
// Untrusted missions are left out: they could claim any line.
package blame
