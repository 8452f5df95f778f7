package opencode

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"gitagent/hooks"
)

// ConfigDir returns the directory of the user's configuration, $XDG_CONFIG_HOME/opencode, by default
// ~/.config/opencode, on every system. OpenCode reads $OPENCODE_CONFIG_DIR as well, not instead.
func ConfigDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "opencode")
	}
	return hooks.InHome(getenv, filepath.Join(".config", "opencode"))
}

// Install plans how to write the plugin. A plugin of ours that is another version, or was changed, is
// replaced; a file of the same name that isn't ours is an error.
func Install(places hooks.Places, project bool) (*hooks.Edit, error) {
	if project {
		return nil, fmt.Errorf("install the plugin into a project: OpenCode writes packages beside a project's plugins: %w", errors.ErrUnsupported)
	}
	e, err := plan(places)
	if err != nil {
		return nil, err
	}
	if e.Before != nil && !isOurs(e.Before) {
		return nil, fmt.Errorf("install the plugin: %s is not ours; move it away", e.Path)
	}
	e.After = plugin
	return e, nil
}

// Remove plans how to remove the plugin's file, if it is ours.
func Remove(places hooks.Places, project bool) (*hooks.Edit, error) {
	if project {
		return nil, fmt.Errorf("remove the plugin from a project: it is installed for the user alone: %w", errors.ErrUnsupported)
	}
	e, err := plan(places)
	if err == nil && !isOurs(e.Before) {
		e.After = e.Before
	}
	return e, err
}

// plan reads what is there.
func plan(places hooks.Places) (*hooks.Edit, error) {
	if places.Config == "" {
		return nil, errors.New("find OpenCode's configuration: the environment names no home directory")
	}
	return hooks.PlanFile(pluginPath(places.Config), nil)
}

// pluginPath is where the plugin is.
func pluginPath(config string) string { return filepath.Join(config, "plugin", "git-agent.js") }

// Inspect says whether the plugin is there, as we wrote it. OpenCode also loads what is in plugins/,
// and in .opencode/ of the project: a second copy runs our hooks twice.
func Inspect(places hooks.Places) *hooks.Report {
	r := new(hooks.Report)
	if places.Config == "" {
		return r
	}
	dirs := []string{places.Config}
	if places.Project != "" {
		dirs = append(dirs, filepath.Join(places.Project, ".opencode"))
	}
	for _, dir := range dirs {
		for _, kind := range []string{"plugin", "plugins"} {
			path := filepath.Join(dir, kind, "git-agent.js")
			file, err := hooks.PlanFile(path, nil)
			switch {
			case err != nil:
				r.Findings = append(r.Findings, hooks.Finding{Problem: hooks.Unreadable, Path: path, Text: err.Error()})
			case isOurs(file.Before):
				r.Plugins = append(r.Plugins, hooks.Plugin{Name: path})
				r.Findings = append(r.Findings, changed(path, file.Before)...)
			}
		}
	}
	switch {
	case len(r.Plugins) == 0:
		r.Findings = append(r.Findings, hooks.Finding{Problem: hooks.Missing, Text: "no plugin runs our hooks"})
	case len(r.Plugins) > 1:
		r.Findings = append(r.Findings, hooks.Finding{
			Problem: hooks.Twice, Path: r.Plugins[1].Name, Text: "the hooks run twice, the other plugin is " + r.Plugins[0].Name,
		})
	}
	return r
}

// changed says how a plugin differs from the one that we install.
func changed(path string, data []byte) []hooks.Finding {
	switch {
	case bytes.Equal(data, plugin):
		return nil
	case version(data) != version(plugin):
		return []hooks.Finding{{Problem: hooks.Changed, Path: path, Text: "the plugin is of another version"}}
	}
	return []hooks.Finding{{Problem: hooks.Changed, Path: path, Text: "the plugin was changed by hand"}}
}
