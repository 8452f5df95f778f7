package handoffstore

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("-", 100_000) + "needle" + strings.Repeat("-", 100_000)
	for _, tt := range []struct {
		name, text string
		want       []Match
	}{
		{"nothing", "", nil},
		{"no match", "a\nb\n", nil},
		{"lines", "needle 1\nhay\r\n\nneedle 2\r\n", []Match{{"f", 1, "needle 1"}, {"f", 4, "needle 2"}}},
		{"no last newline", "hay\nneedle", []Match{{"f", 2, "needle"}}},
		{"a long line", "hay\n" + long + "\nneedle\n", []Match{
			{"f", 2, strings.Repeat("-", 100) + "needle" + strings.Repeat("-", 294)}, {"f", 3, "needle"},
		}},
		{"at the end of a long line", long[:100_006], []Match{{"f", 1, strings.Repeat("-", 394) + "needle"}}},
	} {
		var got []Match
		err := Scan(strings.NewReader(tt.text), "f", regexp.MustCompile("needle"), func(m Match) error {
			got = append(got, m)
			return nil
		})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, got %+v, want %+v", tt.name, err, got, tt.want)
		}
	}
	stop := errors.New("stop")
	n := 0
	err := Scan(strings.NewReader("needle\nneedle\n"), "f", regexp.MustCompile("needle"), func(Match) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("the search went on after an error: %d, %v", n, err)
	}
}
