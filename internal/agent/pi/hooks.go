package pi

import (
	_ "embed"
	"path/filepath"
	"strings"

	"gitagent/hooks"
)

// extension is what pi loads: it calls our hooks.
//
//go:embed extension.js
var extension []byte

// Hooks is the extension. pi also loads a trusted project's .pi/extensions.
var Hooks = hooks.Script{
	Client: Title, Content: func() []byte { return extension }, Dir: "extensions", Project: ".pi",
	Alone: "pi loads a project's extensions only where it is trusted, and then the user's as well",
}

// ConfigDir returns $PI_CODING_AGENT_DIR or ~/.pi/agent.
func ConfigDir(getenv func(string) string) string {
	if dir := inHome(getenv, getenv("PI_CODING_AGENT_DIR")); dir != "" {
		return dir
	}
	return hooks.InHome(getenv, filepath.Join(".pi", "agent"))
}

// inHome returns an absolute path as the client reads it, "~" being the home
// directory, or "".
func inHome(getenv func(string) string, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return hooks.InHome(getenv, path[1:])
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}
