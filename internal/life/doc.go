// Package life takes a session from its start to the handoff that it leaves to the next one.
//
//   - A session starts ([Start]): those that could not hand off themselves are found and handed off
//     for, and it is told what is to be continued.
//   - A prompt is given, a turn ends ([Take]): it is recorded.
//   - The conversation is about to be compacted ([Compact]): it is handed off, to be told again.
//   - Somebody hands off ([HandOff]): the agent, a person, or a supervisor whose agent is gone.
//   - The session ends ([Take]): what it did last is recorded, and handed off.
//
// However a session ends, one function, finish, completes it, under a lock that keeps other
// sessions from beginning or ending in the worktree.
package life
