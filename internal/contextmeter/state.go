package contextmeter

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"gitagent/internal/config"
)

// Version is the version of [Memory]. One of another version is dropped.
const Version = 1

// A Memory is what is kept of a session between events. The zero value, with
// its version, is a session about which nothing is known.
type Memory struct {
	V    int `json:"v"`
	Skip int `json:"skip,omitempty"` // events until the next look

	// In the present cycle.
	Calls int    `json:"calls,omitempty"` // tool calls
	Near  bool   `json:"near,omitempty"`  // the context was near to the warning limit
	Given Notice `json:"given,omitempty"` // the most urgent message so far

	// At the last look.
	Tokens  int64  `json:"tokens,omitempty"`
	Model   string `json:"model,omitempty"`
	Variant string `json:"variant,omitempty"` // the client's own name of the model
	Window  int64  `json:"window,omitempty"`  // of this model, by the client; 0 if it doesn't say
	Most    int64  `json:"most,omitempty"`    // tokens ever seen with this model
	Size    int64  `json:"size,omitempty"`    // of the session's file

	Heard []string `json:"heard,omitempty"` // digests of the last events
	Batch int64    `json:"batch,omitempty"` // ms: when the agent's last batch of tools had run

	Recalled []string `json:"recalled,omitempty"` // digests of files of which the session was told what is known

	Began  int64   `json:"began,omitempty"`  // ms: when the turn did, of a session without a home
	Visits []Visit `json:"visits,omitempty"` // repositories elsewhere in which the turn's tools act
}

// heard is how many events are kept: as many tools may run at once.
const heard = 8

// Hear notes an event and reports whether it is new: two hooks may report it.
func (s *Memory) Hear(digest string) bool {
	if digest == "" {
		return true
	}
	if slices.Contains(s.Heard, digest) {
		return false
	}
	s.Heard = append(s.Heard[max(0, len(s.Heard)-heard+1):], digest)
	return true
}

// A session is told of so many files, and of no more than a few at once; of the
// others when it comes to them again.
const (
	maxRecalled = 200
	atOnce      = 3
)

// Recall notes that the session is told of files, and returns those of which it
// was not told before.
func (s *Memory) Recall(paths []string) (fresh []string) {
	for _, path := range paths {
		digest := fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(path)))
		if len(s.Recalled) < maxRecalled && len(fresh) < atOnce && !slices.Contains(s.Recalled, digest) {
			s.Recalled, fresh = append(s.Recalled, digest), append(fresh, path)
		}
	}
	return fresh
}

// A Notice is a message to the agent.
type Notice int

// The messages. A greater one is more urgent and makes the others unnecessary.
const (
	None     Notice = iota
	Reminder        // tokens can't be counted, but there were many tool calls
	Warning         // hand off when it suits
	Critical        // hand off now
)

const near = 0.8 // part of the warning limit from which every event leads to a look

// Event counts an event with tool calls, and reports whether to look.
func (s *Memory) Event(calls int) bool {
	s.Calls += calls
	if s.Skip > 0 {
		s.Skip--
		return false
	}
	return true
}

// Saw notes how full the context was. An empty variant or window 0 was not
// found: the earlier one stays.
func (s *Memory) Saw(tokens int64, model, variant string, window int64) {
	if model != s.Model {
		s.Model, s.Most, s.Window = model, 0, 0
	}
	s.Variant, s.Window = cmp.Or(variant, s.Variant), cmp.Or(window, s.Window)
	s.Tokens, s.Most = tokens, max(s.Most, tokens)
}

// Judge returns the message after a look; the next is frequency events later.
func (s *Memory) Judge(l Limits, frequency int) Notice {
	warning, critical := int64(l.Warning), int64(l.Critical)
	s.Near = s.Near || float64(s.Tokens) >= near*float64(min(warning, critical))
	s.pause(frequency)
	found := None
	switch {
	case s.Tokens >= critical:
		found = Critical
	case s.Tokens >= warning:
		found = Warning
	}
	if found <= s.Given {
		return None
	}
	s.Given = found
	return found
}

// Blind returns the agent's message after a look without tokens: a reminder,
// once, from limit calls on. The next look is frequency events later.
func (s *Memory) Blind(limit, frequency int) Notice {
	s.pause(frequency)
	if s.Calls < limit || s.Given != None {
		return None
	}
	s.Given = Reminder
	return Reminder
}

func (s *Memory) pause(frequency int) {
	s.Skip = frequency - 1
	if s.Near {
		s.Skip = 0
	}
}

// Rearm begins a new cycle.
func (s *Memory) Rearm() {
	s.Skip, s.Calls, s.Near, s.Given = 0, 0, false, None
}

// Next returns the next message in this cycle and its number of tokens.
func (s *Memory) Next(l Limits) (Notice, int) {
	switch {
	case s.Given == Critical:
		return None, 0
	case s.Given == Warning || l.Critical <= l.Warning:
		return Critical, l.Critical
	}
	return Warning, l.Warning
}

// String returns the notice's name as shown and stored, "" for None.
func (n Notice) String() string {
	return map[Notice]string{Reminder: "reminder", Warning: "warning", Critical: "critical"}[n]
}

// Limits are when the messages come, in tokens.
type Limits struct {
	Window            int    // size of the context
	From              Source // of the window
	Warning, Critical int
}

// A Source is where a window's size is known from.
type Source string

const (
	Settings Source = "settings" // the configuration's table, or its default for an unlisted model
	Client   Source = "client"   // the client's file names it
	Chosen   Source = "chosen"   // the model's name ends in [1m]
	Learned  Source = "learned"  // the client compacted at that
	Observed Source = "observed" // the context was fuller than that
)

// Limits returns the limits for the session's model as last seen.
//
// The client knows best, if its file names the window. A window that was
// learned from compactions grows with what is seen, up to that of the table.
// Otherwise, if the context was fuller than table, client or user say, they do
// not know this model: then it has the window of an unlisted model, or at least
// what was seen.
func (s *Memory) Limits(c *config.Context) Limits {
	l := Limits{Window: c.Window(s.Model), From: Settings}
	if n := c.Learned[s.Model]; n > 0 && s.Most <= int64(max(n, l.Window)) {
		l.Window, l.From = max(n, int(s.Most)), Learned
	}
	if s.Window > 0 {
		l.Window, l.From = int(s.Window), Client
	}
	if base, chosen := strings.CutSuffix(s.Variant, "[1m]"); chosen && strings.HasPrefix(s.Model, base) {
		l.Window, l.From = 1_000_000, Chosen
	}
	if s.Most > int64(l.Window) {
		l.Window, l.From = max(config.DefaultWindow, int(s.Most)), Observed
	}
	l.Warning, l.Critical = c.Warning.Of(l.Window), c.Critical.Of(l.Window)
	return l
}

// Fits returns what the session's model can take, as a compaction that its
// client made by itself at that many tokens shows: whole thousands of them. It
// is 0 if client or user say better, or it is known already.
func (s *Memory) Fits(tokens int64, c *config.Context) int {
	const step = 1000
	fits := int(tokens) / step * step
	if l := s.Limits(c); s.Model == "" || l.From == Client || l.From == Chosen || l.From != Observed && fits == l.Window {
		return 0
	}
	return fits
}

// Percent returns the percentage of the window that the tokens take.
func (l Limits) Percent(tokens int64) int { return int(100 * tokens / int64(max(l.Window, 1))) }
