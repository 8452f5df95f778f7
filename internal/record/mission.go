package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gitagent/internal/git"
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
	Agent       string    `json:"agent,omitempty" purge:"formal"`       // that it began with, by its name in records
	Base        string    `json:"base,omitempty" purge:"hash"`          // the commit that it started from; empty on an unborn branch
	Branch      string    `json:"branch,omitempty" purge:"formal"`      // full name; empty for a passive mission
	ForkedFrom  *TurnID   `json:"forked_from,omitempty"`                // the turn whose ledger commit this ledger starts at
	Predecessor ID        `json:"predecessor,omitempty" purge:"formal"` // the mission that a /clear in the same client has ended
	Sessions    []string  `json:"sessions,omitempty" purge:"formal"`    // in order of their first turn
	Finished    *Finish   `json:"finished,omitempty"`                   // when its work was committed last; see [Finish.Holds]
	Adopted     *Adoption `json:"adopted,omitempty"`                    // when another checkout took its work over last; see [Adoption.Holds]
	Spent       *Usage    `json:"tokens,omitempty" purge:"names"`       // of its own turns; nil if nobody has counted

	Began   ID `json:"-"` // the id it was recorded under; differs from ID in a side of a mission that went on in two clones
	unknown Fields
}

// A TurnID names a turn of any mission, written `a1b2c3d4/12`.
type TurnID struct {
	Mission ID  `json:"mission" purge:"formal"`
	Turn    int `json:"turn" purge:"number"`
}

func (t TurnID) String() string { return fmt.Sprintf("%s/%d", t.Mission, t.Turn) }

// A Finish says that all of a mission's work up to a turn is in a commit that is not the mission's own.
type Finish struct {
	Commit git.Hash  `json:"commit" purge:"hash,users"`
	Turn   int       `json:"turn" purge:"number"`       // the last one that is finished; 0 if there is none
	At     time.Time `json:"at" purge:"formal"`         // not before that turn was recorded
	Tip    git.Hash  `json:"tip,omitzero" purge:"hash"` // what the commit has the work of: the mission's branch; zero for a passive mission
}

// Holds reports whether a mission whose last turn was recorded at that time has not gone on since.
func (f *Finish) Holds(last int, at time.Time) bool {
	return f != nil && last <= f.Turn && !at.After(f.At)
}

// An Adoption says that the work of a fork up to a turn was taken over by another checkout.
type Adoption struct {
	Turn   int       `json:"turn" purge:"number"` // the last one that was adopted
	At     time.Time `json:"at" purge:"formal"`
	Commit git.Hash  `json:"commit,omitzero" purge:"hash,users"` // HEAD after the fork's commits were taken; zero if the work went into the worktree
	Undone bool      `json:"undone,omitempty" purge:"number"`    // it was taken back
}

// Holds reports whether the work up to the mission's last turn was adopted, and not taken back.
func (a *Adoption) Holds(last int) bool { return a != nil && !a.Undone && last <= a.Turn }

// ParseMission decodes a mission.json. If its format is newer, the error wraps [ErrVersion].
func ParseMission(data []byte) (*Mission, error) {
	m := new(Mission)
	err := Decode(data, m)
	if err == nil {
		m.unknown, err = Unknown(data, m)
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

// ParseHead decodes the mission.json in the ledger of the mission id, in a repository whose hashes have that format. The ref's name counts, not
// the one in the file: when a mission went on in two clones, one side has another name, and is a
// fork of the other side at a turn that the file does not record.
func ParseHead(id ID, data []byte, format git.Format) (*Mission, error) {
	m, err := ParseMission(data)
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

// Encode returns the mission.json, one line with its newline.
func (m *Mission) Encode() ([]byte, error) {
	line, err := Encode(m, m.unknown)
	return append(line, '\n'), err
}

// AddSession notes that a session records to the mission, and reports whether it is new there.
func (m *Mission) AddSession(session string) bool {
	if session == "" || slices.Contains(m.Sessions, session) {
		return false
	}
	m.Sessions = append(m.Sessions, session)
	return true
}
