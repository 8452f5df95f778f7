package transcript

import (
	"cmp"
	"strings"
)

// Edited returns by their ids the calls of a turn of tools that edit files,
// without those that failed, each with the file that it names, "" if none. What
// sub-agents called is not among them.
func Edited(r Reader, turn []byte, edits func(tool string) bool) map[string]string {
	found := make(map[string]string)
	for at, line := range lines(turn) {
		e := r.Read(at, line)
		if e.Subagent {
			continue
		}
		for _, p := range e.Parts {
			switch {
			case p.Kind == Call && edits(p.Name):
				file := ""
				for _, name := range []string{"file_path", "filePath", "notebook_path", "path"} {
					file = cmp.Or(file, Unquote(p.Input.Get(name)))
				}
				found[strings.Clone(p.Call)] = strings.Clone(file)
			case p.Kind == Answer && p.Failed:
				delete(found, p.Call)
			}
		}
	}
	return found
}
