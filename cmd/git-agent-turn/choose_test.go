package main

import (
	"errors"
	"testing"
	"time"

	"gitagent/turns"
)

// A turn that was recorded again, later, is before older ones in a list, which is ordered by numbers.
func TestSince(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := choice{since: now.Add(-time.Hour)}
	for i, minutes := range []int{1, 90, 90, 2, 90, 3} {
		ok, err := f.at(now.Add(-time.Duration(minutes) * time.Minute))
		if err != nil || ok != (minutes < 60) {
			t.Errorf("turn %d, %d minutes old: %t, %v", i, minutes, ok, err)
		}
	}
	for range turns.MaxOld - 1 {
		if _, err := f.at(now.Add(-2 * time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.at(now.Add(-2 * time.Hour)); !errors.Is(err, errEnough) {
		t.Errorf("after %d old ones: %v", turns.MaxOld, err)
	}
}
