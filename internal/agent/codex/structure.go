package codex

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "content", "source", "usage", "payload", "item", "summary", "parsed_cmd", "thread_settings",
		"replacement_history", "history_base", "internal_chat_message_metadata_passthrough",
		"turn_attribution", "latest_token_usage_record", "total_token_usage", "last_token_usage", "info",
		"state", "error":
		return redact.Frame
	case "type", "role", "phase", "status", "reason", "id", "session_id", "thread_id", "call_id",
		"response_id", "window_id", "turn_id", "root_turn_id", "parent_turn_id", "parent_thread_id",
		"forked_from_id", "client_id", "content_item_kinds", "timestamp", "started_at", "cli_version",
		"originator", "model", "name", "tool", "encrypted_content":
		return redact.Structural
	}
	return redact.Content
}
