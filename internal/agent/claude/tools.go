package claude

import "gitagent/hooks"

// Effects tells those of the client's own tools; Agent, those of servers and of
// skills may do anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return hooks.Edits
	case "Read", "NotebookRead", "Grep", "Glob", "LS", "LSP", "WebFetch", "WebSearch", "ToolSearch", "ListMcpResourcesTool",
		"ReadMcpResourceTool", "TodoRead", "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput",
		"BashOutput", "TaskStop", "KillShell", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode":
		return hooks.Reads
	}
	return hooks.Anything
}
