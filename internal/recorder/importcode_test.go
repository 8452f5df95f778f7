package recorder

import (
	"testing"
	"time"
)

// TestHeadLogAt: HEAD went to a commit at 10 s, to another at 20 s, and to a third in the same second.
func TestHeadLogAt(t *testing.T) {
	t.Parallel()
	log := headLog{{hash(3), 20}, {hash(2), 20}, {hash(1), 10}}
	for seconds, want := range map[int64]byte{5: 0, 10: 0, 11: 1, 19: 1, 20: 0, 21: 3, 1 << 40: 3} {
		commit, ok := log.at(time.Unix(seconds, 999))
		if ok != (want != 0) || ok && commit != hash(want) {
			t.Errorf("at %d s: %.2s, %t; want %02x", seconds, commit, ok, want)
		}
	}
	if _, ok := log.at(time.Time{}); ok {
		t.Error("at no time it is known")
	}
	if _, ok := headLog(nil).at(time.Unix(30, 0)); ok {
		t.Error("without a log it is known")
	}
}
