package copilot

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "data", "usage", "toolRequests", "result", "error", "compactionTokensUsed", "shellExecution", "kind", "context", "input":
		return redact.Frame
	case "type", "id", "parentId", "timestamp", "agentId", "sessionId", "messageId", "originatingMessageId", "interactionId",
		"turnId", "apiCallId", "toolCallId", "parentToolCallId", "name", "toolName", "model", "selectedModel", "newModel",
		"delivery", "source", "reason", "trigger", "outcome", "hookType", "assetId", "mimeType", "interactionType":
		return redact.Structural
	}
	return redact.Content
}
