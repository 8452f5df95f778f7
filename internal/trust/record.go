package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// A known is what this clone knows about a mission's commits. Lines are
// appended to its file in single writes: readers need no lock and ignore a
// partial line. If it is lost, signatures still count, and people accept again.
type known struct {
	own      map[object.Hash]object.Hash // this clone wrote the commit, and those before it down to, but without, the other
	accepted map[object.Hash]bool        // a person accepted the commit with all before it
	checked  map[object.Hash]checked     // what a walk from the commit has found
	last     object.Hash                 // where the ledger's ref was left; see [Trust.Left]
	found    bool                        // it was found there, or moved back
	from     object.Hash                 // what last is to take the place of, see [Trust.Follow]
	size     int                         // bytes of the file
}

// A checked is valid for one list of keys.
type checked struct {
	beginning
	keys string
}

const (
	maxRecord  = 1 << 20  // bytes of a file that are read
	longRecord = 16 << 10 // bytes; a longer file is shortened to what matters
)

func file(id record.ID) string { return "trust/" + string(id) }

func (t *Trust) load(id record.ID) (*known, error) {
	f, err := t.dir.OpenFile(file(id), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // the latter for who may only read here
		return parseRecord(nil), nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxRecord))
		_ = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known about mission %s: %w", id, err)
	}
	return parseRecord(data), nil
}

func parseRecord(data []byte) *known {
	r := &known{
		own: make(map[object.Hash]object.Hash), accepted: make(map[object.Hash]bool),
		checked: make(map[object.Hash]checked), size: len(data),
	}
	older := make(map[object.Hash]bool) // than a commit of a line; no later line can be about it, so runs make no circle
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if !strings.HasSuffix(line, "\n") || len(words) < 2 {
			continue
		}
		var hashes []object.Hash
		for _, w := range words[1:] {
			if h, err := object.ParseHash(w); err == nil {
				hashes = append(hashes, h)
			}
		}
		switch word := words[0]; {
		case word == "own" && len(words) == 3 && len(hashes) == 2:
			if older[hashes[1]] = true; !older[hashes[0]] {
				r.own[hashes[0]] = hashes[1]
			}
			r.last, r.found, r.from = hashes[0], false, object.Hash{}
		case word == "left" && len(words) == 2 && len(hashes) == 1:
			r.last, r.found, r.from = hashes[0], true, object.Hash{}
		case word == "follows" && len(words) == 3 && len(hashes) == 2:
			r.last, r.found, r.from = hashes[0], false, hashes[1]
		case word == "accepted" && len(words) == 2 && len(hashes) == 1:
			r.accepted[hashes[0]] = true
			clear(r.checked) // more may count now
		case word == "checked" && len(words) == 6 && len(hashes) == 3:
			r.checked[hashes[0]] = checked{beginning{hashes[1], hashes[2], words[4] == "here"}, words[5]}
		}
	}
	return r
}

func ownLine(commit, before object.Hash) string {
	return fmt.Sprintf("own %s %s\n", commit, commit.Format().Text(before))
}

// line notes how far a mission is trusted at one of its commits, with the keys
// that it was found with.
func (s Level) line(at object.Hash, keys string) string {
	where := "elsewhere"
	if s.Here {
		where = "here"
	}
	text := at.Format().Text
	return fmt.Sprintf("checked %s %s %s %s %s\n", at, text(s.Commit), text(s.Untrusted), where, keys)
}

func (t *Trust) add(id record.ID, lines string) error {
	f, err := t.dir.OpenFile(file(id), os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err == nil {
		_, err = f.WriteString(lines)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("note who wrote mission %s: %w", id, err)
	}
	return nil
}

// Own notes that this clone writes a commit of a mission's ledger, and those
// before it down to, but without, another one, which is usable; zero if the
// ledger begins with them. To be called before the ledger's ref moves, by the
// holder of the mission's lock.
func (t *Trust) Own(id record.ID, commit, before object.Hash) error {
	if info, err := t.dir.Lstat(file(id)); err == nil && info.Size() > longRecord {
		if err := t.shorten(id); err != nil {
			return err
		}
	}
	return t.add(id, ownLine(commit, before))
}

// A Left is where a mission's ledger was left by this clone.
type Left struct {
	At     object.Hash // zero if nothing is known, or the mission was given up
	Before object.Hash // the commit before, if this clone wrote At; what it takes the place of, see [Trust.Follow]
	Found  bool        // the ref was there; else it was about to be moved there
}

// Left returns where this clone left the ref of a mission's ledger. It may have
// been about to: [Trust.Own] comes first.
func (t *Trust) Left(id record.ID) (Left, error) {
	// The last lines are all that is needed, as a rule; every event asks.
	f, err := t.dir.OpenFile(file(id), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Left{}, nil
	}
	if err == nil {
		defer f.Close()
		var tail [1 << 10]byte
		info, e := f.Stat()
		if err = e; err == nil {
			from := max(0, info.Size()-int64(len(tail)))
			n, _ := f.ReadAt(tail[:], from)
			_, lines, _ := bytes.Cut(tail[:n], []byte("\n")) // the first may be a part
			if from == 0 {
				lines = tail[:n]
			}
			if r := parseRecord(lines); !r.last.IsZero() {
				return r.left(), nil
			}
		}
	}
	r := parseRecord(nil)
	if err == nil {
		r, err = t.load(id)
	}
	if err != nil {
		return Left{}, fmt.Errorf("read where mission %s was left: %w", id, err)
	}
	return r.left(), nil
}

func (r *known) left() Left {
	if !r.from.IsZero() {
		return Left{r.last, r.from, false}
	}
	return Left{r.last, r.own[r.last], r.found}
}

// Leave notes where the ref of a mission's ledger was left, or found with all
// that this clone wrote before it; zero if the mission is given up. An event
// that was not written after all is noted by where the ref stays.
func (t *Trust) Leave(id record.ID, at object.Hash, format object.Format) error {
	if at.IsZero() {
		if _, err := t.dir.Lstat(file(id)); err != nil {
			return nil
		}
	}
	return t.add(id, leftLine(at, format))
}

func leftLine(at object.Hash, format object.Format) string { return "left " + format.Text(at) + "\n" }

// Missions returns the missions of which anything is known.
func (t *Trust) Missions() (ids []record.ID) {
	entries, _ := t.dir.ReadDir("trust") // none before the first event
	for _, e := range entries {
		if id, err := record.ParseID(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// Accept notes that a person accepts a mission as it is at a commit. A side of
// a mission is accepted under both names, the second being that of the mission
// which it went on from.
func (t *Trust) Accept(commit object.Hash, ids ...record.ID) error {
	for _, id := range ids {
		if err := t.add(id, fmt.Sprintf("accepted %s\n", commit)); err != nil {
			return err
		}
	}
	return nil
}

// Inherit gives a mission that begins at a commit of another one what is known
// about the commits up to there. contains reports whether the first commit is
// the second or comes after it.
func (t *Trust) Inherit(to, from record.ID, commit object.Hash, contains func(a, b object.Hash) (bool, error)) error {
	r, err := t.load(from)
	if err != nil {
		return err
	}
	if r, err = r.upTo(commit, contains); err != nil {
		return fmt.Errorf("note who wrote mission %s: %w", to, err)
	}
	if lines := r.lines(); lines != "" {
		return t.add(to, lines)
	}
	return nil
}

// Follow gives a mission, which may have a new name, what is known about the
// commits of another one, for those that take their places: what was known
// stays. This clone wrote own as well, and those before it, unless it is zero.
// To be called before a ref leads to these, and [Trust.Followed] then: a ref
// that never came to lead there was not moved by others.
func (t *Trust) Follow(to, from record.ID, successor func(object.Hash) object.Hash, own object.Hash) error {
	r, err := t.load(from)
	if err != nil {
		return err
	}
	followed := parseRecord(nil)
	for end, before := range r.own {
		if next := successor(end); to != from || next != end {
			followed.own[next] = successor(before)
		}
	}
	if !own.IsZero() {
		followed.own[own] = object.Hash{}
	}
	for accepted := range r.accepted {
		if next := successor(accepted); to != from || next != accepted {
			followed.accepted[next] = true
		}
	}
	was := r.last
	if next := successor(r.from); successor(was) == was && next != r.from { // it was never moved
		was = r.from
	}
	if followed.last = successor(was); followed.last != was {
		followed.from = was
	} else if was.IsZero() {
		followed.last = own
	}
	if lines := followed.lines(); lines != "" {
		return t.add(to, lines)
	}
	return nil
}

// Followed notes that the ref of a mission leads to where [Trust.Follow] has
// said that it would.
func (t *Trust) Followed(id record.ID) error {
	r, err := t.load(id)
	if err != nil || r.from.IsZero() {
		return err
	}
	return t.add(id, leftLine(r.last, r.last.Format()))
}

// upTo is the record of the commits up to one of them.
func (r *known) upTo(commit object.Hash, contains func(a, b object.Hash) (bool, error)) (*known, error) {
	up := parseRecord(nil)
	for end, before := range r.merged().own {
		old, err := contains(commit, end)
		if err != nil {
			continue // it lost a race, and was never written
		}
		if !old {
			in, err := contains(end, commit)
			if err == nil && in && !before.IsZero() { // the run must begin before the commit
				var later bool
				later, err = contains(before, commit)
				in = !later
			}
			if err != nil {
				return nil, err
			}
			if !in {
				continue
			}
			end = commit
		}
		up.own[end] = before
	}
	for accepted := range r.accepted {
		if old, err := contains(commit, accepted); err == nil && old {
			up.accepted[accepted] = true
		} else if within, err := contains(accepted, commit); err == nil && within {
			up.accepted[commit] = true
		}
	}
	return up, nil
}

// merged returns the record with adjacent runs joined.
func (r *known) merged() *known {
	m := &known{own: make(map[object.Hash]object.Hash), accepted: r.accepted, checked: r.checked, last: r.last}
	inner := make(map[object.Hash]bool)
	for _, before := range r.own {
		inner[before] = true
	}
	for end, before := range r.own {
		if inner[end] {
			continue
		}
		for {
			next, ok := r.own[before]
			if !ok {
				break
			}
			before = next
		}
		m.own[end] = before
	}
	return m
}

// lines returns the record without checked, which can be found again.
func (r *known) lines() string {
	var b strings.Builder
	for commit := range r.accepted {
		fmt.Fprintf(&b, "accepted %s\n", commit)
	}
	for end, before := range r.own {
		b.WriteString(ownLine(end, before))
	}
	for end := range r.own { // their order says nothing
		if !r.from.IsZero() {
			fmt.Fprintf(&b, "follows %s %s\n", r.last, r.from)
			break
		}
		b.WriteString(leftLine(r.last, end.Format()))
		break
	}
	return b.String()
}

func (t *Trust) shorten(id record.ID) error {
	r, err := t.load(id)
	if err != nil {
		return err
	}
	if err := t.dir.WriteFile(file(id)+".new", []byte(r.merged().lines())); err != nil {
		return err
	}
	return t.dir.Rename(file(id)+".new", file(id))
}

func (t *Trust) Forget(id record.ID) error {
	err := t.dir.Remove(file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Known reports whether this clone wrote some of a mission, or it was accepted.
func (t *Trust) Known(id record.ID) bool {
	r, err := t.load(id)
	return err != nil || len(r.own) > 0 || len(r.accepted) > 0
}

// Last returns the commits of a mission that this clone wrote and nothing that
// it wrote follows: its newest, as a rule. One of them may have lost a race,
// and never was in the ledger.
func (t *Trust) Last(id record.ID) ([]object.Hash, error) {
	r, err := t.load(id)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(r.merged().own)), nil
}

// Before returns the commit before one that this clone wrote; zero if that is
// not known, or there is none.
func (t *Trust) Before(id record.ID, commit object.Hash) object.Hash {
	r, err := t.load(id)
	if err != nil {
		return object.Hash{}
	}
	return r.own[commit]
}

// Vouched returns what tells whether this clone wrote a commit of a mission, or
// a person accepted it.
func (t *Trust) Vouched(id record.ID) (func(commit object.Hash) (own, accepted bool), error) {
	r, err := t.load(id)
	if err != nil {
		return nil, err
	}
	return func(commit object.Hash) (own, accepted bool) {
		_, own = r.own[commit]
		return own, r.accepted[commit]
	}, nil
}
