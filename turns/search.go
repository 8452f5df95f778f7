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

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/search"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
)

// A Search looks for something in turns' segments and records.
type Search struct {
	Query *search.Query
	Since time.Time // older turns are left out

	Prompts, Replies, Tools, Paths bool // where to look
	Agents                         bool // search subagents

	Missions map[record.ID]object.Hash // where to search, with the ledgers' tips; nil for all that have refs

	Read atomic.Int64 // bytes of conversations searched so far
}

// A Found is a turn with everything that a [Search] looks for.
type Found struct {
	*Turn
	*search.Matches
}

// Each searches the turns of a mission, or of all if id is empty, newest first,
// and each once, like [EachOfAll]. It calls f for every turn, with its time and
// the matches, or nil; an error of f ends the search and is returned. What
// can't be read is left out, and the error says so.
//
// Several gits inflate segments in parallel. Memory holds [window] bytes of
// each, or its longest line.
func (s *Search) Each(ctx context.Context, w *workspace.Workspace, id record.ID, f func(time.Time, *Found) error) error {
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
	var unread ledger.ReadErrors
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

	// Limits of a batch. The first are small, for a quick first result.
	firstBatch    = 4       // turns
	maxBatch      = 64      // turns
	maxBatchBytes = 4 << 20 // of segments, as records say, and of records
)

// MaxOld is how many older turns in a row end a walk from the newest on. A turn
// that was recorded again or imported is newer than some before it.
const MaxOld = 100

type batch struct {
	turns []*prospect
	done  chan struct{} // closed when all were looked at
}

type prospect struct {
	*Turn
	segment object.Hash     // zero for none
	sides   []object.Hash   // of subagents
	said    *search.Matches // found in conversations
	matches *search.Matches // nil if not everything was found
	err     error           // why some could not be searched
}

// handOver waits for the batch and passes its turns to f.
func (b *batch) handOver(ctx context.Context, unread *ledger.ReadErrors, f func(time.Time, *Found) error) error {
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

func (s *Search) walk(ctx context.Context, w *workspace.Workspace, id record.ID, hand func(*batch) error) error {
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
		if s.Agents && len(t.Agents) > 0 {
			c.sides, c.err = segments.sides(t)
			for _, a := range t.Agents {
				bytes += max(0, a.Bytes)
			}
		}
		b.turns = append(b.turns, c)
		bytes += 2 * t.Text.Size() // the text, and what was decoded of it
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
	switch {
	case id != "":
		err = Each(ctx, w.Repo, id, add)
	case s.Missions != nil:
		err = EachOfMissions(ctx, w, s.Missions, add)
	default:
		err = EachOfAll(ctx, w, add)
	}
	if len(b.turns) > 0 && ctx.Err() == nil {
		err = cmp.Or(hand(b), err)
	}
	return err
}

type segments struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	ledgers map[record.ID]*ledger.Ledger
	held    int // bytes of them, about
}

func (s *segments) of(t *Turn) (object.Hash, error) {
	path, err := segmentPath(t)
	if err != nil {
		return object.Hash{}, nil
	}
	l, err := s.ledger(t)
	if err != nil {
		return object.Hash{}, err
	}
	hash, err := l.File(path)
	s.keep(t, l)
	return hash, err
}

func (s *segments) ledger(t *Turn) (*ledger.Ledger, error) {
	if l := s.ledgers[t.In()]; l != nil {
		s.held -= l.Held()
		return l, nil
	}
	return t.OpenLedger(s.ctx, s.repo, s.objects)
}

// keep keeps a ledger, with the directories that it read, for the next turn.
func (s *segments) keep(t *Turn, l *ledger.Ledger) {
	if s.held += l.Held(); s.ledgers == nil || s.held > ledger.MaxHeld {
		s.ledgers, s.held = make(map[record.ID]*ledger.Ledger), l.Held()
	}
	s.ledgers[t.In()] = l
}

func (s *segments) sides(t *Turn) (list []object.Hash, err error) {
	l, err := s.ledger(t)
	if err != nil {
		return nil, err
	}
	for _, a := range t.Agents[:min(len(t.Agents), MaxSubagents)] {
		if a.Missing != "" || !hooks.ValidID(a.ID) {
			continue
		}
		hash, e := l.File(SubagentPath(t.Turn, a.ID))
		if e != nil {
			err = e
			continue
		}
		list = append(list, hash)
	}
	s.keep(t, l)
	return list, err
}

type looker struct {
	search  *Search
	objects *git.Objects
	buffer  []byte
}

func (k *looker) look(b *batch) {
	defer close(b.done)
	var wanted []git.Wanted
	var of []blobOf
	for _, c := range b.turns {
		c.said = k.search.Query.Matches()
		if !c.segment.IsZero() {
			wanted, of = append(wanted, git.Wanted{Hash: c.segment, Most: ledger.MaxSegment}), append(of, blobOf{c, false})
		}
		for _, hash := range c.sides {
			wanted, of = append(wanted, git.Wanted{Hash: hash, Most: ledger.MaxSegment}), append(of, blobOf{c, true})
		}
	}
	err := k.objects.Blobs(wanted, func(i int, content io.Reader, err error) error {
		c := of[i]
		if err == nil {
			err = k.blob(c, content)
		}
		if err != nil {
			c.err = fmt.Errorf("conversation of turn %s: %w", c.ID(), err)
		}
		return nil
	})
	if err != nil && len(of) > 0 {
		of[0].err = err
	}
	for _, c := range b.turns {
		c.found(k.record(c.Turn))
	}
}

// A blobOf is a turn's conversation, its own or a subagent's.
type blobOf struct {
	*prospect
	side bool
}

// blob searches one of them. If a turn has several, all are decoded, since one
// may have the words that another lacks.
func (k *looker) blob(of blobOf, content io.Reader) error {
	a := agent.Of(of.Agent)
	p := looking{side: of.side, found: of.said}
	switch {
	case of.side:
		p.reader = transcript.Own(a.Reader())
	case a.Quoter != nil:
		p.reader, p.quoter = a.Quoter()
	default:
		p.reader = a.Reader()
	}
	if len(of.sides) == 0 {
		p.others = k.record(of.Turn)
	}
	return k.segment(&p, content)
}

// A looking is the search of one blob.
type looking struct {
	reader transcript.Reader
	quoter transcript.Quoter // nil for none
	side   bool              // a subagent's
	found  *search.Matches
	others *search.Matches // found elsewhere; nil to decode everything
	seen   map[string]bool // records
}

// found keeps the matches of conversations and record if they are complete.
func (c *prospect) found(record *search.Matches) {
	if c.said.Join(record); c.said.Complete() {
		c.matches = c.said
	}
}

func (s *Search) said() bool { return s.Prompts || s.Replies || s.Tools }

// record searches a turn's record: the prompt's start, and the reply's end.
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
	// window is how many bytes of a segment are searched together.
	window = 2 << 20
	// maxLine is the longest line that is searched, in bytes.
	maxLine = 16 << 20
)

// segment searches a segment, decoding it only if it and p.others can match.
func (k *looker) segment(p *looking, content io.Reader) error {
	if len(k.buffer) != window {
		k.buffer = make([]byte, window)
	}
	p.seen = make(map[string]bool)
	have, skip := 0, false // bytes in the buffer; whether they are of too long a line
	for first := true; ; first = false {
		n, err := io.ReadFull(content, k.buffer[have:])
		k.search.Read.Add(int64(n))
		have += n
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		whole := have // end of the last complete line
		if !ended {
			whole = bytes.LastIndexByte(k.buffer[:have], '\n') + 1
		}
		lines := k.buffer[:whole]
		if skip && whole > 0 {
			lines = lines[max(0, bytes.IndexByte(lines, '\n')):]
		}
		if !first || !ended || p.others == nil || k.search.Query.Possible(lines, p.others) {
			k.lines(p, lines)
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

// lines searches complete lines, and repeated records once.
func (k *looker) lines(of *looking, b []byte) {
	for line, plain := range k.search.Query.Lines(b) {
		if of.quoter != nil {
			if uuid, said, ok := of.quoter(line); ok {
				for _, p := range fresh(of, uuid, said) {
					if place := k.search.place(of.side, p.Place); place == "" {
						continue
					} else if p.JSON != nil {
						of.found.AddJSON(place, p.JSON, plain)
					} else {
						of.found.Add(place, p.Text)
					}
				}
				continue
			}
		}
		uuid, said := transcript.Passages(of.reader, line)
		for _, p := range fresh(of, uuid, said) {
			if place := k.search.place(of.side, p.Place); place != "" {
				of.found.Add(place, p.Text)
			}
		}
	}
}

// fresh returns what a record says, or nil if it was searched.
func fresh[P any](of *looking, uuid string, said []P) []P {
	if of.seen[uuid] {
		return nil
	}
	if uuid != "" && len(said) > 0 {
		of.seen[uuid] = true
	}
	return said
}

// place is how a place is called in results, or "" if it is not searched.
func (s *Search) place(side bool, p transcript.Place) string {
	switch {
	case side:
		return "agent"
	case p == transcript.Prompt && s.Prompts, p == transcript.Reply && s.Replies, (p == transcript.Tool || p == transcript.Result) && s.Tools:
		return string(p)
	}
	return ""
}
