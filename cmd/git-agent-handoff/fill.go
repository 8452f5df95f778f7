package main

import (
	"fmt"
	"io"
	"strings"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/contextmeter"
	"gitagent/internal/hook"
	"gitagent/internal/transcript"
)

// A fill is how full a session's context is, and which messages are due.
type fill struct {
	Session     string              `json:"session"`
	Model       string              `json:"model"`
	Tokens      int64               `json:"tokens"`
	Window      int                 `json:"window"`
	WindowFrom  contextmeter.Source `json:"window_from"`
	Percent     int                 `json:"percent"`
	Warning     int                 `json:"warning"`
	Critical    int                 `json:"critical"`
	Given       string              `json:"given,omitempty"`   // the last message of this cycle
	Next        string              `json:"next,omitempty"`    // the next message
	NextAt      int                 `json:"next_at,omitempty"` // tokens at which it is due
	Compactions int                 `json:"compactions"`
	CompactedAt int64               `json:"compacted_at,omitempty"` // tokens before the last compaction
}

// newFill reads a session's file. st is the session's monitor state.
func newFill(a *agent.Agent, id, path string, st *contextmeter.Memory, settings *config.Context) (*fill, error) {
	if err := hook.See(a, st, path); err != nil {
		return nil, err
	}
	compactions, err := transcript.Compactions(a.Reader, path, 0)
	if err != nil {
		return nil, err
	}
	l := st.Limits(settings)
	f := &fill{
		Session: id, Model: st.Model, Tokens: st.Tokens, Window: l.Window, WindowFrom: l.From, Percent: l.Percent(st.Tokens),
		Warning: l.Warning, Critical: l.Critical, Given: st.Given.String(), Compactions: len(compactions),
	}
	if n := len(compactions); n > 0 {
		f.CompactedAt = compactions[n-1].Tokens
	}
	if settings.Enabled {
		next, at := st.Next(l)
		f.Next, f.NextAt = next.String(), at
	}
	return f, nil
}

func (f *fill) print(w io.Writer) error {
	table := cmdline.NewTable(cmdline.Column{Style: cmdline.Dim}, cmdline.Column{})
	table.Row("session", f.Session)
	table.Row("model", f.Model)
	table.Row("context", fmt.Sprintf("%s of %s tokens, %d%%", contextmeter.Comma(f.Tokens), comma(f.Window), f.Percent))
	if columns := cmdline.Columns(w); columns > 0 {
		table.Row("", f.bar(min(columns-len("compactions  "), 60)))
	}
	table.Row("warning", fmt.Sprintf("%s tokens%s", comma(f.Warning), f.when("warning")))
	table.Row("critical", fmt.Sprintf("%s tokens%s", comma(f.Critical), f.when("critical")))
	compacted := fmt.Sprint(f.Compactions)
	if f.Compactions > 0 {
		compacted += fmt.Sprintf(", the last one at %s tokens", contextmeter.Comma(f.CompactedAt))
	}
	table.Row("compactions", compacted)
	return table.Print(w)
}

// when says that a message was given, or when it comes.
func (f *fill) when(message string) string {
	switch {
	case f.Given == message || message == "warning" && f.Given == "critical":
		return ", given"
	case f.Next != message:
		return ""
	case f.Tokens >= int64(f.NextAt):
		return ", comes with the next tool calls"
	}
	return fmt.Sprintf(", in %s", contextmeter.Comma(int64(f.NextAt)-f.Tokens))
}

func (f *fill) bar(columns int) string {
	at := func(tokens int64) int {
		return int(min(tokens, int64(f.Window)) * int64(columns) / int64(max(f.Window, 1)))
	}
	cells := []rune(strings.Repeat("█", at(f.Tokens)) + strings.Repeat("░", max(columns-at(f.Tokens), 0)))
	for _, limit := range []int{f.Warning, f.Critical} {
		if i := at(int64(limit)); i < len(cells) && i >= 0 {
			cells[i] = '│'
		}
	}
	return string(cells)
}

func comma(n int) string { return contextmeter.Comma(int64(n)) }
