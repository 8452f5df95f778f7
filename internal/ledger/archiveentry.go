package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// An ArchiveEntry is a mission in the archive, or notes that it was removed.
type ArchiveEntry struct {
	ID      record.ID   `json:"id"`               // 8 or 12 hex digits
	Ledger  object.Hash `json:"ledger,omitzero"`  // zero if it was removed
	Notes   object.Hash `json:"notes,omitzero"`   // zero if it has none
	Branch  object.Hash `json:"branch,omitzero"`  // zero for a passive mission
	Removed object.Hash `json:"removed,omitzero"` // the ledger's last commit, if it was removed
	Title   string      `json:"title,omitempty"`  // the mission's, for people
	At      int64       `json:"at,omitempty"`     // its last event, seconds since 1970, also if removed
	Turns   int         `json:"turns,omitempty"`  // the number of its last turn
}

// ArchiveTitle returns what an entry has of a mission's title.
func ArchiveTitle(title string) string {
	return Head(strings.ToValidUTF8(title, "\uFFFD"), record.MaxPrompt)
}

// Gone reports whether the mission was removed.
func (e ArchiveEntry) Gone() bool { return e.Ledger.IsZero() }

// Time returns the time of the mission's last event.
func (e ArchiveEntry) Time() time.Time { return time.Unix(e.At, 0).UTC() }

// last returns the ledger's last commit, also if removed.
func (e ArchiveEntry) last() object.Hash {
	if e.Gone() {
		return e.Removed
	}
	return e.Ledger
}

// tips returns what keeps the mission's objects.
func (e ArchiveEntry) tips() (tips []object.Hash) {
	for _, h := range []object.Hash{e.Ledger, e.Notes, e.Branch} {
		if !h.IsZero() {
			tips = append(tips, h)
		}
	}
	return tips
}

// Limits of an entry: its line in bytes, and its title.
const (
	maxLine  = 8 << 10
	maxTitle = 500 // runes
)

func (e ArchiveEntry) line() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // nothing in it can fail
	return b.Bytes()
}

func encodeEntries(entries map[record.ID]ArchiveEntry) ([]byte, error) {
	var out []byte
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		e := entries[id]
		if e.ID != id || !id.Valid() || e.Gone() == e.Removed.IsZero() || !utf8.ValidString(e.Title) || utf8.RuneCountInString(e.Title) > maxTitle {
			return nil, fmt.Errorf("archive mission %s: its entry is not valid", id)
		}
		out = append(out, e.line()...)
	}
	return out, nil
}

// decodeEntries returns a file's valid entries, and an error if others are not.
func decodeEntries(name string, content []byte, format object.Format) (entries []ArchiveEntry, err error) {
	bad := 0
	for line := range bytes.Lines(content) {
		var e ArchiveEntry
		if len(line) > maxLine || json.Unmarshal(line, &e) != nil || !bytes.Equal(e.line(), line) || !e.ID.Valid() || string(e.ID[:2]) != name ||
			e.Gone() == e.Removed.IsZero() || !format.Names(e.Ledger, e.Notes, e.Branch, e.Removed) || utf8.RuneCountInString(e.Title) > maxTitle || e.Turns < 0 {
			bad++
			continue
		}
		if n := len(entries); n > 0 && entries[n-1].ID >= e.ID {
			return entries, errOrder
		}
		entries = append(entries, e)
	}
	if bad > 0 {
		err = fmt.Errorf("%d lines are not valid", bad)
	}
	return entries, err
}
