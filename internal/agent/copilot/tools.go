package copilot

import "gitagent/hooks"

// Effects tells those of the client's tools, by the names that hooks have, and
// by those that the file has where they differ. Agent (task), bash and tools of
// servers may do anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "Write", "create", "Edit", "edit":
		return hooks.Edits
	case "Read", "view", "Grep", "grep", "Glob", "glob", "WebFetch", "web_fetch", "WebSearch", "web_search",
		"fetch_copilot_cli_documentation", "sql", "session_store_sql", "list_agents", "list_bash", "report_intent",
		"ask_user":
		return hooks.Reads
	}
	return hooks.Anything
}
