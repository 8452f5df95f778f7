package qwen

import "gitagent/hooks"

// Effects tells those of the client's tools; run_shell_command, agent, and those
// of servers may do anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "write_file", "edit", "notebook_edit":
		return hooks.Edits
	case "read_file", "list_directory", "glob", "grep_search", "web_fetch", "web_search", "zoom_image", "tool_search",
		"todo_write", "ask_user_question", "enter_plan_mode", "exit_plan_mode", "list_agents", "task_list", "cron_list",
		"get_goal":
		return hooks.Reads
	}
	return hooks.Anything
}
