package transcript

import "errors"

// ErrNoTurn reports a session without a prompt.
var ErrNoTurn = errors.New("nothing was asked in it")

// First returns the first turn of the session file at path. It reads 64 KiB of
// most files, at most 64 MiB. Start and End are offsets in what was read.
// Without a turn the error wraps [ErrNoTurn]; others are those of
// [ReadSegment].
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

// first returns the first turn, or nil; ok is false if its prompt is missing.
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
