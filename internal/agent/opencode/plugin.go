package opencode

import (
	"bytes"
	_ "embed"
)

// plugin is what OpenCode loads: it calls our hooks, and keeps the conversations as files.
//
//go:embed plugin.js
var plugin []byte

// ours is how the first line of every version of the plugin begins.
const ours = "// git-agent plugin "

// isOurs reports whether a file is the plugin, of any version, whatever else has been made of it.
func isOurs(file []byte) bool { return bytes.HasPrefix(file, []byte(ours)) }

// version is the first line of a plugin.
func version(file []byte) string {
	line, _, _ := bytes.Cut(file, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
