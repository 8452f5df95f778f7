package ledger_test

import (
	"testing"

	"gitagent/internal/ledger"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, want string // "" for an error
	}{
		{"1", "1"},
		{"1-4,7", "1-4,7"},
		{"7,1-4", "1-4,7"},
		{"1,2,3", "1-3"},
		{"1-3,2-6", "1-6"},
		{"1-9,2-3", "1-9"},
		{"4, 2", "2,4"},
		{"1-999999", "1-999999"},
		{"", ""},
		{"0", ""},
		{"01", ""},
		{"+1", ""},
		{"-3", ""},
		{"3-", ""},
		{"4-1", ""},
		{"1..4", ""},
		{"1-2-3", ""},
		{"1000000", ""},
		{"1,", ""},
	} {
		got, err := ledger.ParseRanges(tt.in)
		if got.String() != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("ParseRanges(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	r := ledger.RangesOf(7, 2, 1).With(ledger.RangesOf(3, 9))
	if got, want := r.String(), "1-3,7,9"; got != want {
		t.Errorf("With = %q, want %q", got, want)
	}
	for n, want := range map[int]bool{1: true, 3: true, 4: false, 7: true, 8: false, 10: false} {
		if got := r.Has(n); got != want {
			t.Errorf("%s has %d: %t, want %t", r, n, got, want)
		}
	}
}
