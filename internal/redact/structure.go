package redact

// A user's pattern may match anything: also what says in a record of a
// transcript who spoke, in which order, and which result belongs to which call.
// Without these nobody can go on with the conversation, so they stay. What
// tools were given and have returned has none of them.

// frames reports whether a member of records holds such members: an object, or
// a list of objects. The cases are a client's each; a word that means something
// else in another client's records costs at most a match.
func frames(name string) bool {
	switch name {
	case "message", "content", "source", "attachment", "compactMetadata", "preservedMessages", "preservedSegment",
		"usage", "cache_creation", "server_tool_use", "origin", "params", "snapshot":
		return true
	case "payload", "item", "summary", "parsed_cmd", "thread_settings", "replacement_history", "history_base", "internal_chat_message_metadata_passthrough", "turn_attribution", "latest_token_usage_record", "total_token_usage", "last_token_usage":
		return true
	case "info", "parts", "state", "error", "time", "tokens", "cache":
		return true
	case "$set", "messages", "toolCalls", "functionCall", "functionResponse", "result", "thoughts":
		return true
	}
	return false
}

// structural reports whether a member, or all elements of it, stay.
func structural(name string) bool {
	switch name {
	case "type", "subtype", "role", "kind", "phase", "status", "level", "mode", "reason", "stop_reason", "stop_sequence", "finish",
		"uuid", "parentUuid", "logicalParentUuid", "leafUuid", "headUuid", "anchorUuid", "tailUuid", "uuids", "allUuids", "sourceToolAssistantUUID",
		"id", "sessionId", "sessionID", "session_id", "thread_id", "agentId", "messageId", "messageID", "parentID", "requestId", "promptId",
		"call_id", "callID", "response_id", "window_id", "tool_use_id", "toolUseID", "turn_id", "root_turn_id", "parent_turn_id", "parent_thread_id", "forked_from_id", "client_id",
		"promptSource", "content_item_kinds", "turnOrigin", "userType", "renderedRole", "operation", "trigger", "hookEvent", "$rewindTo",
		"timestamp", "startTime", "lastUpdated", "started_at", "version", "cli_version", "originator", "projectHash",
		"model", "modelID", "providerID", "agent", "name", "tool", "media_type", "signature", "encrypted_content":
		return true
	}
	return false
}
