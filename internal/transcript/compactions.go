package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidwall/gjson"
)

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
