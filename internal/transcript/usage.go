package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrNoUsage reports a session file without figures: it is empty, without an
// answer yet, or another client's.
var ErrNoUsage = errors.New("no usage figures")

// farthest is how far from its end a file is searched for the last answer: the
// two largest documents that the service accepts, read in 15 ms.
const farthest = 64 << 20

// A ContextUse is how full a session's context is, according to its file.
type ContextUse struct {
	// Tokens is the size of the last request: input, cache writes and cache
	// reads. After a compaction it is the client's estimate of what is left.
	Tokens int64

	Model string // answered the last request

	// Variant is the client's own name of the model, with "[1m]" if that window
	// was chosen; "" if the part read lacks it. See [Variant].
	Variant string

	// Window is the size of the context in tokens; 0 if the part read lacks it.
	Window int64
}

// LastUsage finds a conversation's last answer in the last 100 KB of the file
// at path. It reads on only if there is none, or if the client names the model
// in separate lines. Time and memory do not depend on the file's size. The
// client's own answers and figures of zero do not count. Each line is read by a
// new Reader.
//
// Errors are those of [ReadSegment], or wrap [ErrNoUsage].
func LastUsage(reader func() Reader, path string) (ContextUse, error) {
	f, err := open(path)
	if err != nil {
		return ContextUse{}, err
	}
	defer f.Close()
	g := look(reader, f, f.size, tailSize)
	if !g.found || !g.together && !g.done() {
		g = look(reader, f, f.size, farthest)
	}
	if !g.found {
		return ContextUse{}, fmt.Errorf("read session file %q: %w", path, ErrNoUsage)
	}
	return g.ContextUse, nil
}

func look(reader func() Reader, f io.ReaderAt, size, depth int64) gauge {
	g := gauge{deep: depth > tailSize}
	meter, fast := reader().(Meter)
	for _, line := range backwards(f, max(0, size-depth), size) {
		if fast {
			g.add(meter.Meter(line, g.found))
		} else {
			g.add(reader().Read(0, line))
		}
		if g.done() {
			break
		}
	}
	return g
}

// A gauge takes the entries of a conversation, the last one first.
type gauge struct {
	ContextUse
	deep      bool
	found     bool // the tokens are known
	together  bool // with the model
	compacted bool // since then
}

func (g *gauge) add(e Entry) {
	if e.Subagent {
		return
	}
	g.Variant, g.Window = cmp.Or(g.Variant, e.Variant), cmp.Or(g.Window, e.Window)
	switch c := e.Compacted; {
	case c != nil && !g.found && !g.compacted:
		g.compacted, g.Tokens = true, c.Left
	case e.Context > 0 && !g.found:
		g.found, g.together, g.Model = true, e.Model != "", e.Model
		if !g.compacted {
			g.Tokens = e.Context
		}
	case g.found:
		g.Model = cmp.Or(g.Model, e.Model)
	}
}

// done reports whether nothing more is looked for. A client that names the
// model with the tokens names its variant near them or never; others name model
// and window where a turn begins.
func (g *gauge) done() bool {
	switch {
	case !g.found:
		return false
	case g.together:
		return g.deep || g.Variant != "" || g.Window != 0
	}
	return g.Model != "" && g.Window != 0
}

// LastAnswer returns when the model's last message was written: before the
// tools ran that it asked for. It is zero if the last 100 KB of the file at path
// have none.
func LastAnswer(reader func() Reader, path string) time.Time {
	f, err := open(path)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	for _, line := range backwards(f, max(0, f.size-tailSize), f.size) {
		if e := metering(reader())(line, false); !e.Subagent && e.Context > 0 {
			return e.At
		}
	}
	return time.Time{}
}

// Variant returns the client's name of the model at the start of the session,
// or "". The client notes it in the first records and when it changes.
func Variant(reader func() Reader, path string) (string, error) {
	const head = 256 << 10 // the records up to the first answer have 150 to 260 KB
	buf, err := ReadRange(path, 0, head)
	if err != nil {
		return "", err
	}
	say := metering(reader())
	for _, line := range lines(buf) {
		if e := say(line, true); e.Variant != "" {
			return e.Variant, nil
		}
	}
	return "", nil
}

// metering returns a function that reads lines, by [Meter] if possible.
func metering(r Reader) func(line []byte, answered bool) Entry {
	if m, ok := r.(Meter); ok {
		return m.Meter
	}
	return func(line []byte, _ bool) Entry { return r.Read(0, line) }
}

type Compaction struct {
	Auto   bool  // because the context was full, not on the user's request
	Tokens int64 // of the context before it
	At     time.Time

	Model, Variant string // as in [ContextUse]; Variant is "" in files of old clients
}

// Compactions reads the file at path from an offset to its end and lists its
// compactions, in order. Of what stands before the offset, it knows no model.
// Memory does not depend on the file's size. Errors are those of [ReadSegment].
func Compactions(reader func() Reader, path string, from int64) ([]Compaction, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Compaction
	var now Compaction // with the current model's names
	say := metering(reader())
	r := bufio.NewReaderSize(io.NewSectionReader(f, from, f.size-from), 256<<10)
	for {
		line, err := r.ReadSlice('\n')
		if e := say(bytes.TrimSuffix(line, []byte{'\n'}), false); !e.Subagent {
			now.Model, now.Variant = cmp.Or(e.Model, now.Model), cmp.Or(e.Variant, now.Variant)
			if c := e.Compacted; c != nil {
				all = append(all, Compaction{Auto: c.Auto, Tokens: c.Tokens, At: e.At, Model: now.Model, Variant: now.Variant})
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) { // an image, not a record of a compaction
			_, err = r.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("read session file: %w", err)
		}
	}
}
