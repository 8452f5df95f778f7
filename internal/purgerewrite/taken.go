package purgerewrite

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"gitagent/internal/scrub"
)

// Taken is what pairs take out. The zero value is nothing.
type Taken struct {
	Turns map[int]bool               // that go as a whole, by their numbers
	Files map[string]bool            // that go as a whole, by their paths
	Texts map[[sha256.Size]byte]bool // that were cut out, each once, by their hashes
	Cut   int64                      // bytes that were cut out
	Of    int64                      // bytes of the texts of which something was

	Learned [][]byte // the first of the texts, also unescaped
}

const maxLearned = 1000

func (t *Taken) turn(number int) {
	if t.Turns == nil {
		t.Turns = make(map[int]bool)
	}
	t.Turns[number] = true
}

func (t *Taken) file(path string) {
	if t.Files == nil {
		t.Files = make(map[string]bool)
	}
	t.Files[path] = true
}

func (t *Taken) texts(pieces ...[]byte) {
	for _, text := range pieces {
		if len(text) == 0 || bytes.Equal(text, []byte(scrub.Mark)) {
			continue
		}
		if t.Texts == nil {
			t.Texts = make(map[[sha256.Size]byte]bool)
		}
		t.Texts[sha256.Sum256(text)] = true
		t.Cut += int64(len(text))
	}
}

func (t *Taken) learn(texts [][]byte) {
	for _, text := range texts {
		if len(t.Learned) < maxLearned && !slices.ContainsFunc(t.Learned, func(b []byte) bool { return bytes.Equal(b, text) }) {
			t.Learned = append(t.Learned, text)
		}
	}
}
