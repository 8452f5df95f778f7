package pi

import "gitagent/hooks"

// Effects are those of the client's own tools; bash, codemode and the tools of
// extensions and servers may do anything.
var Effects = map[string]hooks.Effect{
	"edit": hooks.Edits, "write": hooks.Edits,

	"read": hooks.Reads, "grep": hooks.Reads, "find": hooks.Reads, "ls": hooks.Reads, "tool_search": hooks.Reads,
}
