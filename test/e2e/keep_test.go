//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
)

// unusual matches what a name in a command of the shell's must not have.
var unusual = regexp.MustCompile(`[^A-Za-z0-9]+`)

// kept is the directory for what the client of this rig writes, "" if nobody has asked for it.
func (r *rig) kept() string {
	dir := os.Getenv(npm.Keep)
	if dir == "" {
		return ""
	}
	dir = filepath.Join(dir, r.kind.program(), unusual.ReplaceAllString(r.t.Name(), "-"))
	gittest.Must(r.t, os.MkdirAll(dir, 0o777))
	return dir
}

// payloads names, in the environment of a witness process, the directory in which it leaves its payload as it is.
const payloads = "E2E_PAYLOADS"

// hooks are the witness's hooks in a client's settings, on the events that tests look at. If what the client writes is kept,
// there are some on all others, too.
func (r *rig) hooks(seconds int, witnessed []string, others ...string) map[string]any {
	hooks := map[string]any{}
	add := func(command string, names []string) {
		for _, name := range names {
			hooks[name] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": seconds}}}}
		}
	}
	dir := r.kept()
	if dir == "" {
		add(r.witness.command, witnessed)
		return hooks
	}
	add(payloads+"='"+dir+"' "+r.witness.command, witnessed)
	add("cat > \"$(mktemp '"+dir+"/payload-XXXXXXXXXX')\"", others)
	return hooks
}

// keep copies the conversations.
func (r *rig) keep() {
	dir := r.kept()
	if dir == "" {
		return
	}
	n := 0
	for _, top := range []string{r.home, r.tmp} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // a client that ends
				return nil
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{".git", "mock", "witness"}, d.Name()):
				return filepath.SkipDir
			case !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") && !strings.HasSuffix(path, ".meta.json"):
				return nil
			case d.Name() == "history.jsonl" || d.Name() == "session_index.jsonl": // of all sessions, and no conversation
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n++
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%s", n, d.Name())), content, 0o666)
		})
		if err != nil {
			r.t.Errorf("keep what the client wrote: %v", err)
		}
	}
}
