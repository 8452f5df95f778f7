// Package monitor decides when an agent is told how full its context is.
//
// A context fills with every request that an agent makes, until its client compacts the conversation
// and everything that was not written down is lost. So the agent gets two messages, in time:
//
//	warning    how full the context is, and how to hand off
//	critical   write the handoff now, with the exact command
//
// The agent decides; nothing is forced. If tokens can't be counted, one message comes after a
// number of tool calls.
//
// # Cycles
//
// Each message is given once in a cycle. A cycle begins with the session, and again with each
// compaction and clear ([State.Rearm]), which remove the messages with the rest. A context that
// shrinks in another way does not begin a cycle.
//
// # Looks
//
// Looking at a session's file has a cost, so only some events lead to a look ([State.Event]): every
// fifth, say, and each one from 80 % of the warning limit on.
//
// The package reads no files and keeps none; a [State] is what must be kept.
package monitor
