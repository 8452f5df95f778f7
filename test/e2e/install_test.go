//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"gitagent/test/e2e/npm"
	"gitagent/test/gittest"
)

// A release is a client as the npm registry has it.
type release struct {
	version  string   // that all facts in this package were seen with
	packages []string // the client's is the first; the others it would fetch by itself when it starts
	binary   string   // a pattern below node_modules
}

// releases are the clients that are run, by what --agent calls them.
var releases = map[string]release{
	"claude": {"2.1.330", []string{"@anthropic-ai/claude-code@2.1.330"}, "@anthropic-ai/claude-code-*/claude"},
	"codex":  {"0.169.0", []string{"@openai/codex@0.169.0"}, "@openai/codex-*/vendor/*/bin/codex"},
	"opencode": {
		"1.18.33",
		[]string{"opencode-ai@1.18.33", "@opencode-ai/plugin@1.18.33"},
		"opencode-ai/bin/opencode.exe",
	},
	"gemini": {"0.61.0", []string{"@google/gemini-cli@0.61.0"}, "@google/gemini-cli/bundle/gemini.js"},
}

// installation is the name of a client's installation.
func installation(name string) string { return name + "-" + releases[name].version }

// executable is the path of a client's binary.
func executable(name string) (string, error) {
	dir, err := npm.Dir(installation(name))
	if err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", releases[name].binary))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no binary in %s", dir)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// installClients installs the clients from the npm registry, unless the cache has them: all at once, since npm
// mostly waits.
func installClients(ctx context.Context) error {
	var wait sync.WaitGroup
	errs := make([]error, len(releases))
	for i, name := range slices.Sorted(maps.Keys(releases)) {
		wait.Go(func() {
			err := npm.Install(ctx, installation(name), releases[name].packages...)
			if err == nil {
				_, err = executable(name)
			}
			if err != nil {
				errs[i] = fmt.Errorf("install %s: %w", name, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// client is the path of the client's binary.
func (r *rig) client() string {
	r.t.Helper()
	path, err := executable(r.kind.program())
	gittest.Must(r.t, err)
	return path
}

// modules is the directory of the packages that were installed for a client.
func (r *rig) modules(name string) string {
	r.t.Helper()
	dir, err := npm.Dir(installation(name))
	gittest.Must(r.t, err)
	return filepath.Join(dir, "node_modules")
}
