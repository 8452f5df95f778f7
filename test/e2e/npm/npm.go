//go:build unix

// Package npm installs what tests run from the npm registry: once a machine, and where the next run finds it again.
package npm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Dir is the directory of an installation in the user's cache. name must say which versions it has: another
// version is another installation.
func Dir(name string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "git-agent-e2e", name), err
}

// Install installs packages, each with its version, in the directory of that name, unless they are there. Of several
// runs at once, one does it and the others wait.
func Install(ctx context.Context, name string, packages ...string) error {
	dir, err := Dir(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer lock.Close() // and with that unlocked, also when this process is killed
	if err := flock(lock); err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	// Half an installation must not look like a whole one: it is made beside it and renamed. What a run that was
	// killed has left is nobody's.
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o777); err != nil {
		return err
	}
	npm := exec.CommandContext(ctx, "npm", append([]string{
		"install", "--prefix", fresh, "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error",
	}, packages...)...)
	npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm install %q: %w", packages, err)
	}
	return os.Rename(fresh, dir)
}

// flock waits until nobody else has the lock.
func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
