//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// clientCache is the directory that a client is installed in, once per machine.
func clientCache(name string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "git-agent-e2e", name+"-"+releases[name].version), err
}

// clientIn returns the client's binary in an installation, or "" if there is none.
func clientIn(name, dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "node_modules", releases[name].binary))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// installClients installs the clients from the npm registry, unless the cache has them.
func installClients(ctx context.Context) error {
	for name := range releases {
		if err := installClient(ctx, name); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return nil
}

func installClient(ctx context.Context, name string) error {
	dir, err := clientCache(name)
	if err != nil {
		return err
	}
	if clientIn(name, dir) != "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	// Half an installation must not look like a whole one: install beside it and rename.
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	npm := exec.CommandContext(ctx, "npm", append([]string{
		"install", "--prefix", fresh, "--no-audit", "--no-fund", "--loglevel=error",
	}, releases[name].packages...)...)
	npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm: %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil && clientIn(name, dir) == "" {
		return err
	}
	if clientIn(name, dir) == "" {
		return fmt.Errorf("no binary in %s", dir)
	}
	return nil
}

// client is the path of the client's binary.
func (r *rig) client() string {
	r.t.Helper()
	dir, err := clientCache(r.kind.program())
	bin := clientIn(r.kind.program(), dir)
	if bin == "" {
		r.t.Fatalf("no client in %s: %v", dir, err)
	}
	return bin
}

// modules is the directory of the packages that were installed for a client.
func (r *rig) modules(name string) string {
	r.t.Helper()
	dir, err := clientCache(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return filepath.Join(dir, "node_modules")
}
