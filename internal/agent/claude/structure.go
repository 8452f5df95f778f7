package claude

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "message", "content", "source", "attachment", "compactMetadata", "preservedMessages", "preservedSegment",
		"usage", "cache_creation", "server_tool_use", "origin", "params", "snapshot":
		return redact.Frame
	case "type", "subtype", "role", "kind", "level", "mode", "reason", "stop_reason", "stop_sequence",
		"uuid", "parentUuid", "logicalParentUuid", "leafUuid", "headUuid", "anchorUuid", "tailUuid",
		"uuids", "allUuids", "sourceToolAssistantUUID", "id", "sessionId", "session_id", "messageId",
		"requestId", "promptId", "tool_use_id", "toolUseID", "promptSource", "turnOrigin", "userType",
		"renderedRole", "operation", "trigger", "hookEvent", "timestamp", "startTime", "version", "model",
		"name", "signature", "agentId", "media_type":
		return redact.Structural
	}
	return redact.Content
}
