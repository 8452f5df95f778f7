package session

import (
	"crypto/rand"
	"fmt"
)

// NewID returns an id for a new session: a random UUID, version 4, as Claude Code requires.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error; a failure ends the process
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
