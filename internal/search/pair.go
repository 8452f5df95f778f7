package search

import (
	"encoding/binary"
	"math/bits"
)

// A pair finds where two bytes, each in one of two spellings, may stand at a
// distance. It looks at eight places at once: also where each byte is
// frequent, both seldom are.
type pair struct {
	first, second   uint64 // eight times the byte, with what its spellings differ in
	differ, differs uint64 // eight times that
	apart           int
}

const (
	ones  = ^uint64(0) / 255 // one in each byte
	highs = ones << 7
)

func newPair(first, orFirst, second, orSecond byte, apart int) pair {
	return pair{
		first: ones * uint64(first|orFirst), differ: ones * uint64(first^orFirst),
		second: ones * uint64(second|orSecond), differs: ones * uint64(second^orSecond),
		apart: apart,
	}
}

// next returns the first place from an offset on, or len(b).
func (p *pair) next(b []byte, from int) int {
	if from+p.apart >= len(b) {
		return len(b)
	}
	x, y := b[from:], b[from+p.apart:]
	for ; len(y) >= 32 && len(x) >= 32; x, y = x[32:], y[32:] {
		u, v := (*[32]byte)(x), (*[32]byte)(y)
		if p.zero(u[:8], v[:8])|p.zero(u[8:16], v[8:16])|p.zero(u[16:24], v[16:24])|p.zero(u[24:], v[24:]) != 0 {
			break
		}
	}
	for ; len(y) >= 8 && len(x) >= 8; x, y = x[8:], y[8:] {
		if zero := p.zero(x, y); zero != 0 {
			return len(b) - len(x) + bits.TrailingZeros64(zero)/8
		}
	}
	for i, c := range y {
		if x[i]|byte(p.differ) == byte(p.first) && c|byte(p.differs) == byte(p.second) {
			return len(b) - len(x) + i
		}
	}
	return len(b)
}

// zero has the high bit of the first of eight places where both are, and of none
// before it.
func (p *pair) zero(x, y []byte) uint64 {
	z := ((binary.LittleEndian.Uint64(x) | p.differ) ^ p.first) | ((binary.LittleEndian.Uint64(y) | p.differs) ^ p.second)
	return (z - ones) &^ z & highs // a zero byte borrows
}
