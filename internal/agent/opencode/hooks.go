package opencode

import (
	"bytes"
	_ "embed"
	"path/filepath"

	"gitagent/hooks"
)

// source is what OpenCode loads: it calls our hooks, and keeps conversations.
//
//go:embed plugin.js
var source []byte

func (c Edition) plugin() []byte {
	return bytes.ReplaceAll(source, []byte(OpenCode.Program), []byte(c.Program))
}

// Hooks is the plugin. The client also loads plugins/ and the project's
// .<program>/.
func (c Edition) Hooks() hooks.Script {
	return hooks.Script{
		Client: c.Title, Content: c.plugin, Dir: "plugin", Also: "plugins", Project: "." + c.Program,
		Alone: c.Title + " writes packages beside a project's plugins",
	}
}

// ConfigDir returns $XDG_CONFIG_HOME/<program> or ~/.config/<program>, on every
// system. OpenCode reads $OPENCODE_CONFIG_DIR, too, not instead.
func (c Edition) ConfigDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, c.Program)
	}
	return hooks.InHome(getenv, filepath.Join(".config", c.Program))
}
