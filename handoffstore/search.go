package handoffstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/search"
)

// A Hit is a handoff in which everything was found that a search looks for.
type Hit struct {
	*Handoff
	In  ledger.ID     // the mission that it is named by
	Tip plumbing.Hash // of its ledger
	*search.Matches

	tree plumbing.Hash
}

// Search looks for something in what was written into the handoffs of missions, whose ledgers end at
// these tips: documents, summaries, questions. The newest come first. For each it calls f, with its
// time, and what was found or nil; an error of f ends that and is returned. A handoff that forks
// inherited is looked at once, and so is what later handoffs took over. What can't be read is left
// out, and the error says so.
func Search(ctx context.Context, repo *git.Repo, tips map[ledger.ID]plumbing.Hash, query *search.Query, since time.Time, f func(time.Time, *Hit) error) error {
	objects := repo.Objects(ctx)
	defer objects.Close()
	w := &walk{
		objects: objects, tips: tips, query: query, since: since,
		taken: make(map[plumbing.Hash]bool), told: make(map[[sha256.Size]byte]bool),
	}
	var sources []ledger.Source[*Hit]
	err := ledger.Ends(objects, tips, &w.unread, func(id ledger.ID, end time.Time) {
		sources = append(sources, w.source(id, end))
	})
	if err != nil {
		return err
	}
	for at, hit := range ledger.NewestFirst(sources) {
		err := ctx.Err()
		if err == nil {
			err = f(at, w.named(hit))
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(ctx.Err(), w.unread.Err())
}

// A walk goes through the handoffs of missions.
type walk struct {
	objects *git.Objects
	tips    map[ledger.ID]plumbing.Hash
	query   *search.Query
	since   time.Time
	taken   map[plumbing.Hash]bool     // trees of handoffs
	told    map[[sha256.Size]byte]bool // what is in them
	unread  ledger.Unread
}

// source gives the handoffs of a mission, the last one first, without matches if not all was found. It
// begins with nil for the mission itself, which is opened only after that.
func (w *walk) source(id ledger.ID, end time.Time) ledger.Source[*Hit] {
	var l *ledger.Ledger
	var numbers []int
	begun := false
	next := func() (hit *Hit, at time.Time, ok bool) {
		if !begun {
			begun = true
			return nil, end, true
		}
		if l == nil {
			var err error
			if l, err = ledger.At(w.objects, id, w.tips[id]); err == nil {
				numbers, err = l.Handoffs()
			}
			w.unread.Add(err)
		}
		for len(numbers) > 0 {
			n := numbers[0]
			numbers = numbers[1:]
			hit, err := w.look(l, n)
			switch {
			case errors.Is(err, git.ErrNotFound):
			case err != nil:
				w.unread.Add(err)
			case hit != nil && hit.At.Before(w.since):
				numbers = nil
			case hit != nil:
				return hit, hit.At, true
			}
		}
		return nil, at, false
	}
	return ledger.Source[*Hit]{At: end, Next: next}
}

// look looks into a handoff; nil if that was done before.
func (w *walk) look(l *ledger.Ledger, number int) (*Hit, error) {
	dir, err := l.Entry(ledger.HandoffPath(number, ""))
	if err != nil || w.taken[dir.Hash] {
		return nil, err
	}
	w.taken[dir.Hash] = true
	h, err := readAt(l, number)
	if err != nil {
		return nil, err
	}
	document, err := l.Read(ledger.HandoffPath(number, docFile))
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return nil, err
	}
	hit := &Hit{Handoff: h, In: l.ID, Tip: l.Tip, tree: dir.Hash}
	if h.Written.IsZero() { // the rest quotes a turn
		return hit, nil
	}
	text := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", document, h.Summary, h.Questions))
	if w.told[text] {
		return hit, nil
	}
	w.told[text] = true
	m := w.query.Matches()
	m.Add("document", string(document))
	m.Add("summary", h.Summary)
	m.Add("question", strings.Join(h.Questions, "\n"))
	if m.Complete() {
		hit.Matches = m
	}
	return hit, nil
}

// named has a handoff be of the mission that it was made in, if that has the same one. It returns nil
// for one in which not all was found.
func (w *walk) named(hit *Hit) *Hit {
	if hit == nil || hit.Matches == nil {
		return nil
	}
	if tip, ok := w.tips[hit.Mission]; ok && hit.Mission != hit.In {
		l, err := ledger.At(w.objects, hit.Mission, tip)
		var its git.Entry
		if err == nil {
			its, err = l.Entry(ledger.HandoffPath(hit.Number, ""))
		}
		if err == nil && its.Hash == hit.tree {
			hit.In, hit.Tip = hit.Mission, tip
		}
	}
	return hit
}
