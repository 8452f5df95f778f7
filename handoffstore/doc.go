// Package handoffstore keeps what one session of an agent leaves to the next.
//
// A handoff is a record, a [Handoff], with files: the agent's document, a
// snapshot of its terminal, a patch of uncommitted changes. It is an event of
// the mission's ledger and a line in a note. Handoffs are numbered from 1 in
// each mission and never change. See docs/format.md.
//
// # How handoffs come about
//
//   - The agent or a person writes one: [Store.Gather] with a document or
//     summary.
//   - A session ends: its SessionEnd hook gathers one.
//   - A session is gone without that: the next one that starts in the worktree
//     finds it ([Store.Abandoned]) and gathers one for a crash or a kill.
//
// A gathered handoff takes over what the same session wrote before.
//
// # How they are told
//
// [Store.Next] decides what a new session is told: a handoff in full, one line,
// or nothing. [Prime] renders it in a bounded size. Untrusted text is told only
// after a person has accepted it.
package handoffstore
