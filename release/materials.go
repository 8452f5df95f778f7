package main

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// An object is a JSON object. The encoder sorts names.
type object map[string]any

// addMaterials writes the bill of materials in CycloneDX 1.6: the modules that
// the programs report, and the files of the release.
func (r *release) addMaterials() error {
	sums, err := r.sums()
	if err != nil {
		return err
	}
	var components []object
	var on []string
	for _, path := range slices.Sorted(maps.Keys(r.modules)) {
		m := r.modules[path]
		purl := "pkg:golang/" + path + "@" + m.Version
		c := object{"bom-ref": purl, "type": "library", "name": path, "version": m.Version, "purl": purl}
		if m.Sum != "" { // as in go.sum: not one file's hash, so not for the bill's hashes
			c["properties"] = []object{{"name": "go.sum", "value": m.Sum}}
		}
		components = append(components, c)
		on = append(on, purl)
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		components = append(components, object{
			"bom-ref": "file:" + name, "type": "file", "name": name,
			"hashes": []object{{"alg": "SHA-256", "content": sums[name]}},
		})
	}
	self := object{"bom-ref": "git-agent", "type": "application", "name": "git-agent", "version": r.version}
	bill, err := json.MarshalIndent(object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     object{"timestamp": r.time.Format(time.RFC3339), "component": self},
		"components":   components,
		"dependencies": []object{{"ref": self["bom-ref"], "dependsOn": on}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.add("git-agent-"+r.version+".cdx.json", append(bill, '\n'))
}
