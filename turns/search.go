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
	"gitagent/internal/ledger"
	"gitagent/internal/record"
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
	Agents                         bool // in what sub-agents said and did

	Missions map[record.ID]git.Hash // where to look, with the tips of their ledgers; nil for all that have refs

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
	segment git.Hash        // zero for none
	sides   []git.Hash      // of sub-agents
	said    *search.Matches // found in conversations
	matches *search.Matches // nil if not all was found
	err     error           // why some of it could not be looked at
}

// handOver waits until the turns were looked at, and hands them to f.
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

// walk hands over the turns in batches.
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

// segments find the segments of turns.
type segments struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	ledgers map[record.ID]*ledger.Ledger
	held    int // bytes of them, about
}

// of returns the blob of a turn's segment, zero if there is none.
func (s *segments) of(t *Turn) (git.Hash, error) {
	path, err := segmentPath(t)
	if err != nil {
		return git.Hash{}, nil
	}
	l, err := s.ledger(t)
	if err != nil {
		return git.Hash{}, err
	}
	hash, err := l.File(path)
	s.keep(t, l)
	return hash, err
}

// ledger opens the ledger that a turn was read from, once.
func (s *segments) ledger(t *Turn) (*ledger.Ledger, error) {
	if l := s.ledgers[t.In()]; l != nil {
		s.held -= l.Held()
		return l, nil
	}
	return t.ledger(s.ctx, s.repo, s.objects)
}

// keep keeps it for the next turn, with the directories that were read.
func (s *segments) keep(t *Turn, l *ledger.Ledger) {
	if s.held += l.Held(); s.ledgers == nil || s.held > ledger.MaxHeld {
		s.ledgers, s.held = make(map[record.ID]*ledger.Ledger), l.Held()
	}
	s.ledgers[t.In()] = l
}

// sides returns the blobs of what a turn has stored of sub-agents.
func (s *segments) sides(t *Turn) (list []git.Hash, err error) {
	l, err := s.ledger(t)
	if err != nil {
		return nil, err
	}
	for _, a := range t.Agents[:min(len(t.Agents), maxSubagents)] {
		if a.Missing != "" || !hooks.ValidID(a.ID) {
			continue
		}
		hash, e := l.File(subagentPath(t.Turn, a.ID))
		if e != nil {
			err = e
			continue
		}
		list = append(list, hash)
	}
	s.keep(t, l)
	return list, err
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

// A blobOf is one of the conversations that a turn has: its own, or a sub-agent's.
type blobOf struct {
	*prospect
	side bool
}

// blob looks through one of them. In a turn that has several, all is decoded: what one lacks another may have.
func (k *looker) blob(of blobOf, content io.Reader) error {
	p := looking{reader: agent.Of(of.Agent).Reader(), side: of.side, found: of.said}
	if of.side {
		p.reader = transcript.Own(p.reader)
	}
	if len(of.sides) == 0 {
		p.others = k.record(of.Turn)
	}
	return k.segment(&p, content)
}

// A looking is what is looked through at once.
type looking struct {
	reader transcript.Reader
	side   bool // it is a sub-agent's
	found  *search.Matches
	others *search.Matches // found elsewhere; nil if all of it is to be decoded
	seen   map[string]bool // records
}

// found notes what was found in the turn's conversations and in its record, if that is all.
func (c *prospect) found(record *search.Matches) {
	if c.said.Join(record); c.said.Complete() {
		c.matches = c.said
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

// segment looks through a segment. What else is needed must be in p.others, else nothing is decoded.
func (k *looker) segment(p *looking, content io.Reader) error {
	if len(k.buffer) != window {
		k.buffer = make([]byte, window)
	}
	p.seen = make(map[string]bool)
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

// lines looks through whole lines. Of a record that is there twice it looks at one.
func (k *looker) lines(of *looking, b []byte) {
	s := k.search
	for line := range s.Query.Lines(b) {
		uuid, passages := transcript.Passages(of.reader, line)
		if of.seen[uuid] {
			continue
		}
		if uuid != "" && passages != nil {
			of.seen[uuid] = true
		}
		for _, p := range passages {
			switch {
			case of.side:
				of.found.Add("agent", p.Text)
			case p.Place == transcript.Prompt && s.Prompts, p.Place == transcript.Reply && s.Replies,
				(p.Place == transcript.Tool || p.Place == transcript.Result) && s.Tools:
				of.found.Add(string(p.Place), p.Text)
			}
		}
	}
}
