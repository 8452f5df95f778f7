package main

import (
	"encoding/json"
	"io"
	"strings"
	"time"
)

// A bill is a bill of materials, in the form of CycloneDX 1.6.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// addMaterials makes the bill of materials: the modules that the programs were built from, by their own word,
// and the files of the release.
func (r *release) addMaterials() error {
	self := component{Ref: "git-agent", Type: "application", Name: "git-agent", Version: r.version}
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{r.time.Format(time.RFC3339), self},
	}
	on := []string{}
	for _, m := range append([]module{{path: "std", version: strings.TrimPrefix(r.std, "go")}}, r.modules...) {
		purl := "pkg:golang/" + m.path + "@" + m.version
		c := component{Ref: purl, Type: "library", Name: m.path, Version: m.version, PURL: purl}
		if m.sum != "" { // as in go.sum; no hash of one file, so none of the bill's own
			c.Properties = []property{{"go.sum", m.sum}}
		}
		b.Components = append(b.Components, c)
		on = append(on, purl)
	}
	b.Dependencies = []dependency{{self.Ref, on}}
	for _, m := range r.made {
		b.Components = append(b.Components, component{Ref: "file:" + m.name, Type: "file", Name: m.name, Hashes: []hash{{"SHA-256", m.sha256}}})
	}
	return r.add("git-agent-"+r.version+".cdx.json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(b)
	})
}
