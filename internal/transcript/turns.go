package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// A FileTurn is a turn's place in a segment, and its first record.
type FileTurn struct {
	// The turn is segment[Start:End], whole lines. It ends where the next one
	// starts, or with the segment: what the client notes after the last answer
	// (cost, titles, a /compact) belongs to it.
	Start, End int

	UUID     string // of the record that starts it: this key survives a fork by the client
	PromptID string // "prompt_id" of the hooks; all old turns share one after a fork by the client
	Prompt   string // what the user typed, unbounded; "/name args" for a slash command, "!command" for a shell command
	Origin   string // human, sdk, task_notification; "" if the client doesn't say
	Source   string // typed, queued, sdk, system; "" if the client doesn't say
	Cwd      string // the directory that the agent was in
	At       time.Time
}

// Turns returns the turns that start in a segment, in order.
func Turns(r Reader, segment []byte) []FileTurn {
	var begun begun
	for at, line := range lines(segment) {
		e := r.Read(at, line)
		begun.add(&e, len(segment))
	}
	return begun.turns
}

// begun are the turns that begin in what was read.
type begun struct {
	turns []FileTurn
	asked asked
}

// add adds a turn if one begins with e, until the next or to the end.
func (b *begun) add(e *Entry, end int) {
	if t := e.Opens; t != nil {
		if n := len(b.turns); n > 0 {
			b.turns[n-1].End = t.Start
		}
		b.turns = append(b.turns, *t)
		b.turns[len(b.turns)-1].End = end
	}
	if prompt, ok := b.asked.prompt(e); ok {
		b.turns[len(b.turns)-1].Prompt = prompt
	}
}

// Common returns where the last line ends that a turn in a client's file has in
// common with a stored one: its record has the same id or, where a client makes
// new ones in a copy, the same time.
func Common(reader func() Reader, turn, stored []byte) (end int) {
	ids, times := make(map[string]bool), make(map[time.Time]bool)
	r := reader()
	for at, line := range lines(stored) {
		e := r.Read(at, line)
		ids[e.ID], times[e.At] = true, true
	}
	delete(ids, "")
	delete(times, time.Time{})
	r = reader()
	for at, line := range lines(turn) {
		if e := r.Read(at, line); ids[e.ID] || times[e.At] {
			end = min(at+len(line)+1, len(turn))
		}
	}
	return end
}

// asked is set while a turn's prompt is missing: its first record lacked it.
type asked bool

// prompt returns the turn's prompt when an entry contains it.
func (waits *asked) prompt(e *Entry) (string, bool) {
	if e.Opens != nil {
		*waits = e.Opens.Prompt == ""
	}
	if !bool(*waits) || e.Subagent {
		return "", false
	}
	for _, p := range e.Parts {
		if p.Kind == Asked {
			*waits = false
			return p.Text, true
		}
	}
	return "", false
}

// ErrNoTurn reports a session without a prompt.
var ErrNoTurn = errors.New("nothing was asked in it")

// First returns the first turn of the session file at path. It reads 64 KiB of
// most files, at most 64 MiB. Start and End are offsets in what was read.
// Without a turn the error wraps [ErrNoTurn]; others are those of
// [ReadSegment].
func First(reader func() Reader, path string) (FileTurn, error) {
	for size := int64(64 << 10); ; size *= 8 {
		head, err := ReadRange(path, 0, size)
		if err != nil {
			return FileTurn{}, err
		}
		whole := int64(len(head)) < size || size >= farthest
		if t, ok := first(reader(), head); ok || whole && t != nil {
			t.End = len(head)
			return *t, nil
		}
		if whole {
			return FileTurn{}, ErrNoTurn
		}
	}
}

// first returns the first turn, or nil; ok is false if its prompt is missing.
func first(r Reader, segment []byte) (t *FileTurn, ok bool) {
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

// lines yields each line of b with its offset and without its newline.
func lines(b []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(b); {
			n := bytes.IndexByte(b[at:], '\n')
			if n < 0 {
				n = len(b) - at
			}
			if !yield(at, b[at:at+n]) {
				return
			}
			at += n + 1
		}
	}
}

// Readable reports whether a segment could come from a client: it is empty, or
// one of its lines is a JSON object.
func Readable(segment []byte) bool {
	for _, line := range lines(segment) {
		if json.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(line), []byte{'{'}) {
			return true
		}
	}
	return len(segment) == 0
}

// once is a set of ids seen: a client may write a record twice.
type once map[string]bool

// first reports whether id is new or empty, and adds it.
func (o once) first(id string) bool {
	seen := id != "" && o[id]
	o[id] = true
	return !seen
}
