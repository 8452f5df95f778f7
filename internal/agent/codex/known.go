package codex

import (
	"strings"
	"sync"
)

// known lists what Rebuild keeps: the records that the client makes its next
// request from, those by which it shows what was said, and their fields that it
// needs for that. They are from files of Codex 0.169.0, and tested with it. The
// items of requests, response_item, are listed for foreign conversations.
//
// Nothing that makes the client act is kept. It makes its own instead, from its
// place and its user's settings:
//
//   - session_meta, but for its name and times: where it works (cwd,
//     runtime_workspace_roots), the service (model_provider), its instructions
//     (base_instructions), the tools that it offers (dynamic_tools), and the
//     files that the conversation continues (history_base, forked_from_id),
//     which are in the segments;
//   - turn_context and thread_settings_applied: what it may do
//     (approval_policy, sandbox_policy, permission_profile), where, and with
//     which model;
//   - world_state: what it has told the model about this, and tells again;
//   - resume_metadata of a compaction;
//   - ghost_snapshot: commits to which it can restore the worktree;
//   - token_usage_record: the new session counts from 0.
//
// A name is a record's type and its payload's, a part's, or that of a field
// with objects. Braces after a field have the name of the objects in it, which
// their type follows if the table has such names. A field with "=" has the
// session's id.
var known = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"response_item message":                 "type id role content{content} phase internal_chat_message_metadata_passthrough{passthrough}",
		"response_item reasoning":               "type id summary content encrypted_content internal_chat_message_metadata_passthrough{passthrough}",
		"response_item function_call":           "type id name namespace arguments call_id internal_chat_message_metadata_passthrough{passthrough}",
		"response_item function_call_output":    "type id call_id output{content} internal_chat_message_metadata_passthrough{passthrough}",
		"response_item custom_tool_call":        "type id status call_id name namespace input internal_chat_message_metadata_passthrough{passthrough}",
		"response_item custom_tool_call_output": "type id call_id name output{content} internal_chat_message_metadata_passthrough{passthrough}",
		"response_item local_shell_call":        "type id call_id status action internal_chat_message_metadata_passthrough{passthrough}",
		"response_item web_search_call":         "type id status action internal_chat_message_metadata_passthrough{passthrough}",
		"response_item image_generation_call":   "type id status revised_prompt result internal_chat_message_metadata_passthrough{passthrough}",
		"response_item compaction":              "type id encrypted_content internal_chat_message_metadata_passthrough{passthrough}",

		"content input_text":  "type text",
		"content output_text": "type text",
		"content input_image": "type image_url detail",

		"passthrough": "turn_id create_time content_item_kinds",

		"compacted": "message replacement_history{response_item}",

		"event_msg task_started":   "type turn_id root_turn_id started_at model_context_window collaboration_mode_kind turn_attribution{attribution}",
		"event_msg task_complete":  "type turn_id root_turn_id last_agent_message error started_at completed_at duration_ms time_to_first_token_ms",
		"event_msg turn_aborted":   "type turn_id root_turn_id reason started_at completed_at duration_ms",
		"event_msg token_count":    "type info",
		"event_msg item_completed": "type thread_id= turn_id item{item} started_at_ms completed_at_ms",

		"event_msg user_message":    "type message",
		"event_msg agent_message":   "type message phase",
		"event_msg agent_reasoning": "type text",

		"attribution": "turn_id turn_trigger parent_turn_id initiating_agent_path root_turn_id",

		"item UserMessage":       "type id client_id content{said}",
		"item AgentMessage":      "type id content{said} phase",
		"item Reasoning":         "type id summary_text raw_content",
		"item CommandExecution":  "type id process_id command cwd parsed_cmd source status aggregated_output exit_code duration",
		"item FileChange":        "type id changes status stdout stderr auto_approved",
		"item McpToolCall":       "type id server tool arguments status result error duration",
		"item WebSearch":         "type id query action",
		"item ContextCompaction": "type id",

		"said text": "type text text_elements",
		"said Text": "type text",
	}
})

// A field is a kept field of an object.
type field struct {
	name    string
	objects string // the name of its objects; "" for any value
	session bool   // it has the session's id
}

// knownFields returns the table with its fields. It is built on use, because
// most processes that read conversations rebuild none.
func knownFields() map[string][]field {
	table := make(map[string][]field, len(known()))
	for name, list := range known() {
		for word := range strings.FieldsSeq(list) {
			var f field
			f.name, f.session = strings.CutSuffix(word, "=")
			if before, objects, ok := strings.Cut(f.name, "{"); ok {
				f.name, f.objects = before, strings.TrimSuffix(objects, "}")
			}
			table[name] = append(table[name], f)
		}
	}
	return table
}
