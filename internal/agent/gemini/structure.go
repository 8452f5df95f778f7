package gemini

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "content", "tokens", "$set", "messages", "toolCalls", "functionCall", "functionResponse", "result",
		"thoughts":
		return redact.Frame
	case "type", "kind", "status", "id", "sessionId", "$rewindTo", "timestamp", "startTime", "lastUpdated",
		"projectHash", "model", "name", "tool":
		return redact.Structural
	}
	return redact.Content
}
