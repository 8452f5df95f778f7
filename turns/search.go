package turns

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/search"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
)

// A Search looks for something in turns: in what was said, which the segment of a turn has, and in
// its record.
type Search struct {
	Query *search.Query
	Since time.Time // older turns are left out

	Prompts, Replies, Tools, Paths bool // where to look

	Read atomic.Int64 // bytes of conversations that were looked through so far
}

// A Found is a turn in which a [Search] found everything that it looks for.
type Found struct {
	*Turn
	*search.Matches
}

// Each looks through the turns of a mission, or of all if that is empty: the newest first, and each
// once, as [EachOfAll] has it. For every turn it calls f, with the turn's time, and what was found in
// it or nil; an error of f ends that and is returned. Other errors don't: what can't be read is left
// out, and the error says so.
//
// Git inflates what is looked through, several processes side by side, and no more of a segment is in
// memory than [window], but for its longest line.
func (s *Search) Each(ctx context.Context, w *workspace.Workspace, id ledger.ID, f func(time.Time, *Found) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lookers := min(runtime.GOMAXPROCS(0), maxLookers)
	work, inOrder := make(chan *batch), make(chan *batch, 2*lookers)
	var running sync.WaitGroup
	var walked error
	running.Go(func() {
		walked = s.walk(ctx, w, id, func(b *batch) error {
			for _, to := range []chan *batch{inOrder, work} {
				select {
				case to <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		close(work)
		close(inOrder)
	})
	for range lookers {
		running.Go(func() {
			objects := w.Repo.Objects(ctx)
			defer objects.Close()
			k := &looker{search: s, objects: objects}
			for b := range work {
				k.look(b)
			}
		})
	}
	var unread ledger.Unread
	var stopped error
	for b := range inOrder {
		if stopped == nil {
			stopped = b.handOver(ctx, &unread, f)
		}
		if stopped != nil {
			cancel()
		}
	}
	running.Wait()
	if !errors.Is(walked, errHalted) {
		unread.Add(walked)
	}
	return cmp.Or(stopped, ctx.Err(), unread.Err())
}

const (
	maxLookers = 8

	// A batch is what one of them gets at once. The first are small, for the first result to come soon.
	firstBatch    = 4       // turns
	maxBatch      = 64      // turns
	maxBatchBytes = 4 << 20 // of their segments, as their records tell, and of the records
)

// MaxOld is how many turns in a row are too old when a walk from the newest on ends. A turn that was
// recorded again, and one that was imported, is newer than some that come before it.
const MaxOld = 100

// A batch is some turns, in order.
type batch struct {
	turns []*prospect
	done  chan struct{} // closed when all were looked at
}

// A prospect is a turn that may match.
type prospect struct {
	*Turn
	segment plumbing.Hash   // zero for none
	matches *search.Matches // nil if not all was found
	err     error           // why some of it could not be looked at
}

// handOver waits until the turns were looked at, and hands them to f.
func (b *batch) handOver(ctx context.Context, unread *ledger.Unread, f func(time.Time, *Found) error) error {
	select {
	case <-b.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, c := range b.turns {
		unread.Add(c.err)
		var found *Found
		if c.matches != nil {
			found = &Found{c.Turn, c.matches}
		}
		if err := f(c.At, found); err != nil {
			return err
		}
	}
	return nil
}

// walk hands over the turns in batches.
func (s *Search) walk(ctx context.Context, w *workspace.Workspace, id ledger.ID, hand func(*batch) error) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	segments := &segments{ctx: ctx, repo: w.Repo, objects: objects}
	b, size, bytes, old := &batch{done: make(chan struct{})}, firstBatch, 0, 0
	add := func(t *Turn) error {
		if t.At.Before(s.Since) {
			if old++; old == MaxOld {
				return errHalted
			}
			return nil
		}
		old = 0
		c := &prospect{Turn: t}
		if s.said() {
			c.segment, c.err = segments.of(t)
		}
		b.turns = append(b.turns, c)
		bytes += 2 * t.Size() // the text, and what was decoded of it
		if !c.segment.IsZero() {
			bytes += max(0, t.Transcript.Bytes)
		}
		if len(b.turns) < size && bytes < maxBatchBytes {
			return nil
		}
		full := b
		b, size, bytes = &batch{done: make(chan struct{})}, min(2*size, maxBatch), 0
		return hand(full)
	}
	var err error
	if id == "" {
		err = EachOfAll(ctx, w, add)
	} else {
		err = Each(ctx, w.Repo, id, add)
	}
	if len(b.turns) > 0 && ctx.Err() == nil {
		err = cmp.Or(hand(b), err)
	}
	return err
}

// segments find the segments of turns.
type segments struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	ledgers map[ledger.ID]*ledger.Ledger
	held    int // bytes of them, about
}

// of returns the blob of a turn's segment, zero if there is none.
func (s *segments) of(t *Turn) (plumbing.Hash, error) {
	path, err := segmentPath(t)
	if err != nil {
		return plumbing.ZeroHash, nil
	}
	l := s.ledgers[t.In()]
	if l == nil {
		if l, err = t.ledger(s.ctx, s.repo, s.objects); err != nil {
			return plumbing.ZeroHash, err
		}
	} else {
		s.held -= l.Held()
	}
	hash, err := l.File(path)
	if s.held += l.Held(); s.ledgers == nil || s.held > ledger.MaxHeld {
		s.ledgers, s.held = make(map[ledger.ID]*ledger.Ledger), l.Held()
	}
	s.ledgers[t.In()] = l
	return hash, err
}

// A looker looks for something in turns.
type looker struct {
	search  *Search
	objects *git.Objects
	buffer  []byte
}

// look looks at the turns of a batch.
func (k *looker) look(b *batch) {
	defer close(b.done)
	var wanted []git.Wanted
	var of []*prospect
	for _, c := range b.turns {
		if c.segment.IsZero() {
			c.found(k.search.Query.Matches(), k.record(c.Turn))
			continue
		}
		wanted, of = append(wanted, git.Wanted{Hash: c.segment, Most: ledger.MaxSegment}), append(of, c)
	}
	err := k.objects.Blobs(wanted, func(i int, content io.Reader, err error) error {
		c := of[i]
		m, record := k.search.Query.Matches(), k.record(c.Turn)
		if err == nil {
			err = k.segment(agent.Of(c.Agent).Reader(), content, m, record)
		}
		if err != nil {
			c.err = fmt.Errorf("conversation of turn %s: %w", c.ID(), err)
		}
		c.found(m, record)
		return nil
	})
	if err != nil && len(of) > 0 {
		of[0].err = err
	}
}

// found notes what was found in the turn's conversation and in its record, if that is all.
func (c *prospect) found(said, record *search.Matches) {
	if said.Join(record); said.Complete() {
		c.matches = said
	}
}

// said reports whether the search is about what was said.
func (s *Search) said() bool { return s.Prompts || s.Replies || s.Tools }

// record is what is found in a turn's record. Of the prompt it has the beginning, and of the reply
// the end.
func (k *looker) record(t *Turn) *search.Matches {
	m := k.search.Query.Matches()
	if k.search.Prompts {
		m.Add(string(transcript.Prompt), t.Prompt)
	}
	if k.search.Replies {
		m.Add(string(transcript.Reply), t.Reply)
	}
	if k.search.Paths {
		m.Add("path", strings.Join(t.Paths, "\n"))
	}
	return m
}

const (
	// window is how many bytes of a segment are looked at together.
	window = 2 << 20
	// maxLine is the longest line of a segment, in bytes, that is looked at.
	maxLine = 16 << 20
)

// segment looks through a segment. What else is needed must be in record, else nothing is decoded.
func (k *looker) segment(r transcript.Reader, content io.Reader, m, record *search.Matches) error {
	if len(k.buffer) != window {
		k.buffer = make([]byte, window)
	}
	seen := make(map[string]bool)
	have, skip := 0, false // bytes in the buffer; whether they are of a line that is too long
	for first := true; ; first = false {
		n, err := io.ReadFull(content, k.buffer[have:])
		k.search.Read.Add(int64(n))
		have += n
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		whole := have // where the last line ends that is there as a whole
		if !ended {
			whole = bytes.LastIndexByte(k.buffer[:have], '\n') + 1
		}
		lines := k.buffer[:whole]
		if skip && whole > 0 {
			lines = lines[max(0, bytes.IndexByte(lines, '\n')):]
		}
		if !first || !ended || k.search.Query.Possible(lines, record) {
			k.lines(r, lines, seen, m)
		}
		if ended {
			return nil
		}
		switch {
		case whole > 0:
			have, skip = copy(k.buffer, k.buffer[whole:have]), false
		case len(k.buffer) < maxLine:
			k.buffer = append(k.buffer, make([]byte, len(k.buffer))...)
		default:
			have, skip = 0, true
		}
	}
}

// lines looks through whole lines. Of a record that is there twice it looks at one; seen are those
// that it has seen.
func (k *looker) lines(r transcript.Reader, b []byte, seen map[string]bool, m *search.Matches) {
	s := k.search
	for line := range s.Query.Lines(b) {
		uuid, passages := transcript.Passages(r, line)
		if seen[uuid] {
			continue
		}
		if uuid != "" && passages != nil {
			seen[uuid] = true
		}
		for _, p := range passages {
			if p.Place == transcript.Prompt && s.Prompts || p.Place == transcript.Reply && s.Replies ||
				(p.Place == transcript.Tool || p.Place == transcript.Result) && s.Tools {
				m.Add(string(p.Place), p.Text)
			}
		}
	}
}
