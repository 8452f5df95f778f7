package codex

import (
	"strings"

	"gitagent/hooks"
)

// Effects are those of the client's tools; Bash and those of servers may do
// anything.
var Effects = map[string]hooks.Effect{
	patchTool: hooks.Edits, "update_plan": hooks.Reads, "view_image": hooks.Reads, "web_search": hooks.Reads,
}

const patchTool = "apply_patch"

// unpack gives a patch, which the payload has as a command, the paths of its files.
func unpack(e *hooks.Payload) {
	for i := range e.Calls {
		if c := &e.Calls[i]; c.Tool == patchTool && !c.Cut {
			c.Paths, c.Command = patched(c.Command), ""
		}
	}
}

// patched returns the paths of a patch in the client's format.
func patched(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if path, ok := strings.CutPrefix(line, head); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}
