package transcript

import (
	"bytes"
	"strings"
)

// resultLines is how many lines of a tool's result the client shows.
const resultLines = 20

// Text renders lines as a [Renderer] does, without times. It returns at most
// the last most lines.
func Text(reader Reader, segment []byte, most int) []string {
	var b bytes.Buffer
	r := NewRenderer(&b, reader, Form{Results: resultLines})
	_, _ = r.Write(segment) // a buffer takes everything
	_ = r.Close()
	if b.Len() == 0 {
		return nil
	}
	shown := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	return shown[max(0, len(shown)-most):]
}
