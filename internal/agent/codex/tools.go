package codex

import (
	"strings"

	"gitagent/hooks"
)

// Effects tells those of the client's tools; Bash and those of servers may do
// anything.
func Effects(tool string) hooks.Effect {
	switch tool {
	case patchTool:
		return hooks.Edits
	case "update_plan", "view_image", "web_search":
		return hooks.Reads
	}
	return hooks.Anything
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
