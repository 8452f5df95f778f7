package pi

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "message", "content", "usage", "systemMessage", "toolsAdded", "toolsRemoved":
		return redact.Frame
	case "type", "role", "id", "parentId", "timestamp", "toolCallId", "toolName", "name", "api", "provider", "model",
		"modelId", "stopReason", "firstKeptEntryId", "targetId", "fromId", "customType", "mimeType":
		return redact.Structural
	}
	return redact.Content
}
