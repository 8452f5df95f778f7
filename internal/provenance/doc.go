// Package provenance says where the lines of a file come from: which turn wrote them, through whatever
// the user has done with them since, or that they were written by hand.
//
// A turn's states are commits, so git can answer by content. The package puts them among the ancestors
// of the commits that took up their work, and runs `git blame` over that ancestry; nothing is indexed
// and nothing is stored. The rule is in docs/decisions/46-blame.md:
//
//	history.go   the missions that may be relied on, their turns and states
//	graph.go     the commits of a history, in one order
//	versions.go  what a file was in each of them
//	tips.go      which states a commit took its lines from
//	blame.go     the question to git, and its answer
//	brought.go   the lines of turns' that a commit brought
//
//	contributions.go  what turns contributed to commits: lines counted
//	steps.go          files that turns alone have made of what was there
//	wholes.go         files that are as a turn left them: what lines do not tell
//	asked.go          what else was asked while the commits came about
//
// Missions of strangers are left out: what they claim to have written would be believed otherwise.
package provenance
