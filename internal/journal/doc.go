// Package journal keeps what happened in a worktree while agents worked there:
// claims and states, in $GIT_DIR/agent/steps.
//
// A claim is a batch of tool calls: whose, from when to when, and which files
// it may have written. A state is the tree that the worktree was. An [Entry]
// has a claim, a state, or both. All sessions that work in a worktree share its
// journal, so it tells what one of them did while another's turn ran.
//
// # The file
//
// It has one JSON object a line, added with a single write, and at most 1 MiB:
// then its older half goes, and what is older than two weeks. The trees are in
// the object database, where nothing refers to them, so git may remove them.
// Nothing depends on the journal: without it, all is as if only turns were
// known. So lines that were torn, or that we would not write, are left out.
//
// It has paths, but neither commands nor texts.
package journal
