package copilot

import "gitagent/hooks"

// Effects are those of the client's tools, by the names that hooks have, and
// by those that the file has where they differ. Agent (task), bash and tools of
// servers may do anything.
var Effects = map[string]hooks.Effect{
	"Write": hooks.Edits, "create": hooks.Edits, "Edit": hooks.Edits, "edit": hooks.Edits,

	"Read": hooks.Reads, "view": hooks.Reads, "Grep": hooks.Reads, "grep": hooks.Reads, "Glob": hooks.Reads, "glob": hooks.Reads,
	"WebFetch": hooks.Reads, "web_fetch": hooks.Reads, "WebSearch": hooks.Reads, "web_search": hooks.Reads,
	"fetch_copilot_cli_documentation": hooks.Reads, "sql": hooks.Reads, "session_store_sql": hooks.Reads,
	"list_agents": hooks.Reads, "list_bash": hooks.Reads, "report_intent": hooks.Reads, "ask_user": hooks.Reads,
}
