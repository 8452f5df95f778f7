package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/session"
)

// A Held is a mission of which others have purged more than is done without a
// question, or what can't be done here yet. It stays as it is, and is sent
// nowhere, until a person decides.
type Held struct {
	Mission  record.ID   `json:"-"`
	At       time.Time   `json:"at"`               // when that was seen first
	From     string      `json:"from"`             // the remote, "" if it can't be read what is noted
	By       []string    `json:"by"`               // names of the keys
	Missions []record.ID `json:"missions"`         // that are decided about together
	Gone     bool        `json:"gone,omitzero"`    // the mission is to go
	WentOn   bool        `json:"went_on,omitzero"` // it has gone on since
	Turns    int         `json:"turns,omitzero"`
	Files    int         `json:"files,omitzero"`
	Texts    int         `json:"texts,omitzero"`
	Common   int         `json:"common,omitzero"`
	Cut      int64       `json:"cut,omitzero"`
	Of       int64       `json:"of,omitzero"`
	Here     bool        `json:"here,omitzero"` // the mission is here, not just at the remote
	// Kept says that a person has decided against it: they are not asked again
	// unless more is asked for.
	Kept bool `json:"kept,omitzero"`
	// Away says that nothing is to be decided: what takes its place is nowhere yet.
	Away bool `json:"away,omitzero"`
}

// heldDir has a file for each such mission.
const heldDir = "held"

func heldFile(id record.ID) string { return filepath.Join(heldDir, string(id)) }

// IsHeld reports whether a mission waits for a person's decision.
func IsHeld(s session.Store, id record.ID) bool {
	_, err := s.Dir().Lstat(heldFile(id))
	return err == nil
}

// IsKept reports whether a person has decided to keep a mission that is held.
func IsKept(s session.Store, id record.ID) bool {
	held, err := AllHeld(s)
	return err == nil && slices.ContainsFunc(held, func(h Held) bool { return h.Mission == id && h.Kept })
}

// AllHeld returns the missions that wait for a person's decision, by their ids.
func AllHeld(s session.Store) ([]Held, error) {
	entries, err := s.Dir().ReadDir(heldDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read which missions are held: %w", err)
	}
	var list []Held
	for _, e := range entries {
		id, err := record.ParseID(e.Name())
		if err != nil {
			continue
		}
		h := Held{Mission: id}
		if data, err := s.Dir().ReadFile(heldFile(id)); err != nil || json.Unmarshal(data, &h) != nil || len(h.Missions) == 0 {
			h = Held{Mission: id, Missions: []record.ID{id}, Gone: true, Here: true} // it is held, and may be all of it
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Held) int { return slices.Compare([]byte(a.Mission), []byte(b.Mission)) })
	return list, nil
}

// heldLock is held by who changes what is noted.
const heldLock = "held"

// changeHeld calls change with what is held, while nobody else changes that.
func changeHeld(ctx context.Context, s session.Store, change func(held []Held) error) error {
	lock, err := s.Lock(ctx, heldLock)
	if err != nil {
		return err
	}
	defer lock.Release()
	held, err := AllHeld(s)
	if err != nil {
		return err
	}
	return change(held)
}

// Keep notes of missions that are held whether a person has decided against it.
func Keep(ctx context.Context, s session.Store, ids []record.ID, kept bool) error {
	return changeHeld(ctx, s, func(held []Held) error {
		for _, h := range held {
			if !slices.Contains(ids, h.Mission) || h.Kept == kept {
				continue
			}
			h.Kept = kept
			if err := h.write(s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *Held) write(s session.Store) error {
	data, err := json.Marshal(h)
	if err == nil {
		err = s.Dir().WriteFile(heldFile(h.Mission)+".new", data)
	}
	if err == nil {
		err = s.Dir().Rename(heldFile(h.Mission)+".new", heldFile(h.Mission))
	}
	if err != nil {
		return fmt.Errorf("note that mission %s is held: %w", h.Mission, err)
	}
	return nil
}

// Release forgets that a mission is held, as one that is gone.
func Release(s session.Store, id record.ID) error {
	err := s.Dir().Remove(heldFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// waiting returns what a person has to decide about of what a map was matched
// with.
func (a *Apply) waiting(found *purgemap.Matched) (list []Held) {
	for _, id := range slices.Sorted(maps.Keys(found.Held)) {
		why := found.Held[id]
		if !why.Waits() && !why.Away {
			continue
		}
		h := Held{Mission: id, From: a.From, Missions: []record.ID{id}, Gone: why.WentOn, WentOn: why.WentOn, Here: found.Looked[id], Away: why.Away && !why.Waits()}
		if b := why.Beyond; b != nil {
			h.Missions, h.Gone, h.Turns, h.Files, h.Texts, h.Common, h.Cut, h.Of = b.Missions, b.Gone, b.Turns, b.Files, b.Texts, b.Common, b.Cut, b.Of
			for _, key := range b.By {
				h.By = append(h.By, a.Trust.Keys().Name(key))
			}
		}
		list = append(list, h)
	}
	return list
}

// note notes what is held, before anything else is done, with what a person has
// decided about it, and returns what was not held before.
func (a *Apply) note(ctx context.Context, held []Held) (fresh []Held, err error) {
	err = changeHeld(ctx, a.Store, func(before []Held) error {
		for i := range held {
			h, told := &held[i], false
			h.At = time.Now()
			if i := slices.IndexFunc(before, func(b Held) bool { return b.Mission == h.Mission }); i >= 0 {
				b := before[i]
				told = sameHeld(b, *h)
				if h.At, h.Kept = b.At, b.Kept && told; reflect.DeepEqual(b, *h) {
					continue
				}
			}
			if err := h.write(a.Store); err != nil {
				return err
			}
			if !told {
				fresh = append(fresh, *h)
			}
		}
		return nil
	})
	return fresh, err
}

// release forgets what is held no longer. It comes last: killed before, what a
// person has let go would stay, and be sent.
func (a *Apply) release(ctx context.Context, done *Applied, looked map[record.ID]bool) error {
	return changeHeld(ctx, a.Store, func(before []Held) error {
		for _, b := range before {
			if _, is := looked[b.Mission]; !is || slices.ContainsFunc(done.Waiting, func(h Held) bool { return h.Mission == b.Mission }) {
				continue
			}
			if err := Release(a.Store, b.Mission); err != nil {
				return err
			}
			done.Freed = append(done.Freed, b.Mission)
		}
		return nil
	})
}

// sameHeld reports whether the user has been told all of it, whoever asks for it.
func sameHeld(a, b Held) bool {
	return a.Gone == b.Gone && a.Turns == b.Turns && a.Files == b.Files && a.Texts == b.Texts && slices.Equal(a.Missions, b.Missions) && a.Here == b.Here && a.Away == b.Away
}
