package git

import "context"

// Of returns the repository whose objects these are, and the context of the
// operation that opened them.
func (o *Objects) Of() (context.Context, *Repo) { return o.ctx, o.repo }
