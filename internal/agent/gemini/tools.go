package gemini

import "gitagent/hooks"

// Effects tells those of the client's tools; run_shell_command and those of
// servers may do anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "write_file", "replace":
		return hooks.Edits
	case "read_file", "read_many_files", "list_directory", "glob", "search_file_content", "grep_search",
		"google_web_search", "web_fetch", "write_todos", "ask_user":
		return hooks.Reads
	}
	return hooks.Anything
}
