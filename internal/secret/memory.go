package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"slices"
	"strings"

	"gitagent/internal/local"
)

// A Memory knows texts again that it does not hold: of each it has the length and keyed hashes. The key lies
// beside them, so whoever can read the file can try out guesses; it never leaves the repository's local
// state.
type Memory struct {
	Key   []byte       `json:"key"` // 32 random bytes
	Texts []remembered `json:"texts"`
	// Prompts are the HMACs of the beginnings of purged turns' prompts.
	Prompts [][]byte `json:"prompts,omitempty"`
}

// A remembered text.
type remembered struct {
	Length int    `json:"length"` // bytes
	Rolled uint64 `json:"rolled"` // the hash that is cheap to move along a text
	MAC    []byte `json:"mac"`    // HMAC-SHA256
}

// maxRemembered is how many texts a memory has: the last ones.
const maxRemembered = 1000

// memoryFile is where it lies in our local state.
const memoryFile = "purged"

// ReadMemory reads the memory of a repository from its local state. Without one it is nil, which costs
// looking for a file.
func ReadMemory(dir *local.Dir) (*Memory, error) {
	data, err := dir.ReadFile(memoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m := new(Memory)
	if err == nil {
		err = json.Unmarshal(data, m)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was purged: %w", err)
	}
	return m, nil
}

// Write writes the memory to the repository's local state. Whoever is killed meanwhile leaves the old one.
func (m *Memory) Write(dir *local.Dir) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := dir.WriteFile(memoryFile+".new", append(data, '\n')); err != nil {
		return err
	}
	return dir.Rename(memoryFile+".new", memoryFile)
}

// Add remembers texts, those of several lines also as one. Those of fewer than [MinLength] bytes are not.
func (m *Memory) Add(texts ...[]byte) {
	if m.Key == nil {
		m.Key = make([]byte, 32)
		_, _ = rand.Read(m.Key) // never fails
	}
	for _, t := range texts {
		if bytes.IndexByte(t, '\n') >= 0 {
			texts = append(texts[:len(texts):len(texts)], joined(t))
		}
	}
	for _, t := range texts {
		r := remembered{len(t), roll(m.base(), t), m.mac(t)}
		if len(t) < MinLength || slices.ContainsFunc(m.Texts, func(s remembered) bool { return hmac.Equal(s.MAC, r.MAC) }) {
			continue
		}
		m.Texts = append(m.Texts, r)
	}
	if n := len(m.Texts) - maxRemembered; n > 0 {
		m.Texts = slices.Delete(m.Texts, 0, n)
	}
}

// Finds reports whether there is a text to find. Prompts are none.
func (m *Memory) Finds() bool { return m != nil && len(m.Texts) > 0 }

// AddPrompts remembers prompts of turns that were purged as a whole. As what was typed may be any word, they are
// known again only where a client says that something was a prompt.
func (m *Memory) AddPrompts(prompts ...string) {
	m.Add() // there is a key
	for _, p := range prompts {
		if p = beginning(p); p != "" && p != Mark && !m.hasPrompt(p) {
			m.Prompts = append(m.Prompts, m.mac([]byte(p)))
		}
	}
	if n := len(m.Prompts) - maxRemembered; n > 0 {
		m.Prompts = slices.Delete(m.Prompts, 0, n)
	}
}

// beginning is what is compared of a prompt: clients cut it, and put it on one line.
func beginning(prompt string) string {
	const most = 64 // runes
	line := []rune(strings.TrimSuffix(strings.Join(strings.Fields(prompt), " "), "…"))
	return strings.TrimSpace(string(line[:min(len(line), most)]))
}

func (m *Memory) hasPrompt(beginning string) bool {
	mac := m.mac([]byte(beginning))
	return slices.ContainsFunc(m.Prompts, func(known []byte) bool { return hmac.Equal(known, mac) })
}

func (m *Memory) mac(text []byte) []byte {
	h := hmac.New(sha256.New, m.Key)
	h.Write(text)
	return h.Sum(nil)
}

// prime is the modulus of the rolling hash, 2^61-1.
const prime = 1<<61 - 1

// base is the base of the rolling hash, by the key.
func (m *Memory) base() uint64 {
	sum := sha256.Sum256(append([]byte("rolling "), m.Key...))
	return binary.BigEndian.Uint64(sum[:])%(prime-256) + 256
}

func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return mod(lo&prime + lo>>61 + hi<<3)
}

func mod(a uint64) uint64 {
	for a >= prime {
		a -= prime
	}
	return a
}

func roll(base uint64, text []byte) (h uint64) {
	for _, c := range text {
		h = mod(mul(h, base) + uint64(c) + 1)
	}
	return h
}

// Finder finds what is remembered. That of a nil Memory finds nothing.
func (m *Memory) Finder() *Finder {
	f := new(Finder)
	if m == nil {
		return f
	}
	f.isPrompt = func(text string) bool { return m.hasPrompt(beginning(text)) }
	base := m.base()
	lengths := make(map[int]map[uint64]bool)
	for _, t := range m.Texts {
		if t.Length < MinLength {
			continue
		}
		if lengths[t.Length] == nil {
			lengths[t.Length] = make(map[uint64]bool)
		}
		lengths[t.Length][t.Rolled] = true
	}
	for length, known := range lengths {
		leaving := uint64(1) // what the first byte of a window counts for
		for range length - 1 {
			leaving = mul(leaving, base)
		}
		f.matchers = append(f.matchers, matcher{exact: true, least: length, match: func(in []byte) (spans []Span) {
			if len(in) < length {
				return nil
			}
			h := roll(base, in[:length])
			for from, last := 0, 0; ; from++ {
				if known[h] && from >= last && m.has(in[from:from+length]) {
					last = from + length
					spans = append(spans, Span{from, last})
				}
				if from+length >= len(in) {
					return spans
				}
				h = mod(h + prime - mul(leaving, uint64(in[from])+1))
				h = mod(mul(h, base) + uint64(in[from+length]) + 1)
			}
		}})
	}
	return f
}

func (m *Memory) has(text []byte) bool {
	mac := m.mac(text)
	return slices.ContainsFunc(m.Texts, func(t remembered) bool { return t.Length == len(text) && hmac.Equal(t.MAC, mac) })
}
