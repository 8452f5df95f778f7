package terminal

// A Refusal says why nothing (more) was typed into a pane.
type Refusal struct {
	Why     string
	Cleared bool // the client's context is cleared and lacks its prompt
}

func (r *Refusal) Error() string { return r.Why }
