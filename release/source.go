package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A source is the commit that a release is made of.
type source struct {
	version string // without v, such as 1.2.3
	time    time.Time
	files   []file // as `git archive` has them
}

// readSource reads HEAD's files and writes them to work/src, where they are built: outside of a repository,
// so that a build knows of git what the archived files say and no more.
func (r *release) readSource(ctx context.Context) error {
	// Without what a user's configuration could change in the files.
	archive := exec.CommandContext(ctx, "git", "-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.attributesFile="+os.DevNull, "archive", "--format=tar", "HEAD")
	packed, err := output(archive)
	if err != nil {
		return err
	}
	if r.files, err = readTar(packed); err != nil {
		return fmt.Errorf("read what git archive has packed: %w", err)
	}
	for _, f := range r.files {
		path := filepath.Join(r.work, "src", filepath.FromSlash(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, f.data, f.mode)); err != nil {
			return err
		}
	}
	if r.version, err = versionOf(r.file("internal/version/archived.txt")); err != nil {
		return err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		out, err := output(exec.CommandContext(ctx, "git", "show", "-s", "--format=%ct", "HEAD"))
		if err != nil {
			return err
		}
		seconds = strings.TrimSpace(string(out))
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the release: %w", err)
	}
	r.time = time.Unix(n, 0).UTC()
	return nil
}

// file is the content of a file; nil if there is none.
func (s *source) file(path string) []byte {
	for _, f := range s.files {
		if f.path == path {
			return f.data
		}
	}
	return nil
}

func readTar(packed []byte) ([]file, error) {
	var files []file
	for t := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		case h.Typeflag == tar.TypeXGlobalHeader || h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("%s is neither a file nor a directory", h.Name)
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		f := file{path: h.Name, mode: 0o644, data: data}
		if h.Mode&0o100 != 0 {
			f.mode = 0o755
		}
		files = append(files, f)
	}
}

// versionOf is the version that a file of package version has, without v.
func versionOf(archived []byte) (string, error) {
	words := strings.Fields(string(archived))
	if len(words) == 0 || strings.HasPrefix(words[0], "$") {
		return "", errors.New("internal/version/archived.txt has no commit: is export-subst in .gitattributes, and git 2.39 or newer?")
	}
	if len(words) == 1 { // there is no tag
		return "0.0.0-0-g" + words[0][:12], nil
	}
	return strings.TrimPrefix(words[1], "v"), nil
}

// debianVersion is a version as dpkg puts it into order: a pre-release before its release, commits since a
// tag after it. The package is the first one of it.
func debianVersion(version string) string {
	since := regexp.MustCompile(`-(\d+)-g([0-9a-f]+)$`) // that a version is some commits after its tag
	added := ""
	if m := since.FindStringSubmatchIndex(version); m != nil {
		added = "+" + version[m[2]:m[3]] + ".g" + version[m[4]:m[5]]
		version = version[:m[0]]
	}
	release, pre, isPre := strings.Cut(version, "-")
	if isPre {
		release += "~" + strings.ReplaceAll(pre, "-", ".")
	}
	return release + added + "-1"
}
