package main

import (
	"gitagent/internal/monitor"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// monitorState is what is remembered about a session.
func monitorState(store session.Store, id string) *monitor.State {
	st := new(monitor.State)
	if !store.LoadMonitor(id, st) || st.V != monitor.Version {
		st = &monitor.State{V: monitor.Version}
	}
	return st
}

// see notes what the session's file tells about its context.
func see(st *monitor.State, path string) error {
	u, err := transcript.LastUsage(path)
	if err != nil {
		return err
	}
	if u.Variant == "" && st.Variant == "" {
		if u.Variant, err = transcript.Variant(path); err != nil {
			return err
		}
	}
	st.Saw(u.Tokens, u.Model, u.Variant)
	return nil
}
