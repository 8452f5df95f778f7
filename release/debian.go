package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// overrides says why lintian is wrong about us.
const overrides = `# Programs in Go have no shared libraries.
git-agent: statically-linked-binary
# It is no upload to Debian.
git-agent: initial-upload-closes-no-bugs *
`

// addDebian makes a package for Debian of the files of an archive: what install.sh installs from there, in
// Debian's places.
func (r *release) addDebian(ctx context.Context, p platform, files []file) error {
	unpacked := filepath.Join(r.work, "unpacked-"+p.goarch)
	for _, f := range files {
		path := filepath.Join(unpacked, filepath.FromSlash(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, f.data, f.mode)); err != nil {
			return err
		}
	}
	dest := filepath.Join(r.work, "package-"+p.goarch)
	install := exec.CommandContext(ctx, "sh", "install.sh")
	install.Dir, install.Env = unpacked, append(os.Environ(), "DESTDIR="+dest, "PREFIX=/usr")
	if _, err := output(install); err != nil {
		return err
	}
	data, err := readTree(dest)
	if err != nil {
		return err
	}
	version := debianVersion(r.version)
	doc := func(name string) string { return "usr/share/doc/git-agent/" + name }
	installed := data
	data = []file{
		{doc("changelog.gz"), 0o644, compressed(r.file("CHANGELOG.md"))},
		{doc("changelog.Debian.gz"), 0o644, compressed(fmt.Appendf(nil, "git-agent (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n",
			version, r.version, r.maintainer, r.time.Format(time.RFC1123Z)))},
		{doc("README.md"), 0o644, r.file("README.md")},
		{doc("SECURITY.md"), 0o644, r.file("SECURITY.md")},
		{"usr/share/lintian/overrides/git-agent", 0o644, []byte(overrides)},
	}
	for _, f := range installed {
		switch {
		case f.path == "usr/share/git-agent/installed": // dpkg knows
			continue
		case f.path == doc("LICENSE"):
			f.path, f.data = doc("copyright"), append(slices.Clone(f.data), "\nThe programs contain parts of others; THIRD-PARTY, in this directory, has their licenses.\n"...)
		case strings.HasPrefix(f.path, "usr/share/man/"):
			f.path, f.data = f.path+".gz", compressed(f.data)
		case strings.HasPrefix(f.path, "usr/share/zsh/site-functions/"):
			f.path = strings.Replace(f.path, "site-functions", "vendor-completions", 1)
		}
		data = append(data, f)
	}

	var sums bytes.Buffer
	size := 0
	for _, f := range inOrder(data) {
		size += (len(f.data) + 1023) / 1024
		if f.mode.IsDir() {
			size++
			continue
		}
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.path)
	}
	control := fmt.Appendf(nil, `Package: git-agent
Version: %s
Section: vcs
Priority: optional
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: git (>= 1:2.39)
Suggests: tmux
Homepage: %s
Description: record, hand off and fork the turns of coding agents in git
 git-agent records every turn of a coding agent in its repository, code and
 conversation, so that you can see what the agent did, go back to any turn,
 and continue from there. It is all git objects, notes and refs; there is no
 daemon, no database and no server.
`, version, p.goarch, r.maintainer, size, r.site)
	return r.add(fmt.Sprintf("git-agent_%s_%s.deb", version, p.goarch), func(w io.Writer) error {
		if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
			return err
		}
		for _, member := range []struct {
			name string
			pack packer
		}{
			{"debian-binary", func(w io.Writer) error { _, err := io.WriteString(w, "2.0\n"); return err }},
			{"control.tar.gz", tarball("./", []file{{"control", 0o644, control}, {"md5sums", 0o644, sums.Bytes()}}, r.time)},
			{"data.tar.gz", tarball("./", data, r.time)},
		} {
			var content bytes.Buffer
			if err := member.pack(&content); err != nil {
				return err
			}
			n := content.Len()
			if n%2 == 1 {
				content.WriteByte('\n')
			}
			header := fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", member.name, r.time.Unix(), 0, 0, 0o100644, n)
			if _, err := io.WriteString(w, header+content.String()); err != nil {
				return err
			}
		}
		return nil
	})
}

// readTree reads all files below dir.
func readTree(dir string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files = append(files, file{filepath.ToSlash(name), info.Mode().Perm(), data})
		return err
	})
	return files, err
}

// compressed is data as `gzip -9n` makes it, without a name and a time.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}
