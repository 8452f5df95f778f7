// Package monitor decides when an agent is told how full its context is.
//
// A context fills with every request that an agent makes, until its client compacts the conversation,
// and what was not written down is lost. So the agent gets two messages, in time:
//
//	warning    how full the context is, and how to hand off
//	critical   write the handoff now, with the exact command
//
// It decides itself; nothing is forced. Where tokens can't be counted, one message comes after a number of tool calls.
//
// # Cycles
//
// Each message is given once in a cycle. A cycle begins with the session, and again with each compaction and clear
// ([State.Rearm]): the messages were removed with the rest. That a context got smaller in some other way begins none.
//
// # Looks
//
// Looking at a session's file costs more than not looking, so not every event of a session is taken for it ([State.Event]):
// every fifth, say, and each one from 80 % of the warning limit on.
//
// The package decides; it reads no files and keeps none. A [State] is what has to be kept between two events.
package monitor
