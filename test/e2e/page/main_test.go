//go:build e2e

// Package page opens pages in headless Chromium, and uses them as a person does: testdata/drive.mjs clicks and types.
package page

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gitagent/test/e2e/npm"
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
	name := "page-" + strings.Join(modules, "-")
	dir, err := npm.Dir(name)
	if err != nil {
		return err
	}
	installed = dir
	return npm.Install(context.Background(), name, modules...)
}
