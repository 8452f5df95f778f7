package opencode

import (
	"crypto/rand"
	"fmt"
	"time"
)

// An id is a word, 12 hex digits of a time and a count, and 14 random
// characters. Ids of messages and parts grow and so sort them; sessions' fall.

type ids struct{ next uint64 }

// idsAt makes ids before those of any time after at, for all messages.
func idsAt(at time.Time) *ids { return &ids{uint64(at.Add(-time.Minute).UnixMilli()) << 12} }

func (i *ids) make(word string) string {
	i.next++
	return id(word, i.next)
}

// NewSession returns an id for a new session.
func NewSession() string { return id("ses", ^(uint64(time.Now().UnixMilli())<<12 + 1)) }

func id(word string, count uint64) string {
	return fmt.Sprintf("%s_%012x%s", word, count&(1<<48-1), rand.Text()[:14])
}
