package gemini

import "gitagent/hooks"

// Effects are those of the client's tools; run_shell_command and those of
// servers may do anything.
var Effects = map[string]hooks.Effect{
	"write_file": hooks.Edits, "replace": hooks.Edits,

	"read_file": hooks.Reads, "read_many_files": hooks.Reads, "list_directory": hooks.Reads, "glob": hooks.Reads,
	"search_file_content": hooks.Reads, "grep_search": hooks.Reads, "google_web_search": hooks.Reads, "web_fetch": hooks.Reads,
	"write_todos": hooks.Reads, "ask_user": hooks.Reads,
}
