package droid

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "message", "content", "anchorMessage", "source":
		return redact.Frame
	case "type", "id", "parentId", "timestamp", "role", "visibility", "hookEventName", "modelId", "openaiMessageId", "turnId",
		"reason", "tool_use_id", "name", "compactionSummaryId", "summaryKind", "parent", "forkedAtMessageId", "media_type":
		return redact.Structural
	}
	return redact.Content
}
