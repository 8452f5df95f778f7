package main

import (
	"embed"
	"fmt"
	"io"
	"path"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// fillTemplates makes the descriptions for package managers that take our archives.
func (r *release) fillTemplates() error {
	all, err := template.New("").Option("missingkey=error").ParseFS(templates, "templates/*")
	if err != nil {
		return err
	}
	archives := map[string]string{} // their hashes, by platforms
	for _, m := range r.made {
		if platform, ok := strings.CutPrefix(m.name, "git-agent-"+r.version+"-"); ok {
			archives[strings.TrimSuffix(strings.TrimSuffix(platform, ".tar.gz"), ".zip")] = m.sha256
		}
	}
	for _, t := range all.Templates() {
		if path.Ext(t.Name()) == "" {
			continue // the root
		}
		err := r.add(t.Name(), func(w io.Writer) error {
			return t.Execute(w, map[string]any{
				"Version": r.version, "Site": r.site, "Archives": archives,
				"Download": fmt.Sprintf("%s/releases/v%s", r.site, r.version),
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
