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

// ErrFormat is wrapped by errors about repositories that this program can't read and write, though git may.
var ErrFormat = errors.New("unsupported repository format")

// Format returns the object format of the repository. The first call reads one
// file; whatever that has beyond what git writes there, [Config.Supported] knows
// from git. It is SHA1 if the file can't be read: what is wrong with it, git
// will say.
func (r *Repo) Format() Format {
	if f := Format(r.format.Load()); f != 0 {
		return f
	}
	config, _ := os.ReadFile(filepath.Join(r.CommonDir, "config"))
	f := formatNamed(objectFormat(config))
	r.format.Store(uint32(f))
	return f
}

// formatNamed returns the format that git calls so, SHA1 if nothing is said of it.
func formatNamed(name string) Format {
	switch name {
	case "", SHA1.String():
		return SHA1
	case SHA256.String():
		return SHA256
	}
	return 0
}

// objectFormat reads extensions.objectFormat in a repository's own configuration. Git takes it from that file
// alone, without what the file includes.
func objectFormat(config []byte) string {
	if config = bytes.ToLower(config); !bytes.Contains(config, []byte("objectformat")) {
		return ""
	}
	format, section := "", ""
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

// Supported is an error that wraps [ErrFormat] if the repository has objects in another format than those that we
// know, or an extension that we don't know.
func (c Config) Supported() error {
	if name := c.Get("extensions.objectformat"); formatNamed(name) == 0 {
		return fmt.Errorf("%w: its objects are named by %s", ErrFormat, name)
	}
	for key := range c {
		name, ok := strings.CutPrefix(key, "extensions.")
		if ok && name != "objectformat" && !slices.Contains(harmless, name) {
			return fmt.Errorf("%w: it has the extension %q, which git-agent does not know", ErrFormat, name)
		}
	}
	return nil
}
