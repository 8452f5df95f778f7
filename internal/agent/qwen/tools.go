package qwen

import "gitagent/hooks"

// Effects are those of the client's tools; run_shell_command, agent, and those
// of servers may do anything.
var Effects = map[string]hooks.Effect{
	"write_file": hooks.Edits, "edit": hooks.Edits, "notebook_edit": hooks.Edits,

	"read_file": hooks.Reads, "list_directory": hooks.Reads, "glob": hooks.Reads, "grep_search": hooks.Reads,
	"web_fetch": hooks.Reads, "web_search": hooks.Reads, "zoom_image": hooks.Reads, "tool_search": hooks.Reads,
	"todo_write": hooks.Reads, "ask_user_question": hooks.Reads, "enter_plan_mode": hooks.Reads, "exit_plan_mode": hooks.Reads,
	"list_agents": hooks.Reads, "task_list": hooks.Reads, "cron_list": hooks.Reads, "get_goal": hooks.Reads,
}
