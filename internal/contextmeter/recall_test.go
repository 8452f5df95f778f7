package contextmeter

import (
	"fmt"
	"slices"
	"testing"
)

// TestRecall: a session is told of a file once, and of no more files than are kept.
func TestRecall(t *testing.T) {
	t.Parallel()
	var m Memory
	if got := m.Recall([]string{"a", "b", "a"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("first %q", got)
	}
	m.Rearm()
	if got := m.Recall([]string{"b", "c"}); !slices.Equal(got, []string{"c"}) {
		t.Errorf("then %q", got)
	}
	if got := m.Recall([]string{"x", "a", "y", "z", "w"}); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("at once %q", got)
	}
	if got := m.Recall([]string{"x", "w"}); !slices.Equal(got, []string{"w"}) {
		t.Errorf("later %q", got)
	}
	for i := range 2 * maxRecalled {
		m.Recall([]string{fmt.Sprint(i)})
	}
	if got := m.Recall([]string{"d"}); len(got) > 0 || len(m.Recalled) != maxRecalled {
		t.Errorf("beyond the most %q, %d kept", got, len(m.Recalled))
	}
}
