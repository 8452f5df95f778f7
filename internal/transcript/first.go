package transcript

import "errors"

// ErrNoTurn reports a session in which nothing was asked.
var ErrNoTurn = errors.New("nothing was asked in it")

// First returns the first turn of the session file at path; Start and End are offsets in it, as far
// as it was read. It reads no more than it must: 64 KiB of most files, and of none more than 64 MiB.
// If there is no turn, the error wraps [ErrNoTurn]; other errors are those of [ReadSegment].
func First(path string) (Turn, error) {
	for size := int64(64 << 10); ; size *= 8 {
		head, err := ReadRange(path, 0, size)
		if err != nil {
			return Turn{}, err
		}
		o := newOpener()
		for at, line := range lines(head) {
			r, _ := decode(line)
			if t, ok := o.open(at, r); ok {
				t.End = len(head)
				return t, nil
			}
		}
		if int64(len(head)) < size || size >= farthest {
			return Turn{}, ErrNoTurn
		}
	}
}
