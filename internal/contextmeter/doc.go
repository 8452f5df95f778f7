// Package contextmeter decides when an agent is told how full its context is.
//
// A context fills with every request, until the agent's client compacts the
// conversation and what was not written down is lost. So the agent gets two
// messages, in time. It decides; nothing is forced:
//
//	warning    how full the context is, and how to hand off
//	critical   write the handoff now, with the exact command
//
// If tokens can't be counted, one message comes after a number of tool calls.
// Each is given once in a cycle, which begins with the session and with each
// compaction and clear ([Memory.Rearm]), not if a context shrinks otherwise.
//
// Looking at a session's file has a cost, so only some events lead to a look
// ([Memory.Event]): every fifth, say, and all from 80 % of the warning on.
//
// The package reads and keeps no files; a [Memory] is what must be kept. It also
// has which repositories the session visits ([Memory.Visit]): the same hooks keep
// that, at the same events.
package contextmeter
