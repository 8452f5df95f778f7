package opencode

import "gitagent/internal/redact"

// Structure says what holds a conversation together in the client's records.
func Structure(name string) redact.Part {
	switch name {
	case "info", "parts", "state", "error", "time", "tokens", "cache":
		return redact.Frame
	case "type", "role", "status", "mode", "reason", "finish", "id", "sessionID", "messageID", "parentID",
		"callID", "model", "modelID", "providerID", "agent", "name", "tool":
		return redact.Structural
	}
	return redact.Content
}
