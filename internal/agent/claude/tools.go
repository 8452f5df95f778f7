package claude

import "gitagent/hooks"

// Effects are those of the client's own tools; Agent, those of servers and of
// skills may do anything.
var Effects = map[string]hooks.Effect{
	"Edit": hooks.Edits, "MultiEdit": hooks.Edits, "Write": hooks.Edits, "NotebookEdit": hooks.Edits,

	"Read": hooks.Reads, "NotebookRead": hooks.Reads, "Grep": hooks.Reads, "Glob": hooks.Reads, "LS": hooks.Reads, "LSP": hooks.Reads,
	"WebFetch": hooks.Reads, "WebSearch": hooks.Reads, "ToolSearch": hooks.Reads,
	"ListMcpResourcesTool": hooks.Reads, "ReadMcpResourceTool": hooks.Reads,
	"TodoRead": hooks.Reads, "TodoWrite": hooks.Reads, "TaskCreate": hooks.Reads, "TaskGet": hooks.Reads, "TaskList": hooks.Reads,
	"TaskUpdate": hooks.Reads, "TaskOutput": hooks.Reads, "BashOutput": hooks.Reads, "TaskStop": hooks.Reads, "KillShell": hooks.Reads,
	"AskUserQuestion": hooks.Reads, "EnterPlanMode": hooks.Reads, "ExitPlanMode": hooks.Reads,
}
