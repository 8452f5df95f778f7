package handoffstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// List returns the handoffs of a mission in order, also those that a fork
// inherited. The error reports unreadable ones, which are left out, and wraps
// [git.ErrNotFound] if there is no such mission.
func List(ctx context.Context, repo *git.Repo, id record.ID) ([]*Handoff, error) {
	list, err := Newest(ctx, repo, id, math.MaxInt)
	slices.Reverse(list)
	return list, err
}

// Newest is [List] for the last handoffs, at most most, the newest first.
func Newest(ctx context.Context, repo *git.Repo, id record.ID, most int) ([]*Handoff, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, id)
	if err != nil {
		return nil, err
	}
	numbers, err := l.Handoffs()
	if err != nil {
		return nil, err
	}
	var list []*Handoff
	var unread ledger.ReadErrors
	for _, n := range numbers[:min(most, len(numbers))] {
		if h, err := readAt(l, n); err == nil {
			list = append(list, h)
		} else if !errors.Is(err, git.ErrNotFound) {
			unread.Add(err)
		}
	}
	return list, unread.Err()
}

// A Found is a handoff in its ledger. The caller closes it.
type Found struct {
	*Handoff
	In     record.ID // the mission in whose ledger it was found; forks inherit handoffs
	Ledger *ledger.Ledger

	objects *git.Objects
}

// Find returns the handoff that a person names: `3` of the current mission,
// `a1b2/3`, or the last one: `a1b2` (4 digits or more), `latest` or "". If
// there is none, the error wraps [git.ErrNotFound].
func Find(ctx context.Context, repo *git.Repo, current record.ID, name string) (*Found, error) {
	typed, number, ok := parseName(name)
	if !ok {
		return nil, fmt.Errorf("handoff %q: %w", name, git.ErrNotFound)
	}
	mission := current
	if typed != "" {
		var err error
		if mission, err = ledger.Expand(ctx, repo, typed); err != nil {
			return nil, err
		}
	}
	if mission == "" {
		return nil, fmt.Errorf("find a handoff: no turn has been recorded in this worktree: %w", git.ErrNotFound)
	}
	return open(ctx, repo, mission, number)
}

// parseName splits a handoff's name into the mission as typed, "" for the
// current one, and the number, 0 for the last.
func parseName(name string) (mission string, number int, ok bool) {
	if n, ok := record.ParseNumber(name); ok {
		return "", n, true
	}
	mission, rest, slashed := strings.Cut(name, "/")
	if !slashed && (name == "" || name == "latest") {
		return "", 0, true
	}
	if ok := record.IsPrefix(mission); !ok || !slashed || rest == "latest" {
		return mission, 0, ok
	}
	n, ok := record.ParseNumber(rest)
	return mission, n, ok
}

// open reads a handoff, or the last one if number is 0.
func open(ctx context.Context, repo *git.Repo, id record.ID, number int) (_ *Found, err error) {
	f := &Found{In: id, objects: repo.Objects(ctx)}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.Ledger, err = ledger.Open(ctx, repo, f.objects, id); err != nil {
		return nil, err
	}
	last, err := f.Ledger.LastHandoff()
	if err != nil {
		return nil, err
	}
	number = cmp.Or(number, last)
	f.Handoff, err = readAt(f.Ledger, number)
	if errors.Is(err, git.ErrNotFound) && last == 0 {
		return nil, fmt.Errorf("mission %s has no handoff: %w", id, git.ErrNotFound)
	}
	if errors.Is(err, git.ErrNotFound) {
		return nil, fmt.Errorf("handoff %s: the mission has %d: %w", ID{id, number}, last, git.ErrNotFound)
	}
	return f, err
}

// Close releases the reader of its objects.
func (f *Found) Close() { f.objects.Close() }

func (f *Found) path(name string) string { return ledger.HandoffPath(f.Number, name) }

// File returns a file of the handoff, nil if it has none by that name.
func (f *Found) File(name string) ([]byte, error) {
	data, err := f.Ledger.Read(f.path(name))
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// Document, Patch and Terminal return files of the handoff, nil for none.
func (f *Found) Document() ([]byte, error) { return f.File(docFile) }
func (f *Found) Patch() ([]byte, error)    { return f.File(patchFile) }
func (f *Found) Terminal() ([]byte, error) { return f.File(terminalFile) }

func (f *Found) tree() (object.Hash, error) {
	e, err := f.Ledger.Entry(f.path(""))
	return e.Hash, err
}

// Kept reports whether the stash has a file at a path.
func (f *Found) Kept(path string) bool {
	tree, err := f.objects.TreeOf(f.Stash)
	at := object.Entry{Mode: filemode.Dir, Hash: tree}
	for name := range strings.SplitSeq(path, "/") {
		var entries map[string]object.Entry
		if err == nil {
			entries, err = f.objects.Tree(at.Hash, ledger.MaxTree)
		}
		if at = entries[name]; err != nil || at.Mode == filemode.Empty {
			return false
		}
	}
	return true
}

// ReadIn returns a handoff of a ledger.
func ReadIn(l *ledger.Ledger, number int) (*Handoff, error) { return readAt(l, number) }

// readAt reads one record. If there is none, the error wraps [git.ErrNotFound].
func readAt(l *ledger.Ledger, number int) (*Handoff, error) {
	data, err := l.Read(ledger.HandoffPath(number, recordFile))
	if err != nil {
		return nil, err
	}
	h, err := parseAs(data, l.Tip.Format(), number)
	if err != nil {
		return nil, fmt.Errorf("read handoff %s: %w", ID{l.ID, number}, err)
	}
	return h, nil
}

func parseAs(data []byte, format object.Format, number int) (*Handoff, error) {
	h, err := Parse(data, format)
	if err == nil && h.Number != number {
		err = fmt.Errorf("the record has number %d", h.Number)
	}
	return h, err
}
