package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gitagent/internal/git/object"
)

// Version is the version of the format that this package writes.
const Version = 1

// ErrVersion reports a record in a newer version of the format.
var ErrVersion = errors.New("unknown format version")

// A Mission is the head of a ledger, mission.json.
type Mission struct {
	V           int       `json:"v" purge:"formal"`
	ID          ID        `json:"id" purge:"formal"`
	Title       string    `json:"title,omitempty" purge:"title,copied"`
	Created     time.Time `json:"created" purge:"formal"`
	Agent       string    `json:"agent,omitempty" purge:"formal"`       // the first one, by its name in records
	Base        string    `json:"base,omitempty" purge:"hash"`          // first HEAD; empty on an unborn branch
	Branch      string    `json:"branch,omitempty" purge:"formal"`      // full name; empty for a passive mission
	ForkedFrom  *TurnID   `json:"forked_from,omitempty"`                // the turn at which this ledger starts
	Predecessor ID        `json:"predecessor,omitempty" purge:"formal"` // ended by a /clear in the same client
	Sessions    []string  `json:"sessions,omitempty" purge:"formal"`    // in order of their first turn
	Finished    *Finish   `json:"finished,omitempty"`                   // the last one; see [Finish.Holds]
	Adopted     *Adoption `json:"adopted,omitempty"`                    // the last one; see [Adoption.Holds]
	Spent       *Usage    `json:"tokens,omitempty" purge:"names"`       // in its own turns; nil if not counted

	Began   ID `json:"-"` // the id it was recorded under; differs from ID in a diverged part
	unknown Fields
}

// A TurnID names a turn of any mission, written `a1b2c3d4/12`.
type TurnID struct {
	Mission ID  `json:"mission" purge:"formal"`
	Turn    int `json:"turn" purge:"number"`
}

func (t TurnID) String() string { return fmt.Sprintf("%s/%d", t.Mission, t.Turn) }

// A Finish records that a mission's work up to a turn is in another commit.
type Finish struct {
	Commit object.Hash `json:"commit" purge:"hash,users"`
	Turn   int         `json:"turn" purge:"number"`       // the last finished turn, or 0
	At     time.Time   `json:"at" purge:"formal"`         // not before that turn was recorded
	Tip    object.Hash `json:"tip,omitzero" purge:"hash"` // the branch that Commit finishes; zero if passive
}

// Holds reports whether the finish includes the last turn, recorded at at.
func (f *Finish) Holds(last int, at time.Time) bool {
	return f != nil && last <= f.Turn && !at.After(f.At)
}

// An Adoption records that a checkout adopted a fork's work up to a turn.
type Adoption struct {
	Turn   int         `json:"turn" purge:"number"` // the last adopted turn
	At     time.Time   `json:"at" purge:"formal"`
	Commit object.Hash `json:"commit,omitzero" purge:"hash,users"` // HEAD with the work; zero if in the worktree only
	Undone bool        `json:"undone,omitempty" purge:"number"`    // it was undone
}

// Holds reports whether all turns are adopted, and it was not undone.
func (a *Adoption) Holds(last int) bool { return a != nil && !a.Undone && last <= a.Turn }

// ParseMission parses a mission.json; the error may wrap [ErrVersion].
func ParseMission(text string) (*Mission, error) {
	m := new(Mission)
	unknown, err := decode(text, m)
	if err == nil && unknown {
		m.unknown, err = Unknown([]byte(text), m)
	}
	if err == nil && m.V != Version {
		err = fmt.Errorf("%w: v%d", ErrVersion, m.V)
	}
	if err == nil {
		_, err = ParseID(m.ID)
	}
	if from := m.ForkedFrom; err == nil && from != nil {
		_, err = ParseID(from.Mission)
		if err == nil && from.Turn != 0 && !IsNumber(from.Turn) {
			err = fmt.Errorf("it is forked from turn %d", from.Turn)
		}
	}
	if f := m.Finished; err == nil && f != nil && (f.Commit.IsZero() || f.Turn != 0 && !IsNumber(f.Turn)) {
		err = fmt.Errorf("it is finished at turn %d in the commit %q", f.Turn, f.Commit)
	}
	if a := m.Adopted; err == nil && a != nil && !IsNumber(a.Turn) {
		err = fmt.Errorf("it is adopted at turn %d", a.Turn)
	}
	if err == nil && m.Predecessor != "" {
		_, err = ParseID(m.Predecessor)
	}
	if err != nil {
		return nil, fmt.Errorf("parse mission.json: %w", err)
	}
	return m, nil
}

// ParseHead parses the mission.json of mission id's ledger, with hashes of a
// format. The ref's id counts, not the file's: if clones diverged, one part has
// a new id, and is a fork of the other at a turn that the file does not record.
func ParseHead(id ID, text string, format object.Format) (*Mission, error) {
	m, err := ParseMission(text)
	if err != nil {
		return nil, err
	}
	if f := m.Finished; f != nil && !format.Names(f.Commit, f.Tip) || m.Adopted != nil && !format.Names(m.Adopted.Commit) {
		return nil, fmt.Errorf("parse mission.json: a hash is not of the format %s", format)
	}
	if m.Began = m.ID; m.Began != id {
		m.ID, m.ForkedFrom = id, &TurnID{Mission: m.Began}
	}
	return m, nil
}

// Encode returns the mission.json, a line with its newline.
func (m *Mission) Encode() ([]byte, error) {
	line, err := Encode(m, m.unknown)
	return append(line, '\n'), err
}

// AddSession adds a session of the mission, and reports whether it is new.
func (m *Mission) AddSession(session string) bool {
	if session == "" || slices.Contains(m.Sessions, session) {
		return false
	}
	m.Sessions = append(m.Sessions, session)
	return true
}
