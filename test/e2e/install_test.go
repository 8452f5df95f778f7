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

// installClients installs the clients from the npm registry, unless the cache has them: all at once, since npm
// mostly waits.
func installClients(ctx context.Context) error {
	var wait sync.WaitGroup
	errs := make([]error, len(npm.Clients))
	for i, name := range slices.Sorted(maps.Keys(npm.Clients)) {
		wait.Go(func() {
			if err := npm.InstallClient(ctx, name, npm.Version(name)); err != nil {
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
	path, err := npm.Executable(r.kind.program(), npm.Version(r.kind.program()))
	gittest.Must(r.t, err)
	return path
}

// modules is the directory of the packages that were installed for a client.
func (r *rig) modules(name string) string {
	r.t.Helper()
	dir, err := npm.Dir(npm.Installation(name, npm.Version(name)))
	gittest.Must(r.t, err)
	return filepath.Join(dir, "node_modules")
}
