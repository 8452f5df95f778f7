// Bench measures what recording costs: the hooks, as the agent's client runs them, against what a
// person would otherwise put into the same place.
//
//	go run ./test/bench [-run <regexp>] [-n <repetitions>] [-before <directory>]
//
// It builds git-agent-turn, makes its repositories in a temporary directory, and prints a table.
// Nothing in it asserts a time. A wrong result does fail: a turn that was not recorded, a line in the
// hooks' log, a hook that prints something.
//
// # The baseline
//
// [baseline] is a line of shell that adds everything and commits it, if that changes anything. It
// moves HEAD and the index, and what the hook does depends on both. So the common rows use two equal
// copies of one repository, made from one stream with equal dates: in every round the same two files
// get the same new content in both, then the hook runs in the one and the baseline in the other, this
// one first in even rounds and that one in odd ones. The rows "in one repository" let both run in the
// same copy, each after a change of its own: then the hook finds the user's index replaced every time.
//
// # The figures
//
// Times are in milliseconds. A process is measured from the moment before it is started until it
// has ended and its output is closed, which is what the client waits for; the hook is run directly,
// the baseline by `sh -c`. A round's turn is already in the transcript when the Stop hook runs. The
// cpu columns are user and system time of the process and of the children that it waited for: on a
// busy machine they are steadier than the clock. What goes on in the background after a hook has
// ended is waited for, never measured with the next process, and shown on its own.
//
// Where a case can compare with an older version, -before names a directory with its three programs,
// built as `make build` does. Then each round runs this version, that one, and git doing the nearest
// thing, in another order each time, and the row has all three and the ratios to both. Memory is the
// most that the process and its children had at one moment.
//
// With -plot it draws how the cost of some contests grows, from 100 to 100,000 of what it grows with, as milliseconds of CPU
// of all processes, into an SVG: docs/growth.svg is one. A picture that is there already is gone on with, curve by curve.
//
// The ratio is the hook's median divided by the baseline's. The target is for that
// ratio, or for the hook's median where nothing is compared, unless it names another column; it is
// meant for an idle machine.
package main
