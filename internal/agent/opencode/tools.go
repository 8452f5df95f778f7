package opencode

import (
	"io"

	"gitagent/hooks"
)

// Event decodes a payload of our plugin, and says what tools may do to files.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err == nil {
		e.Tell(Effects)
	}
	return e, err
}

// Effects are those of the client's tools, as far as the plugin tells of their
// paths; bash, task and those of servers may do anything.
var Effects = map[string]hooks.Effect{
	"edit": hooks.Edits, "multiedit": hooks.Edits, "write": hooks.Edits,

	"read": hooks.Reads, "grep": hooks.Reads, "glob": hooks.Reads, "list": hooks.Reads, "lsp": hooks.Reads, "codesearch": hooks.Reads,
	"webfetch": hooks.Reads, "websearch": hooks.Reads, "todoread": hooks.Reads, "todowrite": hooks.Reads, "question": hooks.Reads,
	"skill": hooks.Reads,
}
