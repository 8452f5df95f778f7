//go:build unix

package readers

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// read is what git says of the refs with some prefixes, in the lines that readers
// print; see the comment of the package.
func (w *world) read(prefixes ...string) []string {
	w.t.Helper()
	var lines, ids []string
	for line := range strings.Lines(w.Git("for-each-ref", "--format=%(refname) %(objectname) %(symref)") + "\n") {
		f := strings.Fields(line)
		if len(f) == 2 && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f[0], p) }) {
			lines, ids = append(lines, "ref "+f[0]+" "+f[1]), append(ids, f[1])
			if strings.HasPrefix(f[0], "refs/notes/") {
				lines = append(lines, w.notesOf(f[0])...)
			}
		}
	}
	for id, o := range w.objects(w.Git(append([]string{"rev-list", "--objects", "--no-object-names"}, ids...)...)) {
		lines = append(lines, fmt.Sprintf("object %s %s %s", id, o.kind, digest(o.content)))
		if signature, signed := o.signature(); signature != "" {
			lines = append(lines, "signature "+id+" "+digest(signature), "signed "+id+" "+digest(signed))
		}
	}
	slices.Sort(lines)
	return lines
}

func (w *world) notesOf(ref string) (lines []string) {
	w.t.Helper()
	blobs := make(map[string]string)
	for line := range strings.Lines(w.Git("notes", "--ref="+ref, "list") + "\n") {
		blob, on, _ := strings.Cut(strings.TrimSpace(line), " ")
		blobs[on] = blob
	}
	var names strings.Builder
	for _, blob := range blobs {
		names.WriteString(blob + "\n")
	}
	objects := w.objects(names.String())
	for on, blob := range blobs {
		lines = append(lines, "note "+ref+" "+on+" "+digest(objects[blob].content))
	}
	return lines
}

type object struct{ kind, content string }

// objects reads objects by their ids, one a line.
func (w *world) objects(ids string) map[string]object {
	w.t.Helper()
	all := make(map[string]object)
	out := w.Pipe(strings.TrimSpace(ids)+"\n", "cat-file", "--batch") + "\n"
	for out != "" {
		var id, kind string
		var size int
		if _, err := fmt.Sscanf(out, "%s %s %d\n", &id, &kind, &size); err != nil {
			w.t.Fatalf("git cat-file: %v: %.80q", err, out)
		}
		_, out, _ = strings.Cut(out, "\n")
		all[id] = object{kind, out[:size]}
		out = out[size+1:]
	}
	return all
}

// signature returns a commit's signature, and what it is of: the commit without
// that header.
func (o object) signature() (text, of string) {
	if o.kind != "commit" {
		return "", ""
	}
	var signature, rest []string
	in := false
	header, message, _ := strings.Cut(o.content, "\n\n")
	for line := range strings.SplitSeq(header, "\n") {
		name, value, _ := strings.Cut(line, " ")
		if in = name == "gpgsig" || name == "gpgsig-sha256" || in && name == ""; in {
			signature = append(signature, value)
		} else {
			rest = append(rest, line)
		}
	}
	return strings.Join(signature, "\n"), strings.Join(rest, "\n") + "\n\n" + message
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
