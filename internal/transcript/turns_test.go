package transcript

import (
	"testing"
	"time"
)

// A stamped line is the id of a record, and the second at which it was written; either may be missing.
type stamped struct{}

func (stamped) Read(_ int, line []byte) Entry {
	e := Entry{ID: string(line[:1])}
	if line[0] == '-' {
		e.ID = ""
	}
	if line[1] != '-' {
		e.At = time.Unix(int64(line[1]), 0)
	}
	return e
}

func TestCommon(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, turn, stored string
		want               int
	}{
		{"a copy", "a1\nb2\n", "a1\nb2\n", 6},
		{"more at its end", "a1\nb2\nc3\nd4\n", "a1\nb2\n", 6},
		{"less of it", "a1\nc3\nd4\n", "a1\nb2\nc3\n--\n", 6},
		{"new ids", "x1\ny2\nz4\n", "a1\nb2\nc3\n", 6},
		{"no times", "a-\nb-\nc-\n", "a-\nb-\n", 6},
		{"lines that say neither", "a1\n--\n", "a1\n--\n", 3},
		{"nothing", "x4\n", "a1\n", 0},
		{"no last line's end", "a1\nb2", "a1\nb2\n", 5},
	} {
		if got := Common(func() Reader { return stamped{} }, []byte(tt.turn), []byte(tt.stored)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
