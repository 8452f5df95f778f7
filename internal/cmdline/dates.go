package cmdline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"
)

// Dates says how dates are shown: as git's log.date has it. The zero value shows ages in lists, and
// elsewhere what git shows by default.
type Dates struct {
	format string
	layout string // of package time, if the format has one
}

// layouts are those of git's formats that package time can write.
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

// strftimePrefix begins a format of the user's own.
const strftimePrefix = "format:"

// ParseDates reads the value of log.date, "" if it is not set. With auto, as in "auto:iso", the
// format counts on a terminal only.
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
	format = strings.TrimSuffix(format, "-local") // all dates are local ones
	d := Dates{format, layouts[format]}
	switch {
	case d.layout != "", format == "relative", format == "human", format == "raw", format == "unix":
		return d, nil
	}
	return Dates{}, fmt.Errorf("log.date: unknown format %q", value)
}

// Short is a date in a column of a list: an age, "12m", unless a format with dates was asked for.
func (d Dates) Short(now, t time.Time) string {
	if d.format == "" || d.format == "relative" || d.format == "human" {
		return Age(now, t)
	}
	return d.Long(now, t)
}

// Ago is a date in a sentence: as Short, but an age is "12m ago".
func (d Dates) Ago(now, t time.Time) string {
	date := d.Short(now, t)
	if date != "" && date == Age(now, t) {
		date += " ago"
	}
	return date
}

// Long is a date on a line of its own, local, empty for the zero time.
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

// human leaves out what is plain: the year of this year, and of this week the day's date.
func human(now, t time.Time) string {
	switch age := now.Sub(t); {
	case now.Year() != t.Year():
		return "Jan 2 2006"
	case age >= 0 && age < 5*24*time.Hour:
		return "Mon 15:04"
	}
	return "Mon Jan 2 15:04"
}
