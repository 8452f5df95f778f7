package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// ReadIn returns the record of a turn in a ledger at one of its commits. If
// there is none, the error wraps [git.ErrNotFound].
func ReadIn(l *ledger.Ledger, number int) (*Turn, error) {
	data, err := l.Read(ledger.TurnPath("turns", number, ".json"))
	if err != nil {
		return nil, err
	}
	return parseAt(string(data), l.ID, l.Tip, number)
}

func parseAt(text string, in record.ID, at object.Hash, number int) (*Turn, error) {
	t, err := decode(text, at.Format())
	return t.at(in, at, number, err)
}

// at returns the valid record of a ledger's turn, or why there is none.
func (t *Turn) at(in record.ID, at object.Hash, number int, err error) (*Turn, error) {
	if err == nil && t.Turn != number {
		err = fmt.Errorf("the record has number %d", t.Turn)
	}
	if err != nil {
		return nil, fmt.Errorf("read turn %s: %w", record.TurnID{Mission: in, Turn: number}, err)
	}
	t.Ledger, t.LedgerTip = in, at
	return t, nil
}

// maxPassed limits the unreadable records that [Last] passes over.
const maxPassed = 100

// Last returns the newest readable record of a ledger, or nil if it has none. A
// broken untrusted one must not keep work from being recorded.
func Last(l *ledger.Ledger) (*Turn, error) {
	var unread ledger.ReadErrors
	passed := 0
	for r, err := range l.Turns() {
		if err == nil {
			var t *Turn
			if t, err = ReadIn(l, r.Number); err == nil {
				return t, nil
			}
		}
		unread.Add(err)
		if passed++; passed == maxPassed {
			break
		}
	}
	return nil, unread.Err()
}

// Read returns the record of a turn, or of the last one if number is 0. If
// there is none, the error wraps [git.ErrNotFound].
func Read(ctx context.Context, repo *git.Repo, id record.ID, number int) (*Turn, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, id)
	if err != nil {
		return nil, err
	}
	last, err := l.LastTurn()
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = last
	}
	t, err := ReadIn(l, number)
	if errors.Is(err, git.ErrNotFound) {
		return nil, missingTurn(l, number)
	}
	return t, err
}

// List returns the records of a mission's turns, in order, with inherited ones.
// Unreadable ones are left out, and the error says which; if there is no such
// mission, it is a [MissingError].
func List(ctx context.Context, repo *git.Repo, id record.ID) ([]*Turn, error) {
	var list []*Turn
	err := Each(ctx, repo, id, func(t *Turn) error {
		list = append(list, t)
		return nil
	})
	slices.Reverse(list)
	return list, err
}

// Each calls f with the records of a mission's turns, newest first, while it
// reads them: there may be a million. The strings of a turn are parts of its
// text: who keeps some of many turns clones them. An error of f ends that and is returned.
// Other errors are as for [List].
func Each(ctx context.Context, repo *git.Repo, id record.ID, f func(*Turn) error) error {
	return EachAfter(ctx, repo, id, 0, f)
}

// EachAfter is [Each] for the turns after one.
func EachAfter(ctx context.Context, repo *git.Repo, id record.ID, number int, f func(*Turn) error) error {
	tip, err := tipOf(ctx, repo, id)
	if err != nil {
		return err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.At(objects, id, tip)
	if err != nil {
		return err
	}
	return eachAfter(objects, l, number, f)
}

// EachIn is [Each] for a ledger at a commit. f must not use objects.
func EachIn(objects *git.Objects, l *ledger.Ledger, f func(*Turn) error) error {
	return eachAfter(objects, l, 0, f)
}

func eachAfter(objects *git.Objects, l *ledger.Ledger, number int, f func(*Turn) error) error {
	p := prepare(objects, l)
	defer p.keep()
	return eachRecord(p, func(yield func(listed, error) bool) {
		for r, err := range p.below(record.MaxNumber + 1) {
			if err == nil && r.Number <= number || !yield(r, err) {
				return
			}
		}
	}, f)
}

// SomeIn is [EachIn] for some turns, in the given order.
func SomeIn(objects *git.Objects, l *ledger.Ledger, numbers []int, f func(*Turn) error) error {
	return eachRecord(prepare(objects, l), func(yield func(listed, error) bool) {
		for _, n := range numbers {
			hash, err := l.File(ledger.TurnPath("turns", n, ".json"))
			if !yield(listed{Numbered: ledger.Numbered{Number: n, Hash: hash}}, err) {
				return
			}
		}
	}, f)
}

func eachRecord(p *prepared, list iter.Seq2[listed, error], f func(*Turn) error) error {
	e := &reading{prepared: p, full: make(chan []stored)}
	var done sync.WaitGroup
	done.Go(func() { e.handOver(f) })
	var err error
	var records []listed
	for r, unread := range list {
		if unread != nil {
			e.some = append(e.some, stored{err: unread})
			continue
		}
		if records = append(records, r); len(records) == atOnce {
			if err = e.read(records); err != nil {
				break
			}
			records = records[:0]
		}
	}
	if err == nil {
		err = e.read(records)
	}
	close(e.full)
	done.Wait()
	return cmp.Or(e.stopped, err, e.unread.Err())
}

func tipOf(ctx context.Context, repo *git.Repo, id record.ID) (object.Hash, error) {
	tip, err := ledger.Tip(ctx, repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return object.Hash{}, missingMission(ctx, repo, string(id))
	}
	return tip, err
}

// Limits of a batch, which is parsed, the slow part, while the next is read.
const (
	atOnce      = 256
	bytesAtOnce = 4 << 20
)

// A reading is one pass over a mission's records.
type reading struct {
	*prepared
	some []stored // read, but not sent to full yet
	size int      // of some, in bytes
	full chan []stored

	halt    atomic.Bool // no more are wanted
	stopped error       // why
	unread  ledger.ReadErrors
}

type stored struct {
	number int
	text   string
	turn   *Turn
	err    error

	dir  *directory  // see [listed]
	hash object.Hash // if dir is set
}

// size returns about how many bytes the record takes in memory. The decoded
// record has its own copies of the strings.
func (s *stored) size() int {
	if s.turn == nil {
		return len(s.text)
	}
	return recordSize + 2*len(s.text) + valueSize*(len(s.turn.Paths)+len(s.turn.Skipped)+len(s.turn.Tools)+len(s.turn.Tokens)+sideValues*len(s.turn.Agents))
}

// Sizes of a record besides its text, and of each value in its lists.
const (
	recordSize = 1 << 10
	valueSize  = 100
	sideValues = 5
)

func storedAs(in record.ID, r listed, obj *git.Object, err error) stored {
	s := stored{number: r.Number, dir: r.dir, hash: r.Hash}
	if err == nil && obj.Type != plumbing.BlobObject {
		err = fmt.Errorf("object %s is a %s", obj.Hash, obj.Type)
	}
	if err != nil {
		s.err = fmt.Errorf("read turn %s: %w", record.TurnID{Mission: in, Turn: r.Number}, err)
		return s
	}
	s.text = string(obj.Content)
	return s
}

// fetch calls f with the records, in order; those that no block had, git reads.
func (p *prepared) fetch(records []listed, f func(i int, s stored) error) error {
	for start := 0; start < len(records); {
		if r := records[start]; r.text != "" {
			if err := f(start, stored{number: r.Number, text: r.text}); err != nil {
				return err
			}
			start++
			continue
		}
		var wanted []git.Wanted
		for _, r := range records[start:] {
			if r.text != "" {
				break
			}
			wanted = append(wanted, git.Wanted{Hash: r.Hash, Most: ledger.MaxTurn})
		}
		err := p.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
			return f(start+i, storedAs(p.ledger.ID, records[start+i], obj, err))
		})
		if err != nil {
			return err
		}
		start += len(wanted)
	}
	return nil
}

var errHalted = errors.New("halted")

func (e *reading) read(records []listed) error {
	err := e.fetch(records, func(_ int, s stored) error {
		e.some = append(e.some, s)
		if e.size += len(s.text); e.size >= bytesAtOnce {
			return e.flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.flush()
}

func (e *reading) flush() error {
	e.full <- e.some
	e.some, e.size = nil, 0
	if e.halt.Load() {
		return errHalted
	}
	return nil
}

// handOver parses records and passes them to f, until that returns an error.
func (e *reading) handOver(f func(*Turn) error) {
	for some := range e.full {
		if e.stopped != nil {
			continue
		}
		parseAll(some, e.ledger.ID, e.ledger.Tip)
		for _, s := range some {
			e.add(&s)
			e.unread.Add(s.err)
			if s.err != nil {
				continue
			}
			if e.stopped = f(s.turn); e.stopped != nil {
				e.halt.Store(true)
				break
			}
		}
	}
}

func parseAll(some []stored, in record.ID, at object.Hash) {
	var workers sync.WaitGroup
	n := max(1, runtime.GOMAXPROCS(0))
	for w := range n {
		workers.Go(func() {
			for i := w; i < len(some); i += n {
				if s := &some[i]; s.err == nil {
					s.turn, s.err = parseAt(s.text, in, at, s.number)
				}
			}
		})
	}
	workers.Wait()
}
