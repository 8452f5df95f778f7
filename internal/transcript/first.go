package transcript

import "errors"

// ErrNoTurn reports a session in which nothing was asked.
var ErrNoTurn = errors.New("nothing was asked in it")

// First returns the first turn of the session file at path; Start and End are offsets in it, as far
// as it was read. It reads no more than it must: 64 KiB of most files, and of none more than 64 MiB.
// If there is no turn, the error wraps [ErrNoTurn]; other errors are those of [ReadSegment].
func First(reader func() Reader, path string) (Turn, error) {
	for size := int64(64 << 10); ; size *= 8 {
		head, err := ReadRange(path, 0, size)
		if err != nil {
			return Turn{}, err
		}
		whole := int64(len(head)) < size || size >= farthest
		if t, ok := first(reader(), head); ok || whole && t != nil {
			t.End = len(head)
			return *t, nil
		}
		if whole {
			return Turn{}, ErrNoTurn
		}
	}
}

// first returns the first turn of a segment, nil if there is none; ok is false if its prompt has not
// been told yet.
func first(r Reader, segment []byte) (t *Turn, ok bool) {
	var asked asked
	for at, line := range lines(segment) {
		e := r.Read(at, line)
		if e.Opens != nil {
			if t != nil {
				return t, true
			}
			t = e.Opens
		}
		if prompt, told := asked.prompt(&e); told {
			t.Prompt = prompt
		}
		if t != nil && !bool(asked) {
			return t, true
		}
	}
	return t, false
}
