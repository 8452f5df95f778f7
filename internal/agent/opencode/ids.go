package opencode

import (
	"crypto/rand"
	"fmt"
	"time"
)

// The client's ids are a word, 48 bits of a time and a count in 12 hex digits, and 14 random characters.
// Those of messages and parts grow with time, by which the client sorts them; those of sessions fall.

// ids makes ids that follow one another.
type ids struct{ next uint64 }

// idsAt makes ids that come before those of any time after at, however many there are in a conversation.
func idsAt(at time.Time) *ids { return &ids{uint64(at.Add(-time.Minute).UnixMilli()) << 12} }

func (i *ids) make(word string) string {
	i.next++
	return id(word, i.next)
}

// NewSession is an id for a new session.
func NewSession() string { return id("ses", ^(uint64(time.Now().UnixMilli())<<12 + 1)) }

func id(word string, count uint64) string {
	return fmt.Sprintf("%s_%012x%s", word, count&(1<<48-1), rand.Text()[:14])
}
