// Package handoffstore keeps what one session of an agent leaves to the next.
//
// A handoff is a record, a [Handoff], with its files: the document that the agent wrote, a snapshot
// of its terminal, a patch of the uncommitted changes. It is an event of the mission's ledger and a
// line in the note on the last turn's code commit, so it travels with the repository.
//
// # How handoffs come about
//
//   - The agent, or a person, writes one: [Store.Gather] with a document or a summary.
//   - A session ends: its SessionEnd hook gathers one that is [Clean].
//   - A session is gone without that. Nothing runs that would notice, so the next session that
//     starts in the worktree finds it ([Store.Abandoned]) and gathers one that is [Crash] or [Killed].
//
// Handoffs are numbered from 1 in each mission and never change. A gathered one takes over what the
// same session wrote before, so that nothing is replaced by something that says less.
//
// # How they are told
//
// [Store.Next] decides what a new session is told: a handoff in full, one line, or nothing. [Prime]
// renders it in a bounded size, the essential first. Text by another committer is not told before a
// person has looked at it and accepted it.
//
// The format is docs/format.md.
package handoffstore
