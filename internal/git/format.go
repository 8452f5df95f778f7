package git

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git/object"
)

// ErrFormat is wrapped by errors about repositories that we can't handle,
// though git may.
var ErrFormat = errors.New("unsupported repository format")

// Format returns the repository's object format. The first call reads the
// config file; if it can't, the format is SHA1, and git will report the error.
// [Config.Supported] checks for formats as git sees them.
func (r *Repo) Format() object.Format {
	if f := object.Format(r.format.Load()); f != 0 {
		return f
	}
	config, _ := os.ReadFile(filepath.Join(r.CommonDir, "config"))
	f := formatNamed(strings.ToLower(extension(config, "objectformat")))
	r.format.Store(uint32(f))
	return f
}

func formatNamed(name string) object.Format {
	switch name {
	case "", object.SHA1.String():
		return object.SHA1
	case object.SHA256.String():
		return object.SHA256
	}
	return 0
}

// extension reads extensions.<name> of a config file. Like git, it ignores
// includes.
func extension(config []byte, name string) (value string) {
	if !bytes.Contains(bytes.ToLower(config), []byte(name)) {
		return ""
	}
	section := ""
	for line := range strings.Lines(string(config)) {
		line = strings.TrimSpace(line)
		if header, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(header, "[") {
			section, line = strings.TrimSpace(header[1:]), rest
		}
		key, text, _ := strings.Cut(line, "=")
		if !strings.EqualFold(section, "extensions") || !strings.EqualFold(strings.TrimSpace(key), name) {
			continue
		}
		if quoted, ok := strings.CutPrefix(strings.TrimSpace(text), `"`); ok {
			text = quoted[:max(strings.LastIndexByte(quoted, '"'), 0)]
			value = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(text)
			continue
		}
		if i := strings.IndexAny(text, ";#"); i >= 0 {
			text = text[:i]
		}
		value = strings.TrimSpace(text)
	}
	return value
}

// harmless are the extensions of git 2.55 that don't affect us, all but
// compatobjectformat, which is incomplete there.
var harmless = []string{
	"noop", "noop-v1", "partialclone", "preciousobjects", "refstorage", "relativeworktrees", "submodulepathconfig", "worktreeconfig",
}

// Supported returns an error that wraps [ErrFormat] for an unknown object
// format or extension.
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
