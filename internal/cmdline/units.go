package cmdline

import (
	"fmt"
	"strings"
	"time"
)

// Age returns the time since then in one unit, "12m", or "" for the zero time.
func Age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	case d < 2*365*24*time.Hour:
		return fmt.Sprintf("%dmo", int(d/(30*24*time.Hour)))
	}
	return fmt.Sprintf("%dy", int(d/(365*24*time.Hour)))
}

// Plural returns a number and its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ory"); ok {
		return fmt.Sprintf("%d %sories", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Size formats a number of bytes in binary units: 512 B, 1.5 KiB, 20 MiB.
func Size(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	unit, size := 0, float64(n)/(1<<10)
	for ; size >= 1<<10; size /= 1 << 10 {
		unit++
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return fmt.Sprintf("%.*f %ciB", digits, size, "KMGTPE"[unit])
}

// Count formats a number for a column: 999, 45k, 1.2M, and "" for 0.
func Count(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
