package search

import (
	"os"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

// BenchmarkLines passes over lines of JSON in which nothing is found.
func BenchmarkLines(b *testing.B) {
	files, err := filepath.Glob("../agent/claude/testdata/*.jsonl")
	gittest.Must(b, err)
	var segment []byte
	for _, name := range files {
		data, err := os.ReadFile(name)
		gittest.Must(b, err)
		segment = append(segment, data...)
	}
	for name, q := range map[string]*Query{
		"any case":    must(Words([]string{"flibbertigibbet"})),
		"a rare byte": must(Words([]string{"zyzzyva"})),
		"exact":       must(Words([]string{"Flibbertigibbet"})),
		"not ASCII":   must(Words([]string{"übergröße"})),
		"pattern":     must(Patterns([]string{`flibb\w+bet`})),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(segment)))
			for b.Loop() {
				for range q.Lines(segment) {
					b.Fatal("found")
				}
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
