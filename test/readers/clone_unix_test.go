//go:build unix

package readers

import (
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A clone takes nothing of ours, but a mirror, which has everything, and two that
// have the objects without refs: dulwich asks for all that a host offers, and git
// links all objects of a path on the same machine.
func TestClone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newWorld(t, "sha1", "files")
	w.Git("clone", "-q", "--mirror", w.Dir, filepath.Join(w.home, "host.git"))
	w.Git("-C", filepath.Join(w.home, "host.git"), "config", "remote.origin.mirror", "false")
	host := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(w.Git("--exec-path"), "git-http-backend"),
		Env:  append([]string{"GIT_PROJECT_ROOT=" + w.home, "GIT_HTTP_EXPORT_ALL=1"}, w.Env...),
	})
	t.Cleanup(host.Close)
	ledgers := w.Git("for-each-ref", "--format=%(objectname)", "refs/agent/missions")

	// taken says what is in a clone.
	taken := func(t *testing.T, dir string) (refs string, objects bool) {
		t.Helper()
		clone := w.In(dir)
		for ref := range strings.FieldsSeq(clone.Git("for-each-ref", "--format=%(refname)")) {
			if strings.HasPrefix(ref, "refs/agent/") || strings.HasPrefix(ref, "refs/notes/") {
				refs += ref + " "
			}
		}
		out := clone.Pipe(ledgers+"\n", "cat-file", "--batch-check")
		return refs, !strings.Contains(out, "missing")
	}
	for _, tool := range append([]tool{{name: "git", program: func(*testing.T) program { return program{command: []string{"git"}} }}, jj}, tools...) {
		t.Run(tool.name, func(t *testing.T) {
			dir := filepath.Join(w.home, strings.ReplaceAll(tool.name, " ", "-"))
			if out, err := tool.run(t, w, "clone", host.URL+"/host.git", dir); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if refs, objects := taken(t, dir); refs != "" || objects != tool.clones {
				t.Errorf("a clone has the refs %q, and our objects: %t; want none, and %t: see SECURITY.md", refs, objects, tool.clones)
			}
		})
	}
	path, mirror := filepath.Join(w.home, "path"), filepath.Join(w.home, "mirror")
	w.Git("clone", "-q", w.Dir, path)
	if refs, objects := taken(t, path); refs != "" || !objects {
		t.Errorf("a clone of a path has the refs %q, and our objects: %t; want none, and true", refs, objects)
	}
	w.Git("clone", "-q", "--mirror", host.URL+"/host.git", mirror)
	if refs, objects := taken(t, mirror); !strings.Contains(refs, "refs/agent/missions/") || !objects {
		t.Errorf("a mirror has the refs %q, and our objects: %t", refs, objects)
	}
}

var jj = tool{name: "Jujutsu", program: inSid("jj", "/usr/bin/jj", "git"), nightly: true}
