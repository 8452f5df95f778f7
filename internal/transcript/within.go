package transcript

import (
	"errors"
	"io"
)

// Within returns how much of a turn's lines to take for a conversation that is
// to go on right after a call: up to where it was answered, with all that was
// called together with it. It is 0 if the call is not there or has no answer.
func Within(r Reader, segment io.Reader, call string) (end int64, err error) {
	open := make(map[string]bool)
	at, found := 0, false
	err = new(LineReader).Each(segment, func(line []byte) error {
		e := r.Read(at, line)
		at += len(line) + 1
		if e.Subagent {
			return nil
		}
		for _, p := range e.Parts {
			switch p.Kind {
			case Call:
				open[p.Call] = true
			case Answer:
				found = found || p.Call == call
				delete(open, p.Call)
			}
		}
		if found && len(open) == 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return int64(at), nil
	}
	return 0, err
}

// errEnough ends a walk early.
var errEnough = errors.New("enough was read")
