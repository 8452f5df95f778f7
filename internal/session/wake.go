package session

import "context"

// A Wake asks for the agent's context to be cleared, and for the wake message to be typed,
// as soon as the running turn has ended.
type Wake struct {
	Pane string `json:"pane"` // of tmux, as `git agent-handoff wake --tmux` takes it
}

// AskWake leaves a wake for the end of the session's turn.
func (s Store) AskWake(ctx context.Context, id string, w Wake) error {
	release, err := s.LockSession(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	st := s.Load(id)
	st.Wake = &w
	return s.Save(st)
}

// TakeWake returns what [Store.AskWake] left, once; nil if there is nothing.
func (s Store) TakeWake(ctx context.Context, id string) (*Wake, error) {
	if s.Load(id).Wake == nil { // without the lock, for every other turn
		return nil, nil
	}
	release, err := s.LockSession(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	st := s.Load(id)
	w := st.Wake
	st.Wake = nil
	return w, s.Save(st)
}
