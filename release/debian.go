package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing/fstest"
	"time"
)

// addDebian makes a Debian package of an archive's files. nfpm writes it: in
// release/debian are its configuration and, in go.mod, its version.
func (r *release) addDebian(ctx context.Context, p platform, files fstest.MapFS) error {
	unpacked := filepath.Join(r.work, "unpacked-"+p.goarch)
	if err := os.CopyFS(unpacked, files); err != nil {
		return err
	}
	dest := filepath.Join(r.work, "package-"+p.goarch)
	install := exec.CommandContext(ctx, "sh", "install.sh")
	install.Dir, install.Env = unpacked, append(os.Environ(), "DESTDIR="+dest, "PREFIX=/usr")
	if _, err := output(install); err != nil {
		return err
	}
	version := debianVersion(r.version)
	if err := r.moveToDebian(filepath.Join(dest, "usr", "share"), version); err != nil {
		return err
	}
	here := platform{runtime.GOOS, runtime.GOARCH}
	nfpm := r.goCommand(ctx, here, "tool", "-modfile=release/debian/go.mod", "nfpm",
		"package", "--config", "release/debian/nfpm.yaml", "--packager", "deb", "--target", r.out)
	nfpm.Env = append(nfpm.Env, "VERSION="+version, "ARCH="+p.goarch, "MAINTAINER="+r.maintainer, "SITE="+r.site,
		"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	_, err := output(nfpm)
	return err
}

// moveToDebian changes what install.sh put into usr/share to Debian's layout.
func (r *release) moveToDebian(share, version string) error {
	doc := func(name string) string { return filepath.Join(share, "doc", "git-agent", name) }
	copyright := fmt.Appendf(nil, "%s\nThe programs contain parts of others; THIRD-PARTY, in this directory, has their licenses.\n", r.files["LICENSE"].Data)
	changes := fmt.Appendf(nil, "git-agent (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n",
		version, r.version, r.maintainer, r.time.Format(time.RFC1123Z))
	if err := errors.Join(
		os.Remove(filepath.Join(share, "git-agent", "installed")), // dpkg knows
		os.Rename(filepath.Join(share, "zsh", "site-functions"), filepath.Join(share, "zsh", "vendor-completions")),
		os.Remove(doc("LICENSE")),
		os.WriteFile(doc("copyright"), copyright, 0o666),
		os.WriteFile(doc("changelog"), r.files["CHANGELOG.md"].Data, 0o666),
		os.WriteFile(doc("changelog.Debian"), changes, 0o666),
	); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(share, "man", "man1", "*"))
	if err != nil {
		return err
	}
	for _, path := range append(pages, doc("changelog"), doc("changelog.Debian")) {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if data, err = compressed(data); err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(path+".gz", data, 0o666), os.Remove(path)); err != nil {
			return err
		}
	}
	return nil
}
