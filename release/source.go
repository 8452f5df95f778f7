package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing/fstest"
	"time"
)

type source struct {
	version string // without v, such as 1.2.3
	time    time.Time
	files   fstest.MapFS // as in `git archive`
}

// readSource reads HEAD's files and writes them to work/src. That is outside a
// repository, so a build knows only what the archived files say of git.
func (r *release) readSource(ctx context.Context) error {
	// A user's configuration must not change the files.
	packed, err := output(exec.CommandContext(ctx, "git", "-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.attributesFile="+os.DevNull,
		"archive", "--format=zip", "HEAD"))
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return fmt.Errorf("read what git archive has packed: %w", err)
	}
	r.files = fstest.MapFS{}
	for _, f := range archive.File {
		mode := f.Mode()
		if mode.IsDir() {
			continue
		}
		if !mode.IsRegular() {
			return fmt.Errorf("%s is neither a file nor a directory", f.Name)
		}
		data, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			return err
		}
		r.files[f.Name] = &fstest.MapFile{Data: data, Mode: mode&0o111 | 0o644}
		r.time = f.Modified.UTC() // of the commit
	}
	if err := os.CopyFS(filepath.Join(r.work, "src"), r.files); err != nil {
		return err
	}
	archived, err := fs.ReadFile(r.files, "internal/version/archived.txt")
	if err != nil {
		return err
	}
	if r.version, err = versionOf(archived); err != nil {
		return err
	}
	if seconds := os.Getenv("SOURCE_DATE_EPOCH"); seconds != "" {
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return fmt.Errorf("the time of the release: %w", err)
		}
		r.time = time.Unix(n, 0).UTC()
	}
	return nil
}

// versionOf returns the version in a file of package version, without v.
func versionOf(archived []byte) (string, error) {
	words := strings.Fields(string(archived))
	if len(words) == 0 || strings.HasPrefix(words[0], "$") {
		return "", errors.New("internal/version/archived.txt has no commit: is export-subst in .gitattributes, and git 2.39 or newer?")
	}
	if len(words) == 1 { // no tag
		return "0.0.0-0-g" + words[0][:12], nil
	}
	return strings.TrimPrefix(words[1], "v"), nil
}

// debianVersion is a version as dpkg puts it into order: a pre-release before
// its release, commits since a tag after it. The package is the first one of
// it.
func debianVersion(version string) string {
	since := regexp.MustCompile(`-(\d+)-g([0-9a-f]+)$`)
	version = since.ReplaceAllString(version, "+$1.g$2")
	version = strings.Replace(version, "-", "~", 1)
	return strings.ReplaceAll(version, "-", ".") + "-1"
}
