package terminal

// A Refusal says why nothing, or nothing more, was typed into a pane.
type Refusal struct {
	Why     string
	Cleared bool // the context of the client there is cleared; only the prompt is missing
}

func (r *Refusal) Error() string { return r.Why }
