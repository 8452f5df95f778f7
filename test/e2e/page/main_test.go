//go:build e2e

// Package page opens pages in headless Chromium, and uses them as a person does: testdata/drive.mjs clicks and types.
package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

// modules are what drives the browser, and what judges how accessible a page is, as the npm registry has them.
var modules = []string{"playwright-core@1.64.1", "axe-core@4.11.0"}

// installed is the directory of the modules, once per machine.
var installed string

func TestMain(m *testing.M) {
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
	os.Exit(gittest.Programs{M: m}.Run())
}

func install() error {
	for _, tool := range []string{"node", "npm", "chromium"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	installed = filepath.Join(cache, "git-agent-e2e", "page-"+modules[0]+"-"+modules[1])
	if _, err := os.Stat(installed); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(installed), 0o777); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(installed), "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	npm := exec.Command("npm", append([]string{"install", "--prefix", fresh, "--no-audit", "--no-fund", "--loglevel=error"}, modules...)...)
	npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm: %w", err)
	}
	return os.Rename(fresh, installed)
}
