package recorder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"gitagent/internal/places"
	"gitagent/internal/transcript"
)

// A flushed is the part of the client's file beyond the session's cursor.
type flushed struct {
	transcript.NewLines
	from    int64                 // offset of the segment in the file, bytes
	after   int                   // the turn whose segment precedes it
	missing string                // why there is no segment, as in [record.Segment.Missing]
	none    bool                  // the client keeps no file
	sides   sides                 // of subagents
	turns   []transcript.FileTurn // that begin in it; nil if nobody has asked yet
}

// turns returns the turns that begin in the segment. It may be a file of a
// hundred thousand, which is read once.
func (f *inputs) turns() []transcript.FileTurn {
	if f.segment.turns == nil {
		f.segment.turns = transcript.Turns(f.agent().Reader(), f.segment.Bytes)
	}
	return f.segment.turns
}

// flush reads the segment. At a turn's end it waits for the client to write it.
func (r *recording) flush(ctx context.Context) (flushed, error) {
	c := r.cursor()
	f := flushed{from: c.Offset, after: c.Turn}
	if r.Transcript == "" {
		f.none = true
		return f, nil
	}
	from := transcript.Cursor{Offset: c.Offset, Check: c.Check}
	var err error
	if r.Event == Prompted {
		f.NewLines, err = r.interrupted(ctx, from)
	} else {
		want := transcript.Want{PromptID: r.PromptID, Reply: r.Reply}
		switch {
		case r.Event == Ended:
			want = transcript.Want{}
		case r.Again && r.again():
			want.After = r.state.Cursors[r.id].Offset // the agent may repeat its reply
		}
		ctx, cancel := context.WithTimeout(ctx, r.FlushWait)
		defer cancel()
		f.NewLines, err = r.await(ctx, from, want)
	}
	if f.Restarted {
		f.from, f.after = 0, 0
	}
	if err == nil && !transcript.Readable(f.Bytes) {
		err = errors.New("no line of JSON")
	}
	if err != nil && r.Strict {
		return f, fmt.Errorf("read the transcript %s: %w", r.Transcript, err)
	}
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		f.none = true
	case errors.Is(err, transcript.ErrTooLarge):
		f.missing = "size"
		switch f.NewLines.Cursor, err = transcript.End(r.Transcript); {
		case errors.Is(err, transcript.ErrTooLarge): // nor is there a line to go on after, yet
			f.NewLines.Cursor = from
		case err != nil:
			f.missing = "unreadable"
		}
	default:
		f.missing = "unreadable"
	}
	if f.missing == "unreadable" {
		f.NewLines = transcript.NewLines{Cursor: from}
	}
	if err := r.unrepeat(&f); err != nil {
		r.warn("what the transcript %s has twice is not known: %v", r.Transcript, err)
	}
	r.withhold(&f)
	f.sides = r.subagents(f.Bytes)
	return f, nil
}

// withhold blanks what is withheld of the session. The file of a fresh one may be
// a client's copy of another's.
func (r *recording) withhold(f *flushed) {
	noted := places.Of(os.Getenv)
	if r.withheld = noted.Withheld(r.Session); r.state.Last == nil && f.from == 0 {
		r.withheld = append(noted.WithheldBefore(), r.withheld...)
	}
	if len(r.withheld) > 0 {
		transcript.Withhold(r.agent().Reader, f.Bytes, r.withheld.Turn, r.withheld.At)
		f.turns = nil
	}
}

// unrepeat blanks what the segment says again. If it is that of the last turn, a
// record may be some milliseconds older than the event that told of its beginning.
func (r *recording) unrepeat(f *flushed) (err error) {
	var past []transcript.Past
	switch last := r.state.Last; {
	case last == nil || f.from == 0 || last.Mission != r.id:
	case r.again():
		past = []transcript.Past{{Last: last.Started.Add(-time.Second)}}
	default:
		past = []transcript.Past{{Last: last.Started}, {From: last.Before.Offset, Last: last.Ended}}
	}
	f.turns, err = transcript.Unrepeat(r.agent().Reader, f.Bytes, r.Transcript, f.from, past...)
	return err
}

func (r *recording) await(ctx context.Context, from transcript.Cursor, want transcript.Want) (transcript.NewLines, error) {
	if !r.agent().Late {
		return transcript.ReadSegment(r.Transcript, from)
	}
	return transcript.Wait(ctx, r.agent().Reader, r.Transcript, from, want)
}

// interruptWait is how long a prompt waits for the note of an interruption.
const interruptWait = 250 * time.Millisecond

// interrupted reads the segment of the turn that a new prompt finds open, when
// the client has written that it was interrupted.
func (r *recording) interrupted(ctx context.Context, from transcript.Cursor) (transcript.NewLines, error) {
	s, err := transcript.ReadSegment(r.Transcript, from)
	if r.state.Open == nil || err != nil || !r.agent().Late || transcript.Summarise(r.agent().Reader(), s.Bytes).Interrupted {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, interruptWait)
	defer cancel()
	return r.await(ctx, from, transcript.Want{})
}

// spokeSince reports whether the agent has spoken after the cursor.
func (r *recording) spokeSince() bool {
	c := r.state.Cursors[r.id]
	if r.Transcript == "" {
		return false
	}
	s, err := transcript.ReadSegment(r.Transcript, transcript.Cursor{Offset: c.Offset, Check: c.Check})
	if err != nil {
		return false
	}
	sum := transcript.Summarise(r.agent().Reader(), s.Bytes)
	return s.Restarted || sum.Reply != "" || len(sum.Tools) > 0
}
