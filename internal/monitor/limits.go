package monitor

import (
	"strings"

	"gitagent/internal/config"
)

// Limits are when the messages come, in tokens.
type Limits struct {
	Window            int    // how much fits into the context
	From              Source // of the window
	Warning, Critical int
}

// A Source is where the size of a window is known from.
type Source string

// The sources.
const (
	Settings Source = "settings" // the configuration's table, or its default for an unlisted model
	Chosen   Source = "chosen"   // the model's name ends in [1m]
	Observed Source = "observed" // the context was fuller than that
)

// Limits returns the limits for the session's model as last seen.
//
// The window comes from the table, or from the user's choice of model. If the context was fuller
// than that, the table does not know this model: then it has the window of an unlisted model, or at
// least what was seen.
func (s *State) Limits(c *config.Context) Limits {
	l := Limits{Window: c.Window(s.Model), From: Settings}
	if base, chosen := strings.CutSuffix(s.Variant, "[1m]"); chosen && strings.HasPrefix(s.Model, base) {
		l.Window, l.From = 1_000_000, Chosen
	}
	if s.Most > int64(l.Window) {
		l.Window, l.From = max(config.DefaultWindow, int(s.Most)), Observed
	}
	l.Warning, l.Critical = c.Warning.Of(l.Window), c.Critical.Of(l.Window)
	return l
}

// Percent returns the percentage of the window that the tokens take.
func (l Limits) Percent(tokens int64) int { return int(100 * tokens / int64(max(l.Window, 1))) }
