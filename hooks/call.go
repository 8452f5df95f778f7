package hooks

import "slices"

// A Call is a call of a tool.
type Call struct {
	ID         string // the client's, or ""
	Tool       string // the client's name of it
	Effect     Effect
	Paths      []string // that it was given, as the client has them
	Command    string   // that a shell was given
	Cut        bool     // the command is longer
	Background bool     // the tool goes on while the agent does
}

// A Ran is a call that a client's own file tells of, where that is more than
// its hooks do.
type Ran struct {
	Call
	Cwd      string // of the command
	From, To int64  // ms since 1970
}

// An Effect is what a tool may do to files.
type Effect int

// The effects. A tool that is not known may do anything.
const (
	Anything Effect = iota
	Edits           // writes those of its paths, and no others
	Reads           // writes none
)

// MaxCalls is how many calls of an event are kept, and MaxCommand how many bytes
// of a command in JSON.
const (
	MaxCalls   = 200
	MaxCommand = 64 << 10
)

// Tell sets the effects of calls by their tools' names. A tool that edits files
// and does not say which may do anything.
func (e *Payload) Tell(effects func(tool string) Effect) {
	for i := range e.Calls {
		c := &e.Calls[i]
		if c.Effect = effects(c.Tool); c.Effect == Edits && len(c.Paths) == 0 {
			c.Effect = Anything
		}
	}
}

// calls reads the calls of a batch. Beyond the first [MaxCalls] they are counted.
func (s *scanner) calls(e *Payload) error {
	const label = "tool_calls"
	e.ToolCalls, e.Calls = 0, nil
	return s.each(label, func() error {
		if e.ToolCalls++; e.ToolCalls > MaxCalls {
			return s.skip(label)
		}
		var c Call
		err := s.object(label, s.call(label, &c))
		e.Calls = append(e.Calls, c)
		return err
	})
}

// call returns the members of a call. Clients give others, and other types.
func (s *scanner) call(within string, c *Call) map[string]any {
	label := func(name string) string {
		if within != "" {
			return within
		}
		return name
	}
	return map[string]any{
		"tool_name":   func() (err error) { c.Tool, _, err = s.text(label("tool_name"), 200); return err },
		"tool_use_id": func() (err error) { c.ID, _, err = s.text(label("tool_use_id"), 200); return err },
		"tool_input":  func() error { return s.input(label("tool_input"), c) },
	}
}

// pathNames are the members of a tool's input that name a file.
var pathNames = [...]string{"file_path", "notebook_path", "path"}

func (s *scanner) input(label string, c *Call) error {
	c.Paths, c.Command, c.Cut, c.Background = nil, "", false, false
	if first, err := s.next(label); err != nil || first != '{' {
		if err == nil {
			err = s.skip(label)
		}
		return err
	}
	var paths [len(pathNames)]string
	var background [2]bool
	flag := func(set *bool) any {
		return func() error {
			raw, err := s.value(label, 5)
			*set = string(raw) == "true"
			return err
		}
	}
	fields := map[string]any{
		"command":           func() (err error) { c.Command, c.Cut, err = s.text(label, MaxCommand); return err },
		"run_in_background": flag(&background[0]), "is_background": flag(&background[1]), // clients differ
	}
	for i, name := range pathNames {
		fields[name] = func() (err error) {
			var cut bool
			if paths[i], cut, err = s.text(label, 4096); cut {
				paths[i] = ""
			}
			return err
		}
	}
	err := s.object(label, fields)
	c.Background = background[0] || background[1]
	c.Paths = slices.DeleteFunc(paths[:], func(p string) bool { return p == "" })
	if len(c.Paths) == 0 {
		c.Paths = nil
	}
	return err
}
