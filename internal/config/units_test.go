package config

import (
	"testing"
	"time"

	"gitagent/test/gittest"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int64 // -1 for an error
	}{
		{"0", 0},
		{"4096", 4096},
		{"10MiB", 10 << 20},
		{"10 MiB", 10 << 20},
		{"10mib", 10 << 20},
		{"10M", 10 << 20},
		{"10MB", 10_000_000},
		{"1.5KiB", 1536},
		{"2GiB", 2 << 30},
		{"3GB", 3_000_000_000},
		{"7k", 7 << 10},
		{"1kb", 1000},
		{"12B", 12},
		{"", -1},
		{"MiB", -1},
		{"-1MiB", -1},
		{"1TiB", -1},
		{"1 000", -1},
		{"0x10", -1},
		{"1e300", -1},
		{"99999999GiB", -1},
		{"NaN", -1},
		{"Inf", -1},
	} {
		got, err := parseSize(tt.text)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("parseSize(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 1: "1", 1000: "1000", 4096: `"4KiB"`, 10 << 20: `"10MiB"`, 1 << 30: `"1GiB"`, 1<<30 + 1: "1073741825"} {
		if got := formatSize(n); got != want {
			t.Errorf("formatSize(%d) = %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 10 * time.Second: "10s", 5 * time.Minute: "5m", 90 * time.Minute: "1h30m",
		2 * time.Hour: "2h", 100 * time.Minute: "1h40m", 61 * time.Second: "1m1s", 1500 * time.Millisecond: "1.5s",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%d) = %s, want %s", d, got, want)
		}
	}
}

// TestBranchPrefix asks git about every prefix.
func TestBranchPrefix(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t)
	for _, prefix := range []string{
		"agent/mission/", "a", "a/", "bot-", "a.", "a.lock", "a.lock/", "a/.b", ".a", "a/.", "a//b", "/a", "-a", "@", "@{", "a@{b",
		"a b", "a~", "a^", "a:", "a?", "a*", "a[", "a\\", "a..b", "a\x7f", "a\x01", "ä/", "a\tb", "a]", "/", "a.lock.b", "HEAD/",
	} {
		_, err := repo.Try("check-ref-format", "--branch", prefix+"a1b2c3d4")
		if got, want := isBranchPrefix(prefix), err == nil; got != want {
			t.Errorf("isBranchPrefix(%q) = %t, git says %t", prefix, got, want)
		}
	}
	if isBranchPrefix("") {
		t.Error(`isBranchPrefix("") = true; an id alone looks like an abbreviated hash`)
	}
}
