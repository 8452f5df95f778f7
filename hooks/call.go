package hooks

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

// An Effect is what a tool may do to files.
type Effect int

// The effects. A tool that is not known may do anything.
const (
	Anything Effect = iota
	Edits           // writes those of its paths, and no others
	Reads           // writes none
)

// MaxCalls is how many calls of an event are kept.
const MaxCalls = 200
