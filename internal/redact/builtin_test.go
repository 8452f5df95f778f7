package redact

// builtIn are the rules without any of a user's own.
var builtIn *Rules

func String(s string) string { return builtIn.String(s) }

func Bytes(b []byte) []byte { return builtIn.Bytes(b) }

func JSONLines(segment []byte) ([]byte, error) { return builtIn.JSONLines(segment, nil) }

// client is what tests take for the records of a client.
func client(name string) Part {
	switch name {
	case "message", "content":
		return Frame
	case "type", "role", "id", "name", "uuid", "timestamp", "tool_use_id":
		return Structural
	}
	return Content
}
