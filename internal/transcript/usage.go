package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidwall/gjson"
)

// ErrNoUsage reports that a session file does not show how full the context is: it is empty, the
// model has not answered yet, or the file is another client's.
var ErrNoUsage = errors.New("no usage figures")

// farthest is how many bytes from its end a file is searched for the last answer: two of the
// largest documents that the model's service accepts may follow it. Reading that much takes 15 ms.
const farthest = 64 << 20

// A Usage is how full the context of a session is, according to its file.
type Usage struct {
	// Tokens is the size of the main chain's last request: input, cache writes and cache reads.
	// Directly after a compaction it is the client's estimate of the remaining context.
	Tokens int64

	// Model answered the last request.
	Model string

	// Variant is the client's own name of the model, with "[1m]" if that window was chosen. It is
	// empty if the part of the file that was read lacks it; see [Variant].
	Variant string
}

// LastUsage finds the last answer of the main chain in the last 100 KB of the file at path, and
// further back only if they have none. Time and memory do not depend on the file's size. Answers
// that the client wrote itself do not count, nor do those whose figures are zero.
//
// Errors are those of [ReadSegment], or wrap [ErrNoUsage].
func LastUsage(path string) (Usage, error) {
	f, info, err := open(path)
	if err != nil {
		return Usage{}, err
	}
	defer f.Close()
	for _, depth := range []int64{tailSize, farthest} {
		if u, ok := lastUsage(f, max(0, info.Size()-depth), info.Size()); ok {
			return u, nil
		}
	}
	return Usage{}, fmt.Errorf("read session file %q: %w", path, ErrNoUsage)
}

// lastUsage is [LastUsage] for the lines between two offsets. ok is false if they contain no answer.
func lastUsage(f io.ReaderAt, from, to int64) (u Usage, ok bool) {
	compacted := false
	for _, line := range backwards(f, from, to) {
		kind := gjson.GetBytes(line, "type").Str
		switch {
		case kind == "attachment" && u.Variant == "":
			u.Variant = variant(line)
		case kind == "system" && !ok && !compacted:
			if metadata, is := boundary(line); is {
				compacted, u.Tokens = true, tokens(metadata.Get("postTokens"))
			}
		case kind == "assistant" && !ok:
			r, is := decode(line)
			if !is || r.sidechain || r.message.model == synthetic || r.message.usage.context == 0 {
				continue
			}
			ok, u.Model = true, r.message.model
			if !compacted {
				u.Tokens = r.message.usage.context
			}
		}
		if ok && (u.Variant != "" || from+tailSize < to) {
			break
		}
	}
	return u, ok
}

// Variant returns the client's own name of the model that the session at path began with, or "" if
// the file lacks it. The client notes it in the first few records, and again when it changes.
func Variant(path string) (string, error) {
	const head = 256 << 10 // the records before the first answer have 150 to 260 KB, with that one early
	f, _, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf, err := io.ReadAll(io.LimitReader(f, head))
	if err != nil {
		return "", fmt.Errorf("read session file: %w", err)
	}
	for _, line := range lines(buf) {
		if name := variant(line); name != "" {
			return name, nil
		}
	}
	return "", nil
}

// variant returns the model announced by a record of type attachment; "" for any other record.
func variant(line []byte) string {
	if gjson.GetBytes(line, "attachment.type").Str != "model" || !json.Valid(line) {
		return ""
	}
	return text(gjson.GetBytes(line, "attachment.identity.modelId"))
}

// boundary returns a record's compaction metadata; ok is false for any other record.
func boundary(line []byte) (metadata gjson.Result, ok bool) {
	if gjson.GetBytes(line, "subtype").Str != "compact_boundary" || !json.Valid(line) {
		return gjson.Result{}, false
	}
	return gjson.GetBytes(line, "compactMetadata"), true
}

// A Compaction is the client's compaction of a session's conversation.
type Compaction struct {
	Auto   bool  // because the context was full, not on the user's request
	Tokens int64 // of the context before it
	At     time.Time

	Model, Variant string // as in [Usage]; Variant is empty in files of old clients
}

// Compactions reads the file at path from its beginning and lists its compactions, in order.
// Memory does not depend on the file's size; 400 MB take 0.2 s. Errors are those of [ReadSegment].
func Compactions(path string) ([]Compaction, error) {
	f, _, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Compaction
	var now Compaction // holds the model's names
	r := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case bytes.Contains(line, []byte(`"compact_boundary"`)):
			if c, ok := compaction(line); ok {
				c.Model, c.Variant = now.Model, now.Variant
				all = append(all, c)
			}
		case bytes.Contains(line, []byte(`"modelId"`)):
			if name := variant(line); name != "" {
				now.Variant = name
			}
		case bytes.Contains(line, []byte(`"assistant"`)):
			if r, ok := decode(line); ok && !r.sidechain && r.message.model != "" && r.message.model != synthetic {
				now.Model = r.message.model
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

func compaction(line []byte) (Compaction, bool) {
	metadata, ok := boundary(line)
	if !ok || gjson.GetBytes(line, "type").Str != "system" {
		return Compaction{}, false
	}
	return Compaction{
		Auto:   metadata.Get("trigger").Str == "auto",
		Tokens: tokens(metadata.Get("preTokens")),
		At:     parseTime(gjson.GetBytes(line, "timestamp").Str),
	}, true
}
