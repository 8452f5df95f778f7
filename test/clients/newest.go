//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"gitagent/internal/agent"
	"gitagent/test/e2e/npm"
)

// tries is how many versions are tried, the newest first: a registry may have a version before it has the packages of all
// platforms.
const tries = 5

// newest installs the newest version of a client that can be, and says which ones can't.
func newest(ctx context.Context, name string) (version string, err error) {
	out, err := exec.CommandContext(ctx, "npm", "view", npm.Clients[name].Packages[0], "versions", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("ask the registry for the versions of %s: %w", name, err)
	}
	var all []string
	if err := json.Unmarshal(out, &all); err != nil {
		return "", fmt.Errorf("read the versions of %s: %w", name, err)
	}
	for _, version := range candidates(all) {
		if err = npm.InstallClient(ctx, name, version); err == nil {
			return version, nil
		}
		fmt.Printf("%s %s is passed over: %v\n", name, version, err)
	}
	return "", fmt.Errorf("none of the newest versions of %s can be installed: %w", name, err)
}

// candidates are the versions to try: released ones, the newest first.
func candidates(all []string) []string {
	released := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return strings.Contains(v, "-") })
	slices.SortFunc(released, func(a, b string) int {
		switch {
		case agent.Newer(a, b):
			return -1
		case agent.Newer(b, a):
			return 1
		}
		return 0
	})
	return released[:min(tries, len(released))]
}
