package turns

import "gitagent/internal/record"

// An Activity is what the sessions of a mission do.
type Activity string

const (
	IsRunning Activity = "running" // a turn of it runs
	IsWaiting Activity = "waiting" // an agent waits for a prompt
	IsEnded   Activity = "ended"   // no session of it lives
)

// ActivityOf returns the most active of what the sessions of a mission do.
func ActivityOf(id record.ID, live []Live) Activity {
	does := IsEnded
	for _, l := range live {
		switch {
		case l.Mission != id:
		case l.Open != nil:
			return IsRunning
		default:
			does = IsWaiting
		}
	}
	return does
}
