//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// clientVersion is the version that all facts in this package were seen with.
const clientVersion = "2.1.329"

// clientCache is the directory that the client is installed in, once per machine.
func clientCache() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "git-agent-e2e", "claude-"+clientVersion), err
}

// clientIn returns the client's binary in an installation, or "" if there is none.
func clientIn(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-*", "claude"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// installClient installs the client from the npm registry, unless the cache has it.
func installClient(ctx context.Context) error {
	dir, err := clientCache()
	if err != nil {
		return fmt.Errorf("install the client: %w", err)
	}
	if clientIn(dir) != "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return fmt.Errorf("install the client: %w", err)
	}
	// Half an installation must not look like a whole one: install beside it and rename.
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return fmt.Errorf("install the client: %w", err)
	}
	defer os.RemoveAll(fresh)
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", fresh, "--no-audit", "--no-fund", "--loglevel=error",
		"@anthropic-ai/claude-code@"+clientVersion)
	npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("install the client: npm: %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil && clientIn(dir) == "" {
		return fmt.Errorf("install the client: %w", err)
	}
	if clientIn(dir) == "" {
		return fmt.Errorf("install the client: no binary in %s", dir)
	}
	return nil
}

// client is the path of the client's binary.
func (r *rig) client() string {
	r.t.Helper()
	dir, err := clientCache()
	bin := clientIn(dir)
	if bin == "" {
		r.t.Fatalf("no client in %s: %v", dir, err)
	}
	return bin
}
