package cmdline

import "testing"

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 10_000: "9.8 KiB", 10_240: "10 KiB",
		1_000_000: "977 KiB", 20 << 20: "20 MiB", 3 << 30: "3.0 GiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "", 1: "1", 999: "999", 1000: "1k", 1499: "1k", 45_321: "45k", 200_000: "200k", 999_499: "999k", 999_500: "1.0M", 1_234_567: "1.2M",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
