package droid

import "gitagent/hooks"

// Effects are those of the client's tools. Execute, Task and tools of servers
// may do anything, and so may ApplyPatch, which names no path.
var Effects = map[string]hooks.Effect{
	"Edit": hooks.Edits, "Create": hooks.Edits,

	"Read": hooks.Reads, "LS": hooks.Reads, "Grep": hooks.Reads, "Glob": hooks.Reads, "WebSearch": hooks.Reads, "FetchUrl": hooks.Reads,
	"TodoWrite": hooks.Reads, "AskUser": hooks.Reads, "ToolSearch": hooks.Reads, "ConnectorSearch": hooks.Reads, "TaskOutput": hooks.Reads,
}
