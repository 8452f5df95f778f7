package config

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gitagent/internal/spell"
)

// A key is one setting of a Config: how to read it, and how to show it.
type key struct {
	name string
	set  func(value any) error
	text func() string // as TOML
}

// windowsTable is the table whose keys are patterns, not names.
const windowsTable = "context.windows"

// keys lists the settings of c, except those in [windowsTable], in the order of the documentation.
func (c *Config) keys() []key {
	return []key{
		size("capture.max_file_size", &c.Capture.MaxFileSize),
		integer("capture.max_untracked_files", &c.Capture.MaxUntrackedFiles, 0),
		size("capture.max_untracked_size", &c.Capture.MaxUntrackedSize),
		patterns("capture.exclude", &c.Capture.Exclude),
		prefix("capture.branch_prefix", &c.Capture.BranchPrefix),
		boolean("capture.subject_prompt", &c.Capture.SubjectPrompt),
		integer("handoff.recent_commits", &c.Handoff.RecentCommits, 0),
		size("handoff.max_diff_bytes", &c.Handoff.MaxDiffBytes),
		duration("handoff.clean_grace", &c.Handoff.CleanGrace),
		duration("handoff.snapshot_timeout", &c.Handoff.SnapshotTimeout),
		boolean("context.enabled", &c.Context.Enabled),
		limit("context.warning", &c.Context.Warning),
		limit("context.critical", &c.Context.Critical),
		integer("context.fallback_tool_count", &c.Context.FallbackToolCount, 1),
		integer("context.check_frequency", &c.Context.CheckFrequency, 1),
		boolean("retry.include_session_tail", &c.Retry.IncludeSessionTail),
		size("retry.session_tail_size", &c.Retry.SessionTailSize),
	}
}

// isWindow reports whether e is a key of [windowsTable].
func isWindow(e entry) bool { return len(e.path) == 3 && e.path[:2].String() == windowsTable }

// set applies one entry to the setting that it names.
func (c *Config) set(e entry) error {
	if isWindow(e) {
		return c.setWindow(e.path[2], e.value)
	}
	names := []string{windowsTable}
	for _, k := range c.keys() {
		if k.name == e.key {
			return k.set(e.value)
		}
		names = append(names, k.name)
	}
	switch m, isTable := e.value.(map[string]any); {
	case !slices.ContainsFunc(names, func(name string) bool { return name == e.key || strings.HasPrefix(name, e.key+".") }):
		return unknownKey(e.key, names)
	case isTable && len(m) == 0:
		return nil // a table without keys
	}
	return errors.New("this is a table")
}

// unknownKey names the nearest key of the same table, or of all keys if there is no such table.
func unknownKey(name string, names []string) error {
	table := name[:strings.LastIndexByte(name, '.')+1]
	var siblings []string
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, table); ok {
			siblings = append(siblings, rest)
		}
	}
	if len(siblings) == 0 {
		table, siblings = "", names
	}
	if near := spell.Nearest(name[len(table):], siblings); near != "" {
		return fmt.Errorf("unknown key, did you mean %s%s?", table, near)
	}
	return errors.New("unknown key")
}

func (c *Config) setWindow(pattern string, value any) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("%q is not a pattern", pattern)
	}
	tokens := 0
	if err := integer("", &tokens, 1).set(value); err != nil {
		return err
	}
	c.Context.Windows[pattern] = tokens
	return nil
}

// A Value is one setting in effect.
type Value struct {
	Key    string // "capture.max_file_size"
	Value  string // as TOML
	Origin string // "default" or the path of the file; for two files, "a, b"
}

// Values returns every setting, in the order of the documentation.
func (c *Config) Values() []Value {
	var values []Value
	for _, k := range c.keys() {
		values = append(values, c.value(k.name, k.text()))
		if k.name == "context.check_frequency" {
			for _, pattern := range slices.Sorted(maps.Keys(c.Context.Windows)) {
				values = append(values, c.value(windowsTable+"."+quoteKey(pattern), formatInt(c.Context.Windows[pattern])))
			}
		}
	}
	return values
}

func (c *Config) value(name, text string) Value {
	origin := c.origins[name]
	if origin == "" {
		origin = "default"
	}
	return Value{Key: name, Value: text, Origin: origin}
}

func boolean(name string, dst *bool) key {
	return key{
		name: name,
		set: func(value any) error {
			b, ok := value.(bool)
			if !ok {
				return want("true or false", value)
			}
			*dst = b
			return nil
		},
		text: func() string { return fmt.Sprint(*dst) },
	}
}

func integer(name string, dst *int, least int64) key {
	return key{
		name: name,
		set: func(value any) error {
			n, ok := value.(int64)
			if !ok {
				return want("a number", value)
			}
			if n < least || n > maxInt {
				return fmt.Errorf("want a number from %d to %d, not %d", least, maxInt, n)
			}
			*dst = int(n)
			return nil
		},
		text: func() string { return formatInt(*dst) },
	}
}

func size(name string, dst *int64) key {
	return key{
		name: name,
		set: func(value any) error {
			switch v := value.(type) {
			case int64:
				if v < 0 {
					return fmt.Errorf("want a size, not %d", v)
				}
				*dst = v
				return nil
			case string:
				n, err := parseSize(v)
				if err == nil {
					*dst = n
				}
				return err
			}
			return want(`a size such as "10MiB"`, value)
		},
		text: func() string { return formatSize(*dst) },
	}
}

func duration(name string, dst *time.Duration) key {
	return key{
		name: name,
		set: func(value any) error {
			s, ok := value.(string)
			if !ok {
				return want(`a duration such as "90s" or "5m"`, value)
			}
			d, err := time.ParseDuration(s)
			if err != nil || d < 0 {
				return fmt.Errorf(`want a duration such as "90s" or "5m", not %q`, s)
			}
			*dst = d
			return nil
		},
		text: func() string { return quote(formatDuration(*dst)) },
	}
}

func limit(name string, dst *Limit) key {
	return key{
		name: name,
		set: func(value any) error {
			l, err := parseLimit(value)
			if err == nil {
				*dst = l
			}
			return err
		},
		text: func() string { return dst.String() },
	}
}

func patterns(name string, dst *[]string) key {
	return key{
		name: name,
		set: func(value any) error {
			list, ok := value.([]any)
			if !ok {
				return want(`a list of patterns such as ["*.iso"]`, value)
			}
			var out []string
			for _, v := range list {
				pattern, ok := v.(string)
				if !ok {
					return want("patterns that are texts", v)
				}
				if pattern == "" || strings.ContainsAny(pattern, "\n\r\x00") {
					return fmt.Errorf("%q is not a pattern", pattern)
				}
				out = append(out, pattern)
			}
			*dst = out
			return nil
		},
		text: func() string {
			quoted := make([]string, len(*dst))
			for i, pattern := range *dst {
				quoted[i] = quote(pattern)
			}
			return "[" + strings.Join(quoted, ", ") + "]"
		},
	}
}

func prefix(name string, dst *string) key {
	return key{
		name: name,
		set: func(value any) error {
			s, ok := value.(string)
			if !ok {
				return want("a text", value)
			}
			if !isBranchPrefix(s) {
				return fmt.Errorf("%q does not begin a valid branch name", s)
			}
			*dst = s
			return nil
		},
		text: func() string { return quote(*dst) },
	}
}

// want is the error for a value of the wrong type.
func want(what string, value any) error {
	is := "a date"
	switch value.(type) {
	case bool:
		is = "true or false"
	case string:
		is = "a text"
	case int64, float64:
		is = fmt.Sprint(value)
	case []any, []map[string]any:
		is = "a list"
	case map[string]any:
		is = "a table"
	}
	return fmt.Errorf("want %s, not %s", what, is)
}
