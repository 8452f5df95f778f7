package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Setup describes a client's hooks and files. Unneeded functions are nil.
type Setup struct {
	Entries []Entry
	User    string // of all the user's sessions, below Config
	Project string // of a team, below the project
	Local   string // the user's own in the project, or ""
	Managed string // an administrator's, absolute, or ""; beside managed.json may be managed.d
	Sent    string // what an administrator's server has sent, below Config, or ""

	// Vacate changes settings before our entries are removed from them.
	Vacate func(settings []byte, entries []Entry) []byte
	// Plugins lists the copies of our plugin that no settings name.
	Plugins func(config string) []Plugin
	// Check completes a report from other parts of the client's configuration.
	Check func(r *Report, files []Settings, config string)
}

// Install plans to add our hooks to the user's settings or, with project, the
// team's. It writes nothing.
func (s Setup) Install(places Places, project bool) (*Edit, error) {
	return PlanInstall(s.Path(places, project), s.Entries)
}

// Remove plans to remove our hooks from the same settings. It writes nothing.
func (s Setup) Remove(places Places, project bool) (*Edit, error) {
	e, err := Plan(s.Path(places, project), func(before []byte) ([]byte, error) {
		after, err := Remove(before, s.Entries) // its error has the user's positions
		if err == nil && s.Vacate != nil {
			after, err = Remove(s.Vacate(before, s.Entries), s.Entries)
		}
		return after, err
	})
	if err != nil {
		return nil, err
	}
	if e.Top = places.Config; project {
		e.Top = places.Project
	}
	return e, nil
}

// Path returns the file that [Setup.Install] and [Setup.Remove] change.
func (s Setup) Path(places Places, project bool) string {
	if project {
		return filepath.Join(places.Project, filepath.FromSlash(s.Project))
	}
	return filepath.Join(places.Config, s.User)
}

// Inspect reports which of our hooks the client will run, and what is wrong.
func (s Setup) Inspect(places Places) *Report {
	var files []Settings
	var plugins []Plugin
	if places.Config != "" {
		files = append(files, Settings{Path: s.Path(places, false)})
		if s.Plugins != nil {
			plugins = s.Plugins(places.Config)
		}
	}
	if places.Project != "" {
		files = append(files, Settings{Path: s.Path(places, true), Team: true})
		if s.Local != "" {
			files = append(files, Settings{Path: filepath.Join(places.Project, filepath.FromSlash(s.Local))})
		}
	}
	for _, path := range s.managed() {
		files = append(files, Settings{Path: path, Managed: true})
	}
	if s.Sent != "" && places.Config != "" {
		files = append(files, Settings{Path: filepath.Join(places.Config, s.Sent), Managed: true, Sent: true})
	}
	r := Inspect(s.Entries, files, plugins...)
	if s.Check != nil {
		s.Check(r, files, places.Config)
	}
	return r
}

// managed returns an administrator's files: those in the directory, by their
// names, come on top of the one file. If it cannot be read, it stands for them.
func (s Setup) managed() []string {
	if s.Managed == "" {
		return nil
	}
	files, dir := []string{s.Managed}, strings.TrimSuffix(s.Managed, ".json")+".d"
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return append(files, dir)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}
