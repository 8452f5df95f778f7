// Package hook does what our hooks do: the payload of an event goes in, the
// answer comes out. Package hooks has the forms of payloads, answers and
// settings.
//
// A hook is a process that an agent's client starts at an event of a session.
// Two of our programs have one, [Turn] and [Handoff], and one of them handles
// each event:
//
//	SessionStart     Handoff  hands off for sessions that died (the sweep),
//	                          then tells this one what to continue, and who
//	                          else works in the worktree
//	UserPromptSubmit Turn     starts a turn, or gives the running one a prompt,
//	                          and tells who has come to work in the worktree
//	PreToolUse       Handoff  keeps the worktree's state before a command that
//	                          may destroy it
//	PostToolBatch    Handoff  tells the agent how full its context is, if due,
//	PostToolUse               and keeps the worktree's state (a step); clients
//	                          have one of the two events
//	SubagentStop     Handoff  keeps what the sub-agent's worktree holds
//	Stop             Turn     records the turn, which a background process
//	StopFailure               pushes: done, failed or interrupted
//	Interrupt
//	PreCompact       Handoff  hands off, to tell it again after the compaction
//	SessionEnd       Turn     records what is left, hands off, and waits a
//	                          moment for the push
//
// What tools do in other repositories than the session's is recorded there, too:
// which they are (visited.go), from a call (visit.go) to the turn's end (leave.go),
// of killed clients as well (dead.go); home.go has which one is the session's.
//
// A command hands off without a payload: [HandOff]. However a session ends, one
// function, finish, completes it, under a lock that keeps other sessions from
// beginning or ending in the worktree.
//
// A hook never fails, and never speaks to the model unless that is its purpose.
// An error goes to the repository's log and, once in a session, to the user.
// Without recording, a hook costs a few system calls.
package hook
