// Package hook does what our hooks do: the payload of an event goes in, the
// answer comes out. How clients write payloads, answers and the settings that
// install hooks is in package hooks.
//
// A hook is a process that an agent's client starts at an event of a session.
// Two of our programs have one, [Turn] and [Handoff], and each event is handled
// by one of them:
//
//	SessionStart      Handoff  hands off for sessions that died (the sweep), then
//	                           tells this one what to continue
//	UserPromptSubmit  Turn     a turn begins, or the running one gets its prompt
//	PostToolBatch     Handoff  tells the agent how full its context is, if it is
//	PostToolUse                time; clients have one of the two events
//	Stop              Turn     records the turn, which is then pushed in the
//	StopFailure                background; it failed, or was interrupted, at the
//	Interrupt                  second and the third
//	PreCompact        Handoff  hands off, to tell it again after the compaction
//	SessionEnd        Turn     records what is left, hands off, and waits a moment
//	                           for the push
//
// Commands do some of it without a payload: [Record] and [HandOff]. However a
// session ends, one function, finish, completes it, under a lock that keeps other
// sessions from beginning or ending in the worktree.
//
// A hook never fails and never speaks to the model unless that is its purpose. An
// error goes to the log of the repository and, once in a session, to the user. In
// a repository in which nothing is to be recorded a hook costs a few system
// calls.
package hook
