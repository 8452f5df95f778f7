package session

import "context"

// A Wake asks for the agent's context to be cleared, and for the wake message to be typed,
// as soon as the running turn has ended.
type Wake struct {
	Pane string `json:"pane"` // a tmux pane, as `git agent-handoff wake --tmux` takes it
}

// AskWake asks for a wake at the end of the session's turn.
func (s Store) AskWake(ctx context.Context, id string, w Wake) error {
	return s.Update(ctx, id, func(st *State) error { st.Wake = &w; return nil })
}

// TakeWake returns and removes the wake left by [Store.AskWake]; nil if there is none.
func (s Store) TakeWake(ctx context.Context, id string) (*Wake, error) {
	if s.Load(id).Wake == nil { // spares the lock in most turns
		return nil, nil
	}
	var w *Wake
	err := s.Update(ctx, id, func(st *State) error { w, st.Wake = st.Wake, nil; return nil })
	return w, err
}
