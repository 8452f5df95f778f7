package opencode

import (
	"bytes"
	_ "embed"
)

// plugin is what OpenCode loads: it calls our hooks, and keeps conversations.
//
//go:embed plugin.js
var source []byte

func (c Edition) plugin() []byte {
	return bytes.ReplaceAll(source, []byte(OpenCode.Program), []byte(c.Program))
}

// ours begins every version of the plugin.
const ours = "// git-agent plugin "

// isOurs reports whether a file is the plugin, in any version, even if changed.
func isOurs(file []byte) bool { return bytes.HasPrefix(file, []byte(ours)) }

func version(file []byte) string {
	line, _, _ := bytes.Cut(file, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
