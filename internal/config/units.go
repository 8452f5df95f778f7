package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// maxInt limits numbers of files, tokens or events.
const maxInt = math.MaxInt32

// parseSize reads a number of bytes with or without a unit. It is our own because the usual package
// compiles a regular expression at every start.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	var unit float64
	switch strings.ToLower(text[len(number):]) {
	case "", "b":
		unit = 1
	case "kb":
		unit = 1e3
	case "mb":
		unit = 1e6
	case "gb":
		unit = 1e9
	case "k", "kib":
		unit = 1 << 10
	case "m", "mib":
		unit = 1 << 20
	case "g", "gib":
		unit = 1 << 30
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	// A float64 counts exactly up to 2^53 bytes, which is more than any disk has.
	if err != nil || unit == 0 || !(n >= 0 && n*unit <= 1<<53) {
		return 0, fmt.Errorf(`want a size such as 4096 or "10MiB", not %q`, text)
	}
	return int64(n * unit), nil
}

// formatSize writes a number of bytes in TOML as [parseSize] reads it.
func formatSize(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n > 0 && n%unit.bytes == 0 {
			return quote(strconv.FormatInt(n/unit.bytes, 10) + unit.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

func formatInt(n int) string { return strconv.Itoa(n) }

// formatDuration is [time.Duration.String] without units that are zero: "5m", not "5m0s".
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// A Limit is a number of tokens, either absolute or as a part of a model's window. Exactly one of
// its fields is not zero.
type Limit struct {
	Tokens  int
	Percent float64
}

// Of returns the limit in tokens for a window of the given size.
func (l Limit) Of(window int) int {
	if l.Tokens > 0 {
		return l.Tokens
	}
	return int(l.Percent / 100 * float64(window))
}

// String returns the limit as TOML: 100000 or "50%", with its quotes.
func (l Limit) String() string {
	if l.Tokens > 0 {
		return strconv.Itoa(l.Tokens)
	}
	return quote(strconv.FormatFloat(l.Percent, 'f', -1, 64) + "%")
}

func parseLimit(value any) (Limit, error) {
	const forms = `want tokens such as 100000 or a part of the window such as "50%"`
	switch v := value.(type) {
	case int64:
		if v < 1 || v > maxInt {
			return Limit{}, fmt.Errorf("%s, not %d", forms, v)
		}
		return Limit{Tokens: int(v)}, nil
	case string:
		number, isPercent := strings.CutSuffix(v, "%")
		percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !isPercent || err != nil || !(percent > 0 && percent <= 100) {
			return Limit{}, fmt.Errorf("%s, not %q", forms, v)
		}
		return Limit{Percent: percent}, nil
	}
	return Limit{}, want(strings.TrimPrefix(forms, "want "), value)
}

// isBranchPrefix reports whether s followed by a mission's id is a branch name that git accepts.
// The rules are those of git check-ref-format; an id alone would look like an abbreviated hash.
func isBranchPrefix(s string) bool {
	if s == "" || s[0] == '-' || strings.ContainsAny(s, " ~^:?*[\\\x7f") ||
		strings.Contains(s, "..") || strings.Contains(s, "@{") {
		return false
	}
	for _, r := range s {
		if r < ' ' {
			return false
		}
	}
	for i, part := range strings.Split(s, "/") {
		last := i == strings.Count(s, "/")
		if part == "" && !last || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") && !last {
			return false
		}
	}
	return true
}

// quote writes a text as a TOML string on one line.
func quote(s string) string { return strconv.Quote(s) }

// quoteKey writes one part of a key as TOML does, with quotes only where it needs them.
func quoteKey(s string) string { return toml.Key{s}.String() }
