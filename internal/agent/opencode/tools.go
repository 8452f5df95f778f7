package opencode

import "gitagent/hooks"

// Effects are those of the client's tools, as far as the plugin tells of their
// paths; bash, task and those of servers may do anything.
var Effects = map[string]hooks.Effect{
	"edit": hooks.Edits, "multiedit": hooks.Edits, "write": hooks.Edits,

	"read": hooks.Reads, "grep": hooks.Reads, "glob": hooks.Reads, "list": hooks.Reads, "lsp": hooks.Reads, "codesearch": hooks.Reads,
	"webfetch": hooks.Reads, "websearch": hooks.Reads, "todoread": hooks.Reads, "todowrite": hooks.Reads, "question": hooks.Reads,
	"skill": hooks.Reads,
}
