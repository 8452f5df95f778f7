package git

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sha1Format is the object format of a repository that says nothing of it.
const sha1Format = "sha1"

// ErrFormat is wrapped by errors about repositories that this program can't read and write, though git may.
var ErrFormat = errors.New("unsupported repository format")

// Format returns the object format of the repository, "sha1" or "sha256". It reads one file; whatever that
// has beyond what git writes there, [Config.Supported] knows from git.
func (r *Repo) Format() string { return formatOf(r.CommonDir) }

// FormatIn does so for the repository in which git would work in dir and the present environment. It is
// ObjectFormat if there is none.
func FormatIn(dir string) string {
	in := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	common := os.Getenv("GIT_COMMON_DIR")
	if gitDir := os.Getenv("GIT_DIR"); common != "" {
		common = in(common)
	} else if gitDir != "" {
		gitDir, _ = gitDirOf(in(gitDir))
		common, _ = commonOf(gitDir)
	} else {
		_, _, common, _ = locate(dir)
	}
	return formatOf(common)
}

// formatOf is ObjectFormat for what can't be read: whatever is wrong with it, git will say.
func formatOf(common string) string {
	config, err := os.ReadFile(filepath.Join(common, "config"))
	if common == "" || err != nil {
		return ObjectFormat
	}
	return objectFormat(config)
}

// objectFormat reads extensions.objectFormat in a repository's own configuration. Git takes it from that file
// alone, without what the file includes.
func objectFormat(config []byte) string {
	format := sha1Format
	if config = bytes.ToLower(config); !bytes.Contains(config, []byte("objectformat")) {
		return format
	}
	section := ""
	for line := range strings.Lines(string(config)) {
		line = strings.TrimSpace(line)
		if header, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(header, "[") {
			section, line = strings.TrimSpace(header[1:]), rest
		}
		key, value, _ := strings.Cut(line, "=")
		if section == "extensions" && strings.TrimSpace(key) == "objectformat" {
			value, _, _ = strings.Cut(strings.ReplaceAll(value, ";", "#"), "#")
			format = strings.Trim(value, "\" \t\r\n")
		}
	}
	return format
}

// The extensions of the repository format that change nothing of what we read and write without git; those of git
// 2.55 but for compatobjectformat, which is not complete there.
var harmless = []string{
	"noop", "noop-v1", "partialclone", "preciousobjects", "refstorage", "relativeworktrees", "submodulepathconfig", "worktreeconfig",
}

// Supported is an error that wraps [ErrFormat] if the repository has objects in another format than ObjectFormat,
// or an extension that we don't know.
func (c Config) Supported() error {
	format := c.Get("extensions.objectformat")
	if format == "" {
		format = sha1Format
	}
	if format != ObjectFormat {
		return fmt.Errorf("%w: its objects are named by %s, and this program is built for %s", ErrFormat, format, ObjectFormat)
	}
	for key := range c {
		name, ok := strings.CutPrefix(key, "extensions.")
		if ok && name != "objectformat" && !slices.Contains(harmless, name) {
			return fmt.Errorf("%w: it has the extension %q, which git-agent does not know", ErrFormat, name)
		}
	}
	return nil
}
