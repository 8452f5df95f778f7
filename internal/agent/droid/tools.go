package droid

import "gitagent/hooks"

// Effects tells those of the client's tools. Execute, Task and tools of servers
// may do anything, and so may ApplyPatch, which names no path.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "Edit", "Create":
		return hooks.Edits
	case "Read", "LS", "Grep", "Glob", "WebSearch", "FetchUrl", "TodoWrite", "AskUser", "ToolSearch", "ConnectorSearch",
		"TaskOutput":
		return hooks.Reads
	}
	return hooks.Anything
}
