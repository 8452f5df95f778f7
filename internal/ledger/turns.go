package ledger

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// perDir is how many turns share a directory, which every turn rewrites.
const perDir = 100

// TurnPath returns the file of a turn: "turns" and ".json", or "transcript" and
// ".jsonl".
func TurnPath(kind string, turn int, ext string) string {
	return fmt.Sprintf("%s/%04d/%06d%s", kind, turn/perDir, turn, ext)
}

// A Numbered is a turn's record, or a directory of records.
type Numbered struct {
	Number int
	Hash   object.Hash
}

// NewestDirs returns the directories in turns/, the newest turns first.
func NewestDirs(entries map[string]object.Entry) []Numbered {
	return newest(entries, func(name string, e object.Entry) (int, bool) {
		n, ok := padded(name, 4, "")
		return n, ok && e.Mode == filemode.Dir
	})
}

// NewestRecords returns the records in such a directory, the newest first.
func NewestRecords(dir int, entries map[string]object.Entry) []Numbered {
	return newest(entries, func(name string, e object.Entry) (int, bool) {
		n, ok := padded(name, 6, ".json")
		return n, ok && record.IsNumber(n) && n/perDir == dir && isFile(e)
	})
}

func newest(entries map[string]object.Entry, number func(string, object.Entry) (int, bool)) []Numbered {
	var list []Numbered
	for name, e := range entries {
		if n, ok := number(name, e); ok {
			list = append(list, Numbered{n, e.Hash})
		}
	}
	slices.SortFunc(list, func(a, b Numbered) int { return b.Number - a.Number })
	return list
}

// Turns yields the records of turns, the newest first. An unreadable directory
// is an error in place of its turns, with their first number.
func (l *Ledger) Turns() iter.Seq2[Numbered, error] { return l.TurnsBelow(record.MaxNumber + 1) }

// TurnsAfter is Turns for numbers above number.
func (l *Ledger) TurnsAfter(number int) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		for r, err := range l.Turns() {
			if err == nil && r.Number <= number || !yield(r, err) {
				return
			}
		}
	}
}

// TurnsBelow is Turns for numbers below number.
func (l *Ledger) TurnsBelow(number int) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		dirs, err := l.TurnDirs()
		if err != nil {
			yield(Numbered{}, err)
			return
		}
		for _, d := range dirs {
			if d.FirstIn() >= number {
				continue
			}
			records, err := l.InDir(d)
			if err != nil && !yield(Numbered{Number: d.FirstIn()}, err) {
				return
			}
			for _, r := range records {
				if r.Number < number && !yield(r, nil) {
					return
				}
			}
		}
	}
}

// TurnDirs returns the directories with the records of turns, the newest turns
// first.
func (l *Ledger) TurnDirs() ([]Numbered, error) {
	top, err := l.dir("turns")
	return NewestDirs(top), err
}

// InDir returns the records of turns in a directory, the newest first.
func (l *Ledger) InDir(d Numbered) ([]Numbered, error) {
	entries, err := l.objects.Tree(d.Hash, MaxTree)
	if err != nil {
		first := d.FirstIn()
		return nil, fmt.Errorf("read turns %d to %d of mission %s: %w", first, first+perDir-1, l.ID, err)
	}
	return NewestRecords(d.Number, entries), nil
}

// FirstIn returns the least number that a turn in a directory can have.
func (d Numbered) FirstIn() int { return d.Number * perDir }

// Replaced returns the numbers of turns up to one whose records are others than
// in an earlier ledger of the mission, the newest first. Directories that are
// the same cost nothing.
func (l *Ledger) Replaced(before *Ledger, until int) (numbers []int, err error) {
	now, err := l.dir("turns")
	if err != nil {
		return nil, err
	}
	for _, d := range NewestDirs(now) {
		name := path.Dir(TurnPath("turns", d.Number*perDir, ""))
		was, err := before.Entry(name)
		if err != nil {
			return nil, err
		}
		if was.Hash == d.Hash || d.Number*perDir > until {
			continue
		}
		then, err := before.dir(name)
		if err != nil {
			return nil, err
		}
		entries, err := l.dir(name)
		if err != nil {
			return nil, err
		}
		for _, r := range NewestRecords(d.Number, entries) {
			if r.Number <= until && then[path.Base(TurnPath("turns", r.Number, ".json"))].Hash != r.Hash {
				numbers = append(numbers, r.Number)
			}
		}
	}
	return numbers, nil
}

// LastTurn returns the number of the mission's last turn, or 0.
func (l *Ledger) LastTurn() (int, error) {
	for r, err := range l.Turns() {
		return r.Number, err
	}
	return 0, nil
}

// padded parses a tree entry's name: that many digits, and ext.
func padded(name string, digits int, ext string) (int, bool) {
	name, ok := strings.CutSuffix(name, ext)
	if !ok || len(name) != digits || strings.Trim(name, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(name)
	return n, err == nil
}
