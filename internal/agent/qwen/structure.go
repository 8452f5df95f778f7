package qwen

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "message", "parts", "functionCall", "functionResponse", "usageMetadata", "systemPayload", "toolCallResult",
		"info", "compressedHistory", "uiEvent":
		return redact.Frame
	case "uuid", "parentUuid", "sessionId", "timestamp", "type", "subtype", "provenance", "role", "version", "model",
		"id", "name", "callId", "status", "agentId", "event.name", "prompt_id", "phase", "triggerReason":
		return redact.Structural
	}
	return redact.Content
}
