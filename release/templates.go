package main

import (
	"bytes"
	"embed"
	"fmt"
	"text/template"
)

//go:embed templates
var templates embed.FS

// fillTemplates writes the package managers' descriptions of our archives.
func (r *release) fillTemplates() error {
	sums, err := r.sums()
	if err != nil {
		return err
	}
	all, err := template.New("").Funcs(template.FuncMap{
		"sum": func(platform string) (string, error) {
			name := "git-agent-" + r.version + "-" + platform + ".tar.gz"
			if sums[name] == "" {
				return "", fmt.Errorf("there is no %s", name)
			}
			return sums[name], nil
		},
	}).ParseFS(templates, "templates/*")
	if err != nil {
		return err
	}
	for _, name := range []string{"git-agent.rb", "git-agent.nix"} {
		var b bytes.Buffer
		if err := all.ExecuteTemplate(&b, name, map[string]string{
			"Version": r.version, "Site": r.site, "Download": fmt.Sprintf("%s/releases/v%s", r.site, r.version),
		}); err != nil {
			return err
		}
		if err := r.add(name, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
