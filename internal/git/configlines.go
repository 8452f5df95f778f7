package git

import (
	"context"
	"path/filepath"
	"strings"
)

// A ConfigLine is one value of git's configuration, and where it is set.
type ConfigLine struct {
	Scope      string // system, global, local, worktree or command
	Origin     string // the path of a file, absolute; or as git names what is none
	Key, Value string // as in a [Config]
}

// ConfigLines reads the effective configuration in one git process, in the
// order in which git reads it. The next [Repo.Config] needs none.
func (r *Repo) ConfigLines(ctx context.Context) ([]ConfigLine, error) {
	out, err := r.Output(ctx, nil, "config", "-z", "--show-scope", "--show-origin", "--list")
	if err != nil {
		return nil, err
	}
	var lines []ConfigLine
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) >= 3; fields = fields[3:] {
		key, value, ok := strings.Cut(fields[2], "\n")
		if !ok {
			value = "true" // a key without a value is a true boolean
		}
		origin, isFile := strings.CutPrefix(fields[1], "file:")
		if origin = filepath.FromSlash(origin); isFile && !filepath.IsAbs(origin) {
			origin = filepath.Join(r.dir, origin)
		}
		lines = append(lines, ConfigLine{fields[0], origin, key, value})
	}
	conf := ConfigOf(lines)
	r.lately.Store(&conf)
	return lines, nil
}

// ConfigOf returns the configuration that lines make.
func ConfigOf(lines []ConfigLine) Config {
	c := make(Config)
	for _, l := range lines {
		c[l.Key] = append(c[l.Key], l.Value)
	}
	return c
}
