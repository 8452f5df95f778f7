package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
)

// Our plugin for the client, plugin/ in this repository, has the hooks and also
// skills and commands. A marketplace is a directory or repository with a list
// of plugins. The following is the layout of Claude Code 2.1.330; in another
// layout, no version is known.

var manifest = filepath.Join(".claude-plugin", "plugin.json")

// Plugin returns the command to install the plugin from share, if it is there.
func Plugin(share string) string {
	if _, err := os.Stat(filepath.Join(share, ".claude-plugin", "marketplace.json")); err != nil {
		return ""
	}
	return "claude plugin install git-agent --marketplace " + cmdline.Shell([]string{share})
}

// skills lists the plugin if it is in the user's skills, without settings.
func skills(config string) []hooks.Plugin {
	dir := filepath.Join(config, "skills", "git-agent")
	if _, err := os.Stat(filepath.Join(dir, manifest)); err != nil {
		return nil
	}
	return []hooks.Plugin{{Name: dir, Version: versionIn(dir), Remove: "rm -r " + cmdline.Shell([]string{dir})}}
}

func describeAll(r *hooks.Report, config string) {
	for i := range r.Plugins {
		if p := &r.Plugins[i]; p.Remove == "" {
			describe(config, p)
		}
	}
}

// describe completes a plugin that settings name "git-agent@<marketplace>".
func describe(config string, p *hooks.Plugin) {
	name := cmdline.Shell([]string{p.Name})
	p.Update, p.Remove = "claude plugin update "+name, "claude plugin uninstall "+name
	_, marketplace, _ := strings.Cut(p.Name, "@")
	var known map[string]struct {
		Source struct{ Source, Path string }
	}
	read(filepath.Join(config, "plugins", "known_marketplaces.json"), &known)
	if m := known[marketplace]; m.Source.Source == "directory" { // used in place, not as installed
		if p.Version = versionIn(filepath.Join(m.Source.Path, "plugin")); p.Version != "" {
			return
		}
	}
	var installed struct {
		Plugins map[string][]struct{ Version string }
	}
	read(filepath.Join(config, "plugins", "installed_plugins.json"), &installed)
	for _, i := range installed.Plugins[p.Name] {
		p.Version = i.Version
	}
}

// versionIn returns the version of the plugin in a directory, or "".
func versionIn(dir string) string {
	var m struct{ Version string }
	read(filepath.Join(dir, manifest), &m)
	return m.Version
}

// read reads a file of JSON into v; v stays as it is if that fails.
func read(path string, v any) {
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, v)
	}
}
