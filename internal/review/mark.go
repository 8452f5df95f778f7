package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
	"gitagent/internal/trust"
	"gitagent/turns"
)

const (
	namespace = "git-agent-reviews" // of signatures: nothing else is signed with it

	// Bounds of what is read of a note, which anybody who can push writes.
	maxLine  = 4 << 10 // bytes
	maxLines = 200
	maxBy    = 200 // runes
)

// A Mark says that a person has looked at all turns of a mission up to one.
type Mark struct {
	V       int         `json:"v"`
	Kind    string      `json:"kind"`
	Mission record.ID   `json:"mission"` // the turn's, as its record names it
	Turn    int         `json:"turn"`
	Code    object.Hash `json:"code"`   // the turn's; of another one the mark says nothing
	Ledger  object.Hash `json:"ledger"` // the oldest commit that has this turn and those before as they were looked at
	At      time.Time   `json:"at"`     // UTC, milliseconds
	By      string      `json:"by"`     // git's identity of who signed
	// Signature is that of OpenSSH over text.
	Signature string `json:"signature"`

	Who string `json:"-"` // owner of the key, see [trust.Keys.Name]
	key sshsig.Public
}

// Reviewer names who looked: by name and address if the key is the user's own,
// else by the name that the user has given it.
func (m *Mark) Reviewer() string {
	if m.Who == trust.Machine {
		return m.By
	}
	return m.Who
}

// Name is the Reviewer's without an address.
func (m *Mark) Name() string {
	name, _, _ := strings.Cut(m.Reviewer(), " <")
	return cmp.Or(name, m.Reviewer())
}

// text is what is signed.
func (m *Mark) text() []byte {
	return fmt.Appendf(nil, "git-agent review 1\n%s/%d\n%s\n%s\n%s\n%s\n", m.Mission, m.Turn, m.Code, m.Ledger, m.At.UTC().Format(time.RFC3339Nano), m.By)
}

// newMark returns the signed mark of a turn.
func newMark(key sshsig.Key, t *turns.Turn, looked object.Hash, at time.Time, by object.Signature) *Mark {
	m := &Mark{
		V: record.Version, Kind: record.KindReview, Mission: t.Mission, Turn: t.Turn, Code: t.Code, Ledger: looked, At: at.UTC().Truncate(time.Millisecond),
		By: ledger.Head(fmt.Sprintf("%s <%s>", by.Name, by.Email), maxBy), Who: trust.Machine, key: key.Public(),
	}
	m.Signature = string(sshsig.SignAs(namespace, key, m.text()))
	return m
}

// parse returns the mark that a line is, nil for any other line.
func parse(line []byte) *Mark {
	m := new(Mark)
	if len(line) > maxLine || json.Unmarshal(line, m) != nil || m.Kind != record.KindReview || m.V != record.Version || !record.IsNumber(m.Turn) {
		return nil
	}
	by, err := sshsig.VerifyAs(namespace, []byte(m.Signature), m.text())
	if err != nil || strings.Contains(m.By, "\n") {
		return nil
	}
	m.key = by
	return m
}

// counting returns the marks of a note that the keys trust, the newest of each key.
func counting(note []byte, keys *trust.Keys) []*Mark {
	var list []*Mark
	n := 0
	for line := range bytes.Lines(note) {
		if n++; n > maxLines {
			break
		}
		m := parse(bytes.TrimSuffix(line, []byte("\n")))
		if m == nil || !keys.Trusts(m.key) {
			continue
		}
		m.Who = keys.Name(m.key)
		i := slices.IndexFunc(list, func(o *Mark) bool { return o.key == m.key })
		switch {
		case i < 0:
			list = append(list, m)
		case m.At.After(list[i].At):
			list[i] = m
		}
	}
	return list
}

// after returns at, or a time after all marks of a key in a note: of two the
// newest counts, and clocks differ, and are set back.
func after(note []byte, key sshsig.Public, at time.Time) time.Time {
	for line := range bytes.Lines(note) {
		if o := parse(bytes.TrimSuffix(line, []byte("\n"))); o != nil && o.key == key && !at.After(o.At) {
			at = o.At.Add(time.Millisecond)
		}
	}
	return at
}

// with returns a note with a mark in place of the earlier ones of its key. It is
// the first line, and what no reader would look at goes.
func (m *Mark) with(note []byte) ([]byte, error) {
	out, err := record.Encode(m, nil)
	n := 1
	for line := range bytes.Lines(note) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if o := parse(line); len(line) > maxLine || n == maxLines || o != nil && o.key == m.key {
			continue
		}
		out = append(append(out, '\n'), line...)
		n++
	}
	return append(out, '\n'), err
}
