package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

const maxInt = math.MaxInt32

// parseSize reads a number of bytes, perhaps with a unit. The usual package
// would compile a regular expression at every start.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9,
		"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[strings.ToLower(text[len(number):])]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	// A float64 is exact up to 2^53 bytes, more than any disk has.
	if err != nil || unit == 0 || !(n >= 0 && n*unit <= 1<<53) {
		return 0, fmt.Errorf(`want a size such as 4096 or "10MiB", not %q`, text)
	}
	return int64(n * unit), nil
}

// formatSize returns a size in TOML, as [parseSize] reads it.
func formatSize(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n > 0 && n%unit.bytes == 0 {
			return strconv.Quote(strconv.FormatInt(n/unit.bytes, 10) + unit.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

const day = 24 * time.Hour

// ParseAge reads a number of hours, days or weeks, such as 90d.
func ParseAge(s string) (time.Duration, error) {
	for unit, d := range map[string]time.Duration{"h": time.Hour, "d": day, "w": 7 * day} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < 100_000 {
				return time.Duration(n) * d, nil
			}
		}
	}
	return 0, fmt.Errorf("age %q: it is a number and one of h, d, w", s)
}

// formatAge returns an age as [ParseAge] reads it; "" for zero.
func formatAge(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	}
	return strconv.Itoa(int(d/time.Hour)) + "h"
}

// formatDuration formats d without units of zero: "5m", not "5m0s".
func formatDuration(d time.Duration) string {
	s := d.String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, end) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// A Limit is a number of tokens or a percentage of a window; the other is zero.
type Limit struct {
	Tokens  int
	Percent float64
}

// Of returns the limit in tokens for a window.
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
	return strconv.Quote(strconv.FormatFloat(l.Percent, 'f', -1, 64) + "%")
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

// isBranchPrefix reports whether s with a mission's id is a branch name, by the
// rules of git check-ref-format. An id alone would look like a short hash.
func isBranchPrefix(s string) bool {
	if s == "" || s[0] == '-' || strings.ContainsAny(s, " ~^:?*[\\\x7f") ||
		strings.Contains(s, "..") || strings.Contains(s, "@{") ||
		strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return false
	}
	for i, part := range strings.Split(s, "/") {
		last := i == strings.Count(s, "/")
		if part == "" && !last || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") && !last {
			return false
		}
	}
	return true
}

// quoteKey returns one part of a key, quoted if TOML needs it.
func quoteKey(s string) string { return toml.Key{s}.String() }
