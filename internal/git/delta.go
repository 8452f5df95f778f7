package git

import (
	"encoding/binary"
	"math/bits"
)

// A differ makes deltas, see gitformat-pack(5).
type differ struct {
	seen []uint32 // the first place of a word in the base, plus one, by the word's hash
	out  []byte
}

const (
	word    = 8        // bytes that are compared first
	stride  = 4        // between words of the base
	minCopy = 12       // bytes that are worth a copy
	maxCopy = 0xffff   // bytes of one copy, in two bytes
	maxText = 0x7f     // bytes of one insertion
	maxDiff = 16 << 20 // bytes of what is compared
)

// delta returns what makes target of base, until the next call, or nil if it is
// not smaller by a quarter.
func (d *differ) delta(base, target []byte) []byte {
	if len(base) < word || len(base) > maxDiff || len(target) > maxDiff {
		return nil
	}
	shift := d.index(base)
	d.out = binary.AppendUvarint(binary.AppendUvarint(d.out[:0], uint64(len(base))), uint64(len(target)))
	most := len(target) * 3 / 4
	done := 0 // of the target
	for i := 0; i+word <= len(target) && len(d.out) < most; {
		w := binary.LittleEndian.Uint64(target[i:])
		at := int(d.seen[hashWord(w, shift)]) - 1
		if at < 0 || binary.LittleEndian.Uint64(base[at:]) != w {
			i++
			continue
		}
		n := word + same(base[at+word:], target[i+word:])
		for i > done && at > 0 && base[at-1] == target[i-1] {
			i, at, n = i-1, at-1, n+1
		}
		if n < minCopy {
			i += n
			continue
		}
		d.insert(target[done:i])
		d.copy(at, n)
		i += n
		done = i
	}
	d.insert(target[done:])
	if len(d.out) >= most {
		return nil
	}
	return d.out
}

// index notes where words are in the base. It returns how hashes are shortened.
func (d *differ) index(base []byte) (shift int) {
	size := bits.Len(uint(len(base)/stride)) + 1
	if n := 1 << size; n <= cap(d.seen) {
		d.seen = d.seen[:n]
		clear(d.seen)
	} else {
		d.seen = make([]uint32, n)
	}
	shift = 64 - size
	for i := (len(base) - word) / stride * stride; i >= 0; i -= stride { // the first place of a word counts, as most follows there
		d.seen[hashWord(binary.LittleEndian.Uint64(base[i:]), shift)] = uint32(i) + 1
	}
	return shift
}

func hashWord(w uint64, shift int) uint64 { return w * 0x9e3779b97f4a7c15 >> shift }

// same returns how many bytes a and b begin with.
func same(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (d *differ) insert(text []byte) {
	for len(text) > 0 {
		n := min(len(text), maxText)
		d.out = append(append(d.out, byte(n)), text[:n]...)
		text = text[n:]
	}
}

// copy takes n bytes of the base. Only bytes other than zero of place and number
// are written, and which ones those are.
func (d *differ) copy(at, n int) {
	for n > 0 {
		size := min(n, maxCopy)
		head := len(d.out)
		d.out = append(d.out, 0x80)
		for i, b := range [6]byte{byte(at), byte(at >> 8), byte(at >> 16), byte(at >> 24), byte(size), byte(size >> 8)} {
			if b != 0 {
				d.out[head] |= 1 << i
				d.out = append(d.out, b)
			}
		}
		at, n = at+size, n-size
	}
}
