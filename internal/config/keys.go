package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gitagent/internal/evidence"
	"gitagent/internal/except"
	"gitagent/internal/redact"
	"gitagent/internal/suggest"
)

// A key is one setting of a Config, to read and to show.
type key struct {
	name string
	set  func(value any) error
	text func() string // as TOML
}

const (
	patternsKey = "redact.patterns"
	namesKey    = "redact.names"

	everywhereKey = "record.everywhere"
	exceptKey     = "record.except"

	recallKey = "recall.edits"
)

// windowsTable is the table with patterns, not names, as keys.
const windowsTable = "context.windows"

// keys returns c's settings, without [windowsTable], as documented.
func (c *Config) keys() []key {
	return []key{
		size("capture.max_file_size", &c.Capture.MaxFileSize),
		integer("capture.max_untracked_files", &c.Capture.MaxUntrackedFiles, 0),
		size("capture.max_untracked_size", &c.Capture.MaxUntrackedSize),
		patterns("capture.exclude", &c.Capture.Exclude),
		prefix("capture.branch_prefix", &c.Capture.BranchPrefix),
		boolean("capture.subject_prompt", &c.Capture.SubjectPrompt),
		boolean("capture.tell_destroyed", &c.Capture.TellDestroyed),
		boolean(everywhereKey, &c.Recording.Everywhere),
		exceptions(exceptKey, &c.Recording.Except),
		texts(patternsKey, &c.Redact.Patterns, redact.MaxPatterns, redact.MaxPattern, func(s string) bool { return s != "" }),
		texts(namesKey, &c.Redact.Names, redact.MaxNames, redact.MaxName, redact.IsName),
		boolean("redact.people", &c.Redact.People),
		c.checks(evidence.Test),
		c.checks(evidence.Lint),
		c.checks(evidence.Build),
		c.checks(evidence.Types),
		integer("handoff.recent_commits", &c.Handoff.RecentCommits, 0),
		size("handoff.max_diff_bytes", &c.Handoff.MaxDiffBytes),
		duration("handoff.clean_grace", &c.Handoff.CleanGrace),
		duration("handoff.snapshot_timeout", &c.Handoff.SnapshotTimeout),
		boolean("context.enabled", &c.Context.Enabled),
		limit("context.warning", &c.Context.Warning),
		limit("context.critical", &c.Context.Critical),
		integer("context.fallback_tool_count", &c.Context.FallbackToolCount, 1),
		integer("context.check_frequency", &c.Context.CheckFrequency, 1),
		boolean("company.tell", &c.Company.Tell),
		boolean(recallKey, &c.Recall.Edits),
		boolean("retry.include_session_tail", &c.Retry.IncludeSessionTail),
		size("retry.session_tail_size", &c.Retry.SessionTailSize),
		text("fork.setup", &c.Fork.Setup),
		size("fork.include_size", &c.Fork.IncludeSize),
		integer("fork.include_files", &c.Fork.IncludeFiles, 0),
		file("trust.key", &c.Trust.Key),
		age("housekeeping.archive_after", &c.Housekeeping.ArchiveAfter),
		age("housekeeping.artifacts_age", &c.Housekeeping.ArtifactsAge),
		size("housekeeping.artifacts_size", &c.Housekeeping.ArtifactsSize),
		age("housekeeping.log_age", &c.Housekeeping.LogAge),
		sizeUpTo("housekeeping.log_size", &c.Housekeeping.LogSize, MaxLogSize),
	}
}

func isWindow(e entry) bool { return len(e.path) == 3 && e.path[:2].String() == windowsTable }

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

// unknownKey proposes the nearest key, of the same table if that exists.
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
	if near := suggest.Nearest(name[len(table):], siblings); near != "" {
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
	Origin string // [DefaultOrigin] or the path of the file; for two files, "a, b"
}

// Shown returns the value as it may be printed: what must not be recorded stays
// out of terminals and of reports to others, too.
func (v Value) Shown() string {
	if (v.Key == patternsKey || v.Key == namesKey) && v.Value != "[]" {
		return "[not shown]"
	}
	return v.Value
}

// DefaultOrigin is the origin of a setting that no file has.
const DefaultOrigin = "default"

// Values returns every setting, in the order of the documentation.
func (c *Config) Values() []Value {
	var values []Value
	for _, k := range c.keys() {
		values = append(values, c.value(k.name, k.text()))
		if k.name == "context.check_frequency" {
			for _, pattern := range slices.Sorted(maps.Keys(c.Context.Windows)) {
				values = append(values, c.value(windowsTable+"."+quoteKey(pattern), strconv.Itoa(c.Context.Windows[pattern])))
			}
			for _, model := range slices.Sorted(maps.Keys(c.Context.Learned)) {
				values = append(values, c.value(windowsTable+"."+quoteKey(model), strconv.Itoa(c.Context.Learned[model])))
			}
		}
	}
	return values
}

func (c *Config) value(name, text string) Value {
	return Value{Key: name, Value: text, Origin: cmp.Or(c.origins[name], DefaultOrigin)}
}

// setting returns a key: read checks a file's value, text formats it as TOML.
func setting[T any](name string, dst *T, read func(value any) (T, error), text func(T) string) key {
	return key{
		name: name,
		set: func(value any) error {
			v, err := read(value)
			if err == nil {
				*dst = v
			}
			return err
		},
		text: func() string { return text(*dst) },
	}
}

// as returns value as a T; what names the type in the error.
func as[T any](what string, value any) (T, error) {
	v, ok := value.(T)
	if !ok {
		return v, want(what, value)
	}
	return v, nil
}

func boolean(name string, dst *bool) key {
	read := func(value any) (bool, error) { return as[bool]("true or false", value) }
	return setting(name, dst, read, strconv.FormatBool)
}

func integer(name string, dst *int, least int64) key {
	return setting(name, dst, func(value any) (int, error) {
		n, err := as[int64]("a number", value)
		if err == nil && (n < least || n > maxInt) {
			err = fmt.Errorf("want a number from %d to %d, not %d", least, maxInt, n)
		}
		return int(n), err
	}, strconv.Itoa)
}

func size(name string, dst *int64) key {
	return setting(name, dst, func(value any) (int64, error) {
		switch v := value.(type) {
		case int64:
			if v < 0 {
				return 0, fmt.Errorf("want a size, not %d", v)
			}
			return v, nil
		case string:
			return parseSize(v)
		}
		return 0, want(`a size such as "10MiB"`, value)
	}, formatSize)
}

// sizeUpTo returns a key for a size from one byte to most.
func sizeUpTo(name string, dst *int64, most int64) key {
	var n int64
	read := size(name, &n)
	return setting(name, dst, func(value any) (int64, error) {
		err := read.set(value)
		if err == nil && (n < 1 || n > most) {
			err = fmt.Errorf("want a size from 1 byte to %s", strings.Trim(formatSize(most), `"`))
		}
		return n, err
	}, formatSize)
}

// age returns a key for hours, days or weeks; "" is zero.
func age(name string, dst *time.Duration) key {
	return setting(name, dst, func(value any) (time.Duration, error) {
		s, err := as[string](`an age such as "90d"`, value)
		if err != nil || s == "" {
			return 0, err
		}
		return ParseAge(s)
	}, func(d time.Duration) string { return strconv.Quote(formatAge(d)) })
}

func duration(name string, dst *time.Duration) key {
	const form = `a duration such as "90s" or "5m"`
	return setting(name, dst, func(value any) (time.Duration, error) {
		s, err := as[string](form, value)
		if err != nil {
			return 0, err
		}
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("want %s, not %q", form, s)
		}
		return d, nil
	}, func(d time.Duration) string { return strconv.Quote(formatDuration(d)) })
}

func limit(name string, dst *Limit) key { return setting(name, dst, parseLimit, Limit.String) }

func patterns(name string, dst *[]string) key {
	return setting(name, dst, func(value any) ([]string, error) {
		list, err := as[[]any](`a list of patterns such as ["*.iso"]`, value)
		var out []string
		for _, v := range list {
			pattern, err := as[string]("patterns that are texts", v)
			if err != nil {
				return nil, err
			}
			if pattern == "" || strings.ContainsAny(pattern, "\n\r\x00") {
				return nil, fmt.Errorf("%q is not a pattern", pattern)
			}
			out = append(out, pattern)
		}
		return out, err
	}, formatList)
}

// exceptions returns a key for patterns of repositories.
func exceptions(name string, dst *[]string) key {
	const most, size = 1000, 1000 // a hook has to match them all
	var list []string
	read := texts(name, &list, most, size, func(s string) bool { return s != "" })
	return setting(name, dst, func(value any) ([]string, error) {
		if err := read.set(value); err != nil {
			return nil, err
		}
		for _, text := range list {
			if _, err := except.Parse(text, "/", "/"); err != nil {
				return nil, fmt.Errorf("%q: %w", text, err)
			}
		}
		return list, nil
	}, formatList)
}

func formatList(list []string) string {
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, strconv.Quote(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// texts returns a key for a list of at most that many texts of a size.
func texts(name string, dst *[]string, most, size int, valid func(string) bool) key {
	return setting(name, dst, func(value any) ([]string, error) {
		list, err := as[[]any]("a list of texts", value)
		if err == nil && len(list) > most {
			err = fmt.Errorf("want at most %d, not %d", most, len(list))
		}
		var out []string
		for i, v := range list {
			s, err := as[string]("a list of texts", v)
			if err != nil {
				return nil, err
			}
			if len(s) > size || !utf8.ValidString(s) || !valid(s) {
				return nil, fmt.Errorf("number %d is empty or has more than %d bytes", i+1, size)
			}
			out = append(out, s)
		}
		return out, err
	}, formatList)
}

// checks is a setting with patterns of a kind of checks.
func (c *Config) checks(kind evidence.Kind) key {
	list := c.Checks[kind]
	k := texts("checks."+string(kind), &list, 100, 200, func(s string) bool { return strings.Trim(s, "* ") != "" })
	read := k.set
	k.set = func(value any) error {
		err := read(value)
		if err == nil && len(list) > 0 {
			c.Checks[kind] = list
		}
		return err
	}
	return k
}

func text(name string, dst *string) key {
	return setting(name, dst, func(value any) (string, error) { return as[string]("a text", value) }, strconv.Quote)
}

func file(name string, dst *string) key {
	return setting(name, dst, func(value any) (string, error) {
		s, err := as[string]("the path of a file", value)
		if rest, ok := strings.CutPrefix(s, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				s = filepath.Join(home, rest)
			}
		}
		if err == nil && s != "" && !filepath.IsAbs(s) {
			err = fmt.Errorf("%q is not an absolute path", s)
		}
		return s, err
	}, strconv.Quote)
}

func prefix(name string, dst *string) key {
	return setting(name, dst, func(value any) (string, error) {
		s, err := as[string]("a text", value)
		if err == nil && !isBranchPrefix(s) {
			err = fmt.Errorf("%q does not begin a valid branch name", s)
		}
		return s, err
	}, strconv.Quote)
}

// want returns the error for a value of the wrong type.
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
