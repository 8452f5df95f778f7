package opencode

import "gitagent/hooks"

// Effects tells those of the client's tools, as far as the plugin tells of their
// paths; bash, task and those of servers may do anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case "edit", "multiedit", "write":
		return hooks.Edits
	case "read", "grep", "glob", "list", "lsp", "codesearch", "webfetch", "websearch", "todoread", "todowrite", "question",
		"skill":
		return hooks.Reads
	}
	return hooks.Anything
}
