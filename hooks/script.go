package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
)

// A Script is a plugin of ours that is one file, for a client that runs no
// commands as hooks but loads code.
type Script struct {
	Client  string        // whose it is, for people
	Content func() []byte // begins with [scriptMark] and a version
	Dir     string        // below the user's configuration: where we write it
	Also    string        // another directory there in which the client looks; or ""
	Project string        // the client's directory in a project, which has the same two
	// Alone says why it isn't installed into a project.
	Alone string
}

// scriptMark begins every version of a script.
const scriptMark = "// git-agent plugin "

const scriptName = "git-agent.js"

// Install plans to write the script. It replaces one of ours that has another
// version or was changed; another file of the name is an error. For a project
// the error wraps [errors.ErrUnsupported].
func (s Script) Install(places Places, project bool) (*Edit, error) {
	if project {
		return nil, fmt.Errorf("install the plugin into a project: %s: %w", s.Alone, errors.ErrUnsupported)
	}
	e, err := s.plan(places)
	if err != nil {
		return nil, err
	}
	if e.Before != nil && !isScript(e.Before) {
		return nil, fmt.Errorf("install the plugin: %s is not ours; move it away", e.Path)
	}
	e.After = s.Content()
	return e, nil
}

// Remove plans to remove the script's file, if it is ours.
func (s Script) Remove(places Places, project bool) (*Edit, error) {
	if project {
		return nil, fmt.Errorf("remove the plugin from a project: it is installed for the user alone: %w", errors.ErrUnsupported)
	}
	e, err := s.plan(places)
	if err == nil && !isScript(e.Before) {
		e.After = e.Before
	}
	return e, err
}

func (s Script) plan(places Places) (*Edit, error) {
	if places.Config == "" {
		return nil, fmt.Errorf("find %s's configuration: the environment names no home directory", s.Client)
	}
	e, err := PlanFile(filepath.Join(places.Config, s.Dir, scriptName), nil)
	if err == nil {
		e.Top = places.Config
	}
	return e, err
}

// Inspect reports whether the script is there, unchanged, and once: each copy
// that the client loads runs our hooks.
func (s Script) Inspect(places Places) *Report {
	r := new(Report)
	if places.Config == "" {
		return r
	}
	tops := []string{places.Config}
	if places.Project != "" {
		tops = append(tops, filepath.Join(places.Project, s.Project))
	}
	for _, top := range tops {
		for _, dir := range []string{s.Dir, s.Also} {
			if dir != "" {
				s.inspect(r, filepath.Join(top, dir, scriptName))
			}
		}
	}
	switch {
	case len(r.Plugins) == 0:
		r.Findings = append(r.Findings, Finding{Problem: Missing, Text: "no plugin runs our hooks"})
	case len(r.Plugins) > 1:
		r.Findings = append(r.Findings, Finding{
			Problem: Twice, Path: r.Plugins[1].Name, Text: "the hooks run twice, the other plugin is " + r.Plugins[0].Name,
		})
	}
	return r
}

func (s Script) inspect(r *Report, path string) {
	file, err := PlanFile(path, nil)
	switch {
	case err != nil:
		r.Findings = append(r.Findings, Finding{Problem: Unreadable, Path: path, Text: err.Error()})
		return
	case !isScript(file.Before):
		return
	}
	r.Plugins = append(r.Plugins, Plugin{Name: path})
	switch {
	case bytes.Equal(file.Before, s.Content()):
	case scriptVersion(file.Before) != scriptVersion(s.Content()):
		r.Findings = append(r.Findings, Finding{Problem: Changed, Path: path, Text: "the plugin is of another version"})
	default:
		r.Findings = append(r.Findings, Finding{Problem: Changed, Path: path, Text: "the plugin was changed by hand"})
	}
}

// isScript reports whether a file is a script of ours, in any version, even if
// changed.
func isScript(file []byte) bool { return bytes.HasPrefix(file, []byte(scriptMark)) }

func scriptVersion(file []byte) string {
	line, _, _ := bytes.Cut(file, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
