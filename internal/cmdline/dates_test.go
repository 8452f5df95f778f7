package cmdline

import (
	"testing"
	"time"
)

func TestDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 7, 8, 9, 0, time.Local)
	now := at.Add(26 * time.Hour)
	zone := at.Format("-0700")
	for _, tt := range []struct{ value, short, long string }{
		{"", "26h", "Thu Mar 5 07:08:09 2026 " + zone},
		{"default", "Thu Mar 5 07:08:09 2026 " + zone, "Thu Mar 5 07:08:09 2026 " + zone},
		{"default-local", "Thu Mar 5 07:08:09 2026 " + zone, "Thu Mar 5 07:08:09 2026 " + zone},
		{"local", "Thu Mar 5 07:08:09 2026", "Thu Mar 5 07:08:09 2026"},
		{"iso", "2026-03-05 07:08:09 " + zone, "2026-03-05 07:08:09 " + zone},
		{"iso8601", "2026-03-05 07:08:09 " + zone, "2026-03-05 07:08:09 " + zone},
		{"iso-strict", at.Format(time.RFC3339), at.Format(time.RFC3339)},
		{"rfc", "Thu, 5 Mar 2026 07:08:09 " + zone, "Thu, 5 Mar 2026 07:08:09 " + zone},
		{"short", "2026-03-05", "2026-03-05"},
		{"relative", "26h", "26h ago"},
		{"human", "26h", "Thu 07:08"},
		{"format:%Y%m%d %H:%M", "20260305 07:08", "20260305 07:08"},
		{"format-local:%d.%m.", "05.03.", "05.03."},
		{"auto:short", "2026-03-05", "2026-03-05"},
	} {
		d, err := ParseDates(tt.value, true)
		if err != nil {
			t.Errorf("%s: %v", tt.value, err)
			continue
		}
		if short, long := d.Short(now, at), d.Long(now, at); short != tt.short || long != tt.long {
			t.Errorf("%s: %q, %q; want %q, %q", tt.value, short, long, tt.short, tt.long)
		}
		ago := tt.short
		if ago == "26h" {
			ago += " ago"
		}
		if got := d.Ago(now, at); got != ago {
			t.Errorf("%s: in a sentence %q, want %q", tt.value, got, ago)
		}
		if long, ago := d.Long(now, time.Time{}), d.Ago(now, time.Time{}); long != "" || ago != "" {
			t.Errorf("%s: the zero time is %q, %q", tt.value, long, ago)
		}
	}
	if d, err := ParseDates("auto:short", false); err != nil || d.Long(now, at) != "Thu Mar 5 07:08:09 2026 "+zone {
		t.Errorf("auto:short without a terminal: %q, %v", d.Long(now, at), err)
	}
	if _, err := ParseDates("sometime", true); err == nil {
		t.Error("an unknown format is no error")
	}
	for _, tt := range []struct {
		age  time.Duration
		want string
	}{{400 * 24 * time.Hour, "Mar 5 2026"}, {10 * 24 * time.Hour, "Thu Mar 5 07:08"}} {
		d, _ := ParseDates("human", true)
		if got := d.Long(at.Add(tt.age), at); got != tt.want {
			t.Errorf("human, %v: %q, want %q", tt.age, got, tt.want)
		}
	}
}
