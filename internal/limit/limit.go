// Package limit holds how long a process waits for what may never come: another
// process, a host, a client, git. A main function sets the limits:
//
//	ctx := limit.With(context.Background(), limit.Default())
//
// A context without limits waits until it ends. Tests run so, lest a slow
// machine fails them. A test of a limit sets that one alone.
package limit

import (
	"context"
	"time"
)

// Limits are how long a process waits for each thing; zero is without end.
type Limits struct {
	Record        time.Duration // for an event of a session to be recorded, plus twice the wait for its transcript; as long to clear up before a prompt
	Lock          time.Duration // for another process of ours to release a lock
	Monitor       time.Duration // for the state of the context monitor: the agent waits, after each of its tool calls
	Step          time.Duration // after a tool call, for another process of ours that has the worktree
	Look          time.Duration // then, for a look at the whole worktree: clients end the hook after 10 s
	Index         time.Duration // for the user's index.lock; an older one will not go away soon
	FetchOfBranch time.Duration // at the start of a session, for its mission to be fetched
	Push          time.Duration // at the end of a session, for its turns to be pushed, unless agent.pushWait says otherwise
	End           time.Duration // in a plugin's hook at the end of a session, for the process that does its work
	Version       time.Duration // for a client to tell its version: some start an interpreter
	Blame         time.Duration // for git to blame the states of turns, plus ten times what plain blame takes
	Import        time.Duration // for a client to import a conversation: it starts within two seconds
	Browser       time.Duration // for what opens a file in a browser: it may be the browser, which stays
	Attempt       time.Duration // for one attempt of pushing in the background
	Git           time.Duration // for git to end when interrupted, and for its output to be closed when it has ended
}

// Default returns the limits of the programs. End is short: a client gives a
// hook 60 s but ends a plugin's at the end of a session after 1.5 s, despite
// its time-out. A process that the hook started lives on, except where all ends
// with the client, as in a container. So the hook waits; the work mostly takes
// a fifth of that.
func Default() Limits {
	return Limits{
		Record:        90 * time.Second,
		Lock:          30 * time.Second,
		Monitor:       2 * time.Second,
		Step:          100 * time.Millisecond,
		Look:          5 * time.Second,
		Index:         time.Second,
		FetchOfBranch: 3 * time.Second,
		Push:          3 * time.Second,
		End:           time.Second,
		Version:       10 * time.Second,
		Blame:         time.Minute,
		Import:        2 * time.Minute,
		Browser:       2 * time.Second,
		Attempt:       10 * time.Minute,
		Git:           5 * time.Second,
	}
}

type key struct{}

// With returns a context with these limits.
func With(ctx context.Context, l Limits) context.Context { return context.WithValue(ctx, key{}, l) }

// Of returns the limits of a context.
func Of(ctx context.Context) Limits {
	l, _ := ctx.Value(key{}).(Limits)
	return l
}

// Within returns a context that ends after d, or with ctx if d is zero.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
