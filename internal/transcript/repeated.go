package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"time"
)

// A Past is a part of a session's file that ends where a segment begins.
type Past struct {
	From int64     // where it begins
	Last time.Time // when the last of its records was written
}

// Unrepeat blanks the lines of a segment that stand before it in the segment, or
// in the file at path, already: some clients write what was said again, when a
// session is resumed. Each record counts once, so the lines stay, for their
// places, and say nothing. offset is where the segment begins in the file. It
// returns the turns that begin in the segment then, as [Turns] does.
//
// A line that is newer than a part of the file is not looked for in it, so that
// the file is read only if something is as old. Errors are those of reading it;
// what the segment itself repeats is blank then.
func Unrepeat(reader func() Reader, segment []byte, path string, offset int64, past ...Past) ([]FileTurn, error) {
	seen := make(map[string]bool)
	suspects := make([]map[string][]byte, len(past))
	var begun begun
	blanked := false
	r := reader()
	for at, line := range lines(segment) {
		e := r.Read(at, line)
		begun.add(&e, len(segment))
		id := identity(&e, line)
		if id == "" {
			continue
		}
		if seen[id] {
			blank(line)
			blanked = true
			continue
		}
		seen[id] = true
		for i, p := range past {
			if !e.At.IsZero() && !e.At.After(p.Last) {
				if suspects[i] == nil {
					suspects[i] = make(map[string][]byte)
				}
				suspects[i][id] = line
				break
			}
		}
	}
	for i, p := range past {
		if len(suspects[i]) > 0 {
			if err := findAgain(reader(), path, p.From, offset, suspects[i]); err != nil {
				return nil, err
			}
			blanked = true // perhaps
		}
	}
	if blanked {
		return Turns(reader(), segment), nil
	}
	return begun.turns, nil
}

// identity returns what two copies of a record share: its id or, where the
// client gives none and it says when it was written, all of it.
func identity(e *Entry, line []byte) string {
	if e.ID != "" || e.At.IsZero() {
		return e.ID
	}
	sum := sha256.Sum256(line)
	return string(sum[:])
}

// findAgain blanks the suspects, lines by their identities, that are in the file
// at path between two offsets.
func findAgain(r Reader, path string, from, to int64, suspects map[string][]byte) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.NewSectionReader(f, from, max(0, to-from)), 256<<10)
	for at := 0; ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text := bytes.TrimSuffix(line, []byte{'\n'})
		e := r.Read(at, text)
		at += len(line)
		blank(suspects[identity(&e, text)])
	}
}

// Withhold blanks the lines of a segment that are withheld: those of turns that
// turn says so of, and all of a turn from a line on that was written when at says.
func Withhold(reader func() Reader, segment []byte, turn func(id string, at time.Time) bool, at func(time.Time) bool) {
	begun, off := Turns(reader(), segment), false
	r := reader()
	for start, line := range lines(segment) {
		for len(begun) > 0 && start >= begun[0].Start {
			off = turn(begun[0].PromptID, begun[0].At)
			begun = begun[1:]
		}
		if e := r.Read(start, line); !off && !e.At.IsZero() {
			off = at(e.At)
		}
		if off {
			blank(line)
		}
	}
}

// Unblank returns a segment without the lines that [Unrepeat] and [Withhold] have blanked: itself
// if there are none.
func Unblank(segment []byte) []byte {
	var kept []byte
	from := 0 // what is not kept yet, if anything was left out
	for at, line := range lines(segment) {
		if len(line) > 0 && len(bytes.TrimLeft(line, " ")) == 0 {
			kept = append(kept, segment[from:at]...)
			from = at + len(line) + 1
		}
	}
	if from == 0 {
		return segment
	}
	return append(kept, segment[min(from, len(segment)):]...)
}

func blank(line []byte) {
	for i := range line {
		line[i] = ' '
	}
}
