package transcript

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"
)

// The client writes its file from a timer of 100 ms and does not wait before it
// runs the Stop hook. In two of three runs the last record was there at the
// first look, in all within 96 ms.
const (
	step     = 10 * time.Millisecond  // between two looks
	settle   = 120 * time.Millisecond // without growth: nothing more will come
	patience = 250 * time.Millisecond // for a missing file; some clients never make one
)

// Want is what a turn must contain to be complete. PromptID and Reply are from
// the payload of the hook that ends the turn.
type Want struct {
	// PromptID is prompt_id: answers only count for sure after an entry with
	// it. If empty, everything after the cursor counts.
	PromptID string

	// Reply is last_assistant_message, or a failed turn's error; "" if none.
	Reply string

	// After is a file offset before which no answer counts: of a turn read
	// again that went on after its Stop hook, two answers may be equal.
	After int64
}

// Wait reads like [ReadSegment] until the segment has what is wanted, or ctx is
// done.
//
// If the turn's newest record is an answer that ends in the wanted text, or the
// client notes in the file that the turn has ended, Wait returns at once, after
// one read if the file is written. If that is less
// certain (no text, a joined or cut text, more after the answer, a cursor after
// the prompt), it returns after 120 ms without a change. When ctx is done it
// returns what there is, with Complete unset and no error: the rest comes with
// the next turn. So ctx must have a deadline; 2 s is twenty times what the
// client needs.
//
// A missing file is an error only after 250 ms, or when ctx is done. Other
// errors are those of ReadSegment.
func Wait(ctx context.Context, reader func() Reader, path string, c Cursor, want Want) (NewLines, error) {
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	t := tail{path: path, from: c}
	var m *matcher
	still := time.Duration(0) // time without a change
	for {
		switch found, err := t.poll(); {
		case errors.Is(err, fs.ErrNotExist) && still < patience && ctx.Err() == nil:
			// The client will create it, or is moving it and the path is ahead.
		case err != nil:
			return NewLines{}, err
		case found == replaced:
			m = newMatcher(reader(), want, &t)
			fallthrough
		case found == grown:
			still = 0
			m.feed(t.buf[:t.end])
		}
		if m != nil && (m.sure || m.likely && still >= settle) {
			s := t.segment()
			s.Complete = true
			return s, nil
		}
		select {
		case <-ctx.Done():
			if m == nil {
				continue // look once more, for the error
			}
			return t.segment(), nil
		case <-ticker.C:
			still += step
		}
	}
}

// A matcher looks for what is wanted in a growing segment.
type matcher struct {
	reader Reader
	want   Want
	reply  string // want.Reply with normalised white space: the client trims it
	at     int    // offset in the buffer up to which it was fed
	after  int    // want.After, in the buffer

	turn   bool // the wanted prompt was seen
	other  bool // another prompt was seen
	sure   bool // the newest record of the turn is the wanted answer, or its end
	likely bool // something that may be the wanted answer was seen
}

func newMatcher(r Reader, want Want, t *tail) *matcher {
	m := &matcher{reader: r, want: want, reply: squeeze(want.Reply), at: t.start, turn: want.PromptID == ""}
	m.likely = m.turn && m.reply == ""
	if !t.restarted {
		m.after = t.start + int(min(max(0, want.After-t.base), MaxSegment))
	}
	return m
}

// feed reads the whole lines of buf that are new since the last call.
func (m *matcher) feed(buf []byte) {
	for at, line := range lines(buf[m.at:]) {
		e := m.reader.Read(m.at+at, line)
		switch by := e.by(); {
		case e.Subagent:
		case e.Ended:
			m.sure = m.turn && m.at+at >= m.after
		case by == model:
			if m.at+at >= m.after {
				m.answer(&e)
			}
		case by == nobody && e.PromptID == "" && !e.Interrupted:
		case e.PromptID == m.want.PromptID || m.want.PromptID == "":
			m.turn, m.sure = true, false
			m.likely = m.likely || m.reply == ""
		case e.PromptID != "":
			m.other = true
		}
	}
	m.at = len(buf)
}

func (m *matcher) answer(e *Entry) {
	text := squeeze(e.said())
	if m.reply == "" || text == "" {
		m.sure = false
		return
	}
	m.sure = m.turn && text == m.reply && e.Stopped
	// The payload has the last block (a line of its own) with a text. Others
	// might join all blocks, so that this line has the end, or cut the text.
	if (m.turn || !m.other) && (strings.Contains(text, m.reply) || strings.HasSuffix(m.reply, text)) {
		m.likely = true
	}
}

// squeeze makes every run of white space one blank.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
