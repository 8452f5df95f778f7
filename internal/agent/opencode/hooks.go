package opencode

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"gitagent/hooks"
)

// ConfigDir returns $XDG_CONFIG_HOME/<program> or ~/.config/<program>, on every
// system. OpenCode reads $OPENCODE_CONFIG_DIR, too, not instead.
func (c Edition) ConfigDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, c.Program)
	}
	return hooks.InHome(getenv, filepath.Join(".config", c.Program))
}

// Install plans to write the plugin. It replaces a plugin of ours that has
// another version or was changed; another file of the name is an error.
func (c Edition) Install(places hooks.Places, project bool) (*hooks.Edit, error) {
	if project {
		return nil, fmt.Errorf("install the plugin into a project: %s writes packages beside a project's plugins: %w", c.Title, errors.ErrUnsupported)
	}
	e, err := c.plan(places)
	if err != nil {
		return nil, err
	}
	if e.Before != nil && !isOurs(e.Before) {
		return nil, fmt.Errorf("install the plugin: %s is not ours; move it away", e.Path)
	}
	e.After = c.plugin()
	return e, nil
}

// Remove plans to remove the plugin's file, if it is ours.
func (c Edition) Remove(places hooks.Places, project bool) (*hooks.Edit, error) {
	if project {
		return nil, fmt.Errorf("remove the plugin from a project: it is installed for the user alone: %w", errors.ErrUnsupported)
	}
	e, err := c.plan(places)
	if err == nil && !isOurs(e.Before) {
		e.After = e.Before
	}
	return e, err
}

func (c Edition) plan(places hooks.Places) (*hooks.Edit, error) {
	if places.Config == "" {
		return nil, fmt.Errorf("find %s's configuration: the environment names no home directory", c.Title)
	}
	return hooks.PlanFile(pluginPath(places.Config), nil)
}

func pluginPath(config string) string { return filepath.Join(config, "plugin", "git-agent.js") }

// Inspect reports whether the plugin is there, unchanged. OpenCode also loads
// plugins/ and the project's .opencode/: a second copy runs our hooks twice.
func (c Edition) Inspect(places hooks.Places) *hooks.Report {
	r := new(hooks.Report)
	if places.Config == "" {
		return r
	}
	dirs := []string{places.Config}
	if places.Project != "" {
		dirs = append(dirs, filepath.Join(places.Project, "."+c.Program))
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
				r.Findings = append(r.Findings, c.changed(path, file.Before)...)
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

func (c Edition) changed(path string, data []byte) []hooks.Finding {
	switch {
	case bytes.Equal(data, c.plugin()):
		return nil
	case version(data) != version(c.plugin()):
		return []hooks.Finding{{Problem: hooks.Changed, Path: path, Text: "the plugin is of another version"}}
	}
	return []hooks.Finding{{Problem: hooks.Changed, Path: path, Text: "the plugin was changed by hand"}}
}
