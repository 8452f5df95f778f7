package pi

import "gitagent/hooks"

// Effects tells those of the client's own tools; bash, codemode and the tools of
// extensions and servers may do anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "edit", "write":
		return hooks.Edits
	case "read", "grep", "find", "ls", "tool_search":
		return hooks.Reads
	}
	return hooks.Anything
}
