package scrub

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
	"slices"
	"strings"

	"gitagent/internal/statedir"
)

// A Memory recognises texts that it does not contain, by length, keyed hash,
// and 16 bits of a hash of the beginning. With its key, readers of the file can
// test guesses; it never leaves the repository's local state.
type Memory struct {
	Key   []byte       `json:"key"` // 32 random bytes
	Texts []remembered `json:"texts"`
	// Prompts are HMACs of the beginnings of purged turns' prompts.
	Prompts [][]byte `json:"prompts,omitempty"`
}

type remembered struct {
	Length int    `json:"length"` // bytes
	Head   uint16 `json:"head"`   // of a rolling hash of its first bytes
	MAC    []byte `json:"mac"`    // HMAC-SHA256
}

// maxRemembered limits the texts in a memory; the last ones stay.
const maxRemembered = 1000

const memoryFile = "purged"

// ReadMemory reads the repository's memory, which is nil if there is no file.
func ReadMemory(dir *statedir.Dir) (*Memory, error) {
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

// Write writes the memory to the local state, at once or not at all.
func (m *Memory) Write(dir *statedir.Dir) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := dir.WriteFile(memoryFile+".new", append(data, '\n')); err != nil {
		return err
	}
	return dir.Rename(memoryFile+".new", memoryFile)
}

// Add remembers texts of at least [MinLength], with several lines also joined.
func (m *Memory) Add(texts ...[]byte) {
	if m.Key == nil {
		m.Key = make([]byte, 32)
		_, _ = rand.Read(m.Key) // never fails
	}
	for _, t := range andJoined(texts) {
		r := remembered{len(t), head(roll(m.base(), t[:window(len(t))])), m.mac(t)}
		if len(t) < MinLength || slices.ContainsFunc(m.Texts, func(s remembered) bool { return hmac.Equal(s.MAC, r.MAC) }) {
			continue
		}
		m.Texts = append(m.Texts, r)
	}
	if n := len(m.Texts) - maxRemembered; n > 0 {
		m.Texts = slices.Delete(m.Texts, 0, n)
	}
}

// andJoined returns texts, those of several lines also joined.
func andJoined(texts [][]byte) [][]byte {
	for _, t := range texts {
		if bytes.IndexByte(t, '\n') >= 0 {
			texts = append(texts[:len(texts):len(texts)], joined(t))
		}
	}
	return texts
}

// Finds reports whether there is a text, not just prompts, to find.
func (m *Memory) Finds() bool { return m != nil && len(m.Texts) > 0 }

// AddPrompts remembers prompts of purged turns. They may be any word, so they
// only count where a client marks a text as a prompt.
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

// beginning returns what is compared of a prompt: clients cut and join it.
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

// window returns how much of a text's beginning is searched first: at least
// four fifths, so that a thousand lengths take a few passes.
func window(length int) int {
	step := 1
	for length/step >= 8 {
		step *= 2
	}
	return length / step * step
}

// base returns the base of the rolling hash, which depends on the key.
func (m *Memory) base() uint64 {
	sum := sha256.Sum256(append([]byte("rolling "), m.Key...))
	return binary.BigEndian.Uint64(sum[:]) | 1
}

// roll returns the rolling hash of a text, for [head].
func roll(base uint64, text []byte) (h uint64) {
	for _, c := range text {
		h = h*base + uint64(c) + 1
	}
	return h
}

// head returns the stored part of a rolling hash: too little to confirm a
// guess, enough to skip most texts.
func head(rolled uint64) uint16 { return uint16(rolled >> 48) }

// Finder returns a finder for the memory; for nil it finds nothing. inFull are
// texts that it remembers, of which the caller has more than their hashes: what
// can't have them is passed over.
func (m *Memory) Finder(inFull ...[]byte) *Finder {
	f := new(Finder)
	if m == nil {
		return f
	}
	f.isPrompt = func(text string) bool { return m.hasPrompt(beginning(text)) }
	known := make(map[string]bool)
	may := make(map[string]func(in []byte, encoded bool) bool)
	for _, text := range andJoined(inFull) {
		may[string(m.mac(text))] = possible(text)
	}
	windows := make(map[int]*heads)
	for _, t := range m.Texts {
		if t.Length < MinLength {
			continue
		}
		known[string(t.MAC)] = true
		w := window(t.Length)
		if windows[w] == nil {
			windows[w] = newHeads(w, m.base())
		}
		windows[w].add(t)
		windows[w].possible = append(windows[w].possible, may[string(t.MAC)])
	}
	for _, h := range windows {
		f.matchers = append(f.matchers, matcher{exact: true, anywhere: true, least: h.window, may: h.glance(), match: func(in []byte) []Span {
			return h.match(in, func(text []byte) bool { return known[string(m.mac(text))] })
		}})
	}
	return f
}

// heads are the texts with one window.
type heads struct {
	window  int
	base    uint64
	leaving uint64               // what the byte before a window has counted for
	may     [1 << 16 / 64]uint64 // a bit for each head that exists
	lengths map[uint16][]int     // of the texts with a head, longest first

	possible []func(in []byte, encoded bool) bool // of each, see [possible]; nil for one of which no more is known
}

// glance returns what [possible] does, for all texts together.
func (h *heads) glance() func(in []byte, encoded bool) bool {
	if slices.ContainsFunc(h.possible, func(may func([]byte, bool) bool) bool { return may == nil }) {
		return nil
	}
	return func(in []byte, encoded bool) bool {
		return slices.ContainsFunc(h.possible, func(may func([]byte, bool) bool) bool { return may(in, encoded) })
	}
}

func newHeads(window int, base uint64) *heads {
	h := &heads{window: window, base: base, leaving: 1, lengths: make(map[uint16][]int)}
	for range window {
		h.leaving *= base
	}
	return h
}

func (h *heads) add(t remembered) {
	h.may[t.Head/64] |= 1 << (t.Head % 64)
	if list := h.lengths[t.Head]; !slices.Contains(list, t.Length) {
		list = append(list, t.Length)
		slices.SortFunc(list, func(a, b int) int { return b - a })
		h.lengths[t.Head] = list
	}
}

// match returns the parts, perhaps overlapping, for which is returns true.
func (h *heads) match(in []byte, is func(text []byte) bool) (spans []Span) {
	if len(in) < h.window {
		return nil
	}
	rolled := roll(h.base, in[:h.window])
	for from := 0; ; from++ {
		if first := head(rolled); h.may[first/64]&(1<<(first%64)) != 0 {
			for _, length := range h.lengths[first] {
				if to := from + length; to <= len(in) && is(in[from:to]) {
					spans = append(spans, Span{from, to})
					break
				}
			}
		}
		next := from + h.window
		if next >= len(in) {
			return spans
		}
		rolled = rolled*h.base + (uint64(in[next]) + 1 - h.leaving*(uint64(in[from])+1))
	}
}
