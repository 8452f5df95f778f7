package turns

import "gitagent/internal/record"

// An Activity is what the sessions of a mission do.
type Activity string

// What they do.
const (
	IsRunning Activity = "running" // a turn of it runs
	IsWaiting Activity = "waiting" // an agent waits for a prompt
	IsEnded   Activity = "ended"   // no session of it lives
)

// ActivityOf says what the sessions of a mission do, of which one that runs a turn counts most.
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
