package transcript

import "bytes"

// Within returns how much of a turn's lines to take for a conversation that is
// to go on right after a call: up to where it was answered, with all that was
// called together with it. It is 0 if the call is not there or has no answer.
func Within(r Reader, segment []byte, call string) int {
	open := make(map[string]bool)
	at, found := 0, false
	for line := range bytes.Lines(segment) {
		e := r.Read(at, bytes.TrimSuffix(line, []byte{'\n'}))
		at += len(line)
		if e.Subagent {
			continue
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
			return at
		}
	}
	return 0
}
