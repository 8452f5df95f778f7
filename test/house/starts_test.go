package main

import (
	"testing"

	"gitagent/test/gittest"
)

// Each walk has its start in the code as it is.
func TestStarts(t *testing.T) {
	gittest.Check(t)
	h, err := load("../..", "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range starts {
		if w, err := h.walk(s); err != nil || len(w.done) < 10 {
			t.Errorf("%v: %v", s, err)
		}
	}
}
