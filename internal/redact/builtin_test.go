package redact

// builtIn are the rules without any of a user's own.
var builtIn *Rules

func String(s string) string { return builtIn.String(s) }

func Bytes(b []byte) []byte { return builtIn.Bytes(b) }

func JSONLines(segment []byte) ([]byte, error) { return builtIn.JSONLines(segment) }
