package claude

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// turn20K is a typical turn: 20 KB, of which half are records that matter.
func turn20K(b *testing.B) []byte {
	content := recorded(b, "five turns")
	return content[42398:61052] // turn 4: four requests, three tools
}

// sessionOf makes a session file of size bytes whose last turn is turn20K, and the cursor before
// that turn.
func sessionOf(b *testing.B, size int) (string, transcript.Cursor) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "s.jsonl")
	turn := turn20K(b)
	f, err := os.Create(path)
	gittest.Must(b, err)
	defer f.Close()
	for n := 0; n+2*len(turn) <= size; n += len(turn) {
		if _, err := f.Write(turn); err != nil {
			b.Fatal(err)
		}
	}
	c := readSegment(b, path, transcript.Cursor{}).Cursor
	if _, err := f.Write(turn); err != nil {
		b.Fatal(err)
	}
	return path, c
}

func BenchmarkReadSegment(b *testing.B) {
	for _, size := range []int{50 << 10, 50 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			path, c := sessionOf(b, size)
			b.ReportAllocs()
			for b.Loop() {
				if s := readSegment(b, path, c); len(s.Bytes) < 18000 || s.Restarted {
					b.Fatal(len(s.Bytes), s.Restarted)
				}
			}
		})
	}
}

// BenchmarkTurn is everything that a Stop hook asks of this package once the session is flushed.
func BenchmarkTurn(b *testing.B) {
	for _, size := range []int{50 << 10, 50 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			path, c := sessionOf(b, size)
			want := transcript.Want{PromptID: "3c6a3dfc-b493-4abd-841c-cdac5f982ccf", Reply: "A4 done: command failed, then edited one.txt"}
			b.ReportAllocs()
			for b.Loop() {
				s, err := transcript.Wait(context.Background(), Reader, path, c, want)
				if err != nil || !s.Complete {
					b.Fatal(err, s.Complete)
				}
				for _, t := range transcript.Turns(new(reader), s.Bytes) {
					transcript.Summarise(new(reader), s.Bytes[t.Start:t.End])
				}
			}
		})
	}
}

// BenchmarkSummarise reads a turn that consists mostly of records that matter, and one that is
// mostly the client's own records, like the first turn of every session (a real one has 110 KB,
// with 29 KB of prompt and 76 KB of request shapes).
func BenchmarkSummarise(b *testing.B) {
	small := turn20K(b)
	text := strings.Repeat(`You are an agent that \"helps\" with <tasks>.\nUse the tools {\"like\": \"this\"} when you need them. `, 1100)
	snapshot := []byte(`{"parentUuid":"a","isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":["` + text + `"]},"type":"attachment","uuid":"b"}` + "\n")
	written := []byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Write","input":{"content":"` + text + `"}}]},"uuid":"c"}` + "\n")
	for _, bm := range []struct {
		name string
		turn []byte
	}{
		{"20KB", small},
		{"first", bytes.Join([][]byte{snapshot, small, snapshot}, nil)},
		{"written", bytes.Join([][]byte{small, written}, nil)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.turn)))
			b.ReportAllocs()
			for b.Loop() {
				transcript.Summarise(new(reader), bm.turn)
			}
		})
	}
}

func BenchmarkTurns(b *testing.B) {
	content := recorded(b, "five turns")
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		transcript.Turns(new(reader), content)
	}
}

func BenchmarkRebuild(b *testing.B) {
	content := bytes.Repeat(turn20K(b), 256) // 5 MB
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		rebuilt, err := Rebuild(transcript.Cut{Session: newID, Lines: func(yield func([]byte, error) bool) {
			for _, line := range lines(content) {
				yield(line, nil)
			}
		}})
		gittest.Must(b, err)
		gittest.Must(b, rebuilt.Write(bufio.NewWriter(io.Discard)))
	}
}

// BenchmarkPassages decodes all lines of a session.
func BenchmarkPassages(b *testing.B) {
	segment := recorded(b, "five turns")
	b.SetBytes(int64(len(segment)))
	for b.Loop() {
		for _, line := range lines(segment) {
			transcript.Passages(new(reader), line)
		}
	}
}
