package recorder

import (
	"context"
	"time"

	"gitagent/hooks"
	"gitagent/internal/workspace"
)

// A Batch is what a client reports when tools have run.
type Batch struct {
	Session, PromptID string
	Agent             string    // the sub-agent's id; "" for the session's own calls
	Cwd               string    // the agent's directory
	Began             time.Time // when the model had asked for the calls; zero if unknown
	Calls             []hooks.Call
}

// Step adds to the worktree's journal what a batch of calls may have done, and
// the state that they left.
func Step(ctx context.Context, w *workspace.Workspace, b Batch) error {
	return ctx.Err()
}

// observe adds to the worktree's journal the state with which a turn begins,
// [journal.Prompt], or ends, [journal.Stop]. The recording must hold it.
func (r *recording) observe(event string) error {
	return nil
}
