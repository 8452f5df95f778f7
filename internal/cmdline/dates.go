package cmdline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"
)

// Dates is a format of dates, as in git's log.date. The zero value shows ages
// in lists, and git's default format elsewhere.
type Dates struct {
	format string
	layout string // for package time, if it can write the format
}

var layouts = map[string]string{
	"default":        "Mon Jan 2 15:04:05 2006 -0700",
	"local":          "Mon Jan 2 15:04:05 2006",
	"iso":            "2006-01-02 15:04:05 -0700",
	"iso8601":        "2006-01-02 15:04:05 -0700",
	"iso-strict":     time.RFC3339,
	"iso8601-strict": time.RFC3339,
	"rfc":            "Mon, 2 Jan 2006 15:04:05 -0700",
	"rfc2822":        "Mon, 2 Jan 2006 15:04:05 -0700",
	"short":          "2006-01-02",
}

const strftimePrefix = "format:"

// ParseDates reads log.date. "auto:iso" is "iso" on a terminal only.
func ParseDates(value string, terminal bool) (Dates, error) {
	format, auto := strings.CutPrefix(value, "auto:")
	if auto && !terminal {
		format = "default"
	}
	switch own := strings.HasPrefix(format, strftimePrefix) || strings.HasPrefix(format, "format-local:"); {
	case own:
		return Dates{format: strings.Replace(format, "format-local:", strftimePrefix, 1)}, nil
	case format == "":
		return Dates{}, nil
	}
	format = strings.TrimSuffix(format, "-local") // all dates are local
	d := Dates{format, layouts[format]}
	switch {
	case d.layout != "", format == "relative", format == "human", format == "raw", format == "unix":
		return d, nil
	}
	return Dates{}, fmt.Errorf("log.date: unknown format %q", value)
}

// Short returns a date for a column: an age, "12m", if the format has no dates.
func (d Dates) Short(now, t time.Time) string {
	if d.format == "" || d.format == "relative" || d.format == "human" {
		return Age(now, t)
	}
	return d.Long(now, t)
}

// Ago returns a date for a sentence: as Short, but an age is "12m ago".
func (d Dates) Ago(now, t time.Time) string {
	date := d.Short(now, t)
	if date != "" && date == Age(now, t) {
		date += " ago"
	}
	return date
}

// Long returns a local date for its own line, or "" for the zero time.
func (d Dates) Long(now, t time.Time) string {
	t = t.Local()
	switch {
	case t.IsZero():
		return ""
	case d.layout != "":
		return t.Format(d.layout)
	case d.format == "relative":
		return d.Ago(now, t)
	case d.format == "raw":
		return strconv.FormatInt(t.Unix(), 10) + t.Format(" -0700")
	case d.format == "unix":
		return strconv.FormatInt(t.Unix(), 10)
	case d.format == "human":
		return t.Format(human(now.Local(), t))
	}
	if own, ok := strings.CutPrefix(d.format, strftimePrefix); ok {
		return strftime.Format(own, t)
	}
	return t.Format(layouts["default"])
}

// human omits the current year, and the date within the last five days.
func human(now, t time.Time) string {
	switch age := now.Sub(t); {
	case now.Year() != t.Year():
		return "Jan 2 2006"
	case age >= 0 && age < 5*24*time.Hour:
		return "Mon 15:04"
	}
	return "Mon Jan 2 15:04"
}
