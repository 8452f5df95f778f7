// Package limit says how long a process waits for what may never come: another process, a host, a client, git.
//
// The limits of a process are one value. A main function puts it into the context that everything else gets, where a
// deadline is, too:
//
//	ctx := limit.With(context.Background(), limit.Default())
//
// A context without it limits nothing: what waits goes on until the context ends. That is how tests run, so that none
// fails because the machine is slow. A test of a limit sets that one alone.
package limit

import (
	"context"
	"time"
)

// Limits say how long a process waits for each thing. Zero is without end.
type Limits struct {
	Record  time.Duration // for one event of a session to be recorded, besides twice the wait for its transcript
	Lock    time.Duration // for another process of ours to give up a lock
	Monitor time.Duration // for the state of the context monitor: the agent waits, after each of its tool calls
	Index   time.Duration // for the user's index.lock; an older one will not go away soon
	Adopt   time.Duration // at the start of a session, for its mission to be fetched
	Push    time.Duration // at the end of a session, for its turns to be pushed, unless agent.pushWait says otherwise
	End     time.Duration // in a plugin's hook at the end of a session, for the process that does its work
	Version time.Duration // for a client to tell its version: some start an interpreter
	Blame   time.Duration // for git to blame the states of turns, besides ten times what plain blame takes
	Import  time.Duration // for a client to import a conversation: it starts within two seconds
	Browser time.Duration // for what opens a file in a browser: it may be the browser, which stays
	Attempt time.Duration // for one attempt of pushing in the background
	Git     time.Duration // for git to end when it is interrupted, and for its output to be closed when it has ended
}

// Default returns the limits of the programs.
//
// A client gives a hook 60 s, and ends the hook of a plugin at the end of a session after 1.5 s, whatever its time-out
// says. What the hook has started in a session of its own lives on, but not where all ends with the client, as in a
// container: hence it waits at all, a second, of which the work mostly takes a fifth.
func Default() Limits {
	return Limits{
		Record:  90 * time.Second,
		Lock:    30 * time.Second,
		Monitor: 2 * time.Second,
		Index:   time.Second,
		Adopt:   3 * time.Second,
		Push:    3 * time.Second,
		End:     time.Second,
		Version: 10 * time.Second,
		Blame:   time.Minute,
		Import:  2 * time.Minute,
		Browser: 2 * time.Second,
		Attempt: 10 * time.Minute,
		Git:     5 * time.Second,
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

// Within returns a context that ends after d, or like ctx if that is zero.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
