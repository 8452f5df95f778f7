package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// hash is a made-up commit.
func hash(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

// said is a part of a client's file: a prompt of a turn, and what follows it.
func said(promptID, prompt string, more ...string) string {
	lines := []string{fmt.Sprintf(`{"type":"user","uuid":"u-%s","promptId":%q,"turnOrigin":"human","message":{"role":"user","content":%q}}`, prompt, promptID, prompt)}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

func answer(text string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"a-%s","message":{"id":%q,"role":"assistant","model":"m","content":[{"type":"text","text":%q}],"stop_reason":"end_turn"}}`, text, text, text)
}

func stopLine(promptID string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"i-%s","promptId":%q,"message":{"role":"user","content":"[Request interrupted by user]"}}`, promptID, promptID)
}

// ended is what a test says of one turn that a plan ends.
type ended struct {
	number, after int
	prompt        string
	seen          bool
}

// TestPast: what a fresh session has from before, whole, in a bounded number of turns.
func TestPast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		inherited, before, turns int
		first                    string // prompt of the first turn
		from                     int    // turn with whose beginning its segment begins
	}{
		{inherited: 0, before: 3, turns: 4, first: "0", from: 0},
		{inherited: 2, before: 3, turns: 2, first: "2", from: 2},
		{inherited: 0, before: maxPast, turns: maxPast + 1, first: "0", from: 0},
		{inherited: 0, before: maxPast + 3, turns: maxPast + 1, first: "3", from: 0},
		{inherited: 2, before: maxPast + 3, turns: maxPast + 1, first: "3", from: 2},
		{inherited: -1, before: 3, turns: 1, first: "3", from: 0},
	} {
		var file string
		var starts []int
		for i := range tt.before + 1 {
			starts = append(starts, len(file))
			file += said(fmt.Sprint("p", i), fmt.Sprint(i), answer("so"))
		}
		f := inputs{
			Signal:    Signal{Event: Stopped, Session: "5ee7f6a0-0000-4000-8000-0000a1b2c3d4", Transcript: "/t", PromptID: fmt.Sprint("p", tt.before)},
			inherited: repeats{tt.inherited, starts[max(0, tt.inherited)]}, segment: flushed{NewLines: transcript.NewLines{Bytes: []byte(file)}},
		}
		ends := decide(f).ends
		last := ends[len(ends)-1]
		if len(ends) != tt.turns || ends[0].summary.Prompt != tt.first || ends[0].start != starts[tt.from] || last.end != len(file) || last.past {
			t.Errorf("%d of %d inherited: %d turns, the first %q from byte %d, want %d, %q from %d",
				tt.inherited, tt.before, len(ends), ends[0].summary.Prompt, ends[0].start, tt.turns, tt.first, starts[tt.from])
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const mission = "a1b2c3d4"
	last := func(prompt string) *session.LastTurn {
		return &session.LastTurn{
			Mission: mission, Turn: 3, PromptID: prompt, Code: hash(3), Base: hash(2), Head: hash(1),
			Before: session.Cursor{Offset: 5, Turn: 2},
		}
	}
	open := &session.OpenTurn{PromptID: "p4", Prompt: "four", Base: hash(4), Head: hash(1)}
	four := said("p4", "four", answer("did four"))
	for _, tt := range []struct {
		name      string
		event     SignalKind
		prompt    string // id
		open      *session.OpenTurn
		last      *session.LastTurn
		from      int64
		file      string // what the segment holds
		elsewhere bool

		ends  []ended
		base  byte // of the start; 0 for HEAD
		exact bool
		opens string // prompt of the turn that begins
		runs  bool   // and has begun before
	}{
		{name: "a prompt", event: Prompted, prompt: "p4", last: last("p3"), from: 9, base: 3, exact: true, opens: "typed"},
		{name: "the first prompt of all", event: Prompted, prompt: "p1", exact: true, opens: "typed"},
		{name: "the first prompt, in the middle of a conversation", event: Prompted, prompt: "p4", file: said("p0", "zero") + said("p3", "three"), exact: true, opens: "typed"},
		{
			name: "a prompt after an interruption", event: Prompted, prompt: "p5", open: open, last: last("p3"), from: 9,
			file: said("p4", "four", stopLine("p4")), base: 4, ends: []ended{{4, 3, "four", true}}, opens: "typed",
		},
		{
			name: "a prompt that the turn it names has begun before", event: Prompted, prompt: "p5", last: last("p3"), from: 9,
			file: said("p5", "queued"), base: 3, exact: true, opens: "queued", runs: true,
		},
		{
			name: "a prompt after a turn that nobody told of", event: Prompted, prompt: "p5", last: last("p3"), from: 9,
			file: said("p4", "queued", stopLine("p4")), base: 3, exact: true, ends: []ended{{4, 3, "queued", true}}, opens: "typed",
		},
		{
			name: "a prompt in the middle of the second turn that nobody told of", event: Prompted, prompt: "p5", last: last("p3"), from: 9,
			file: said("p4", "queued", stopLine("p4")) + said("p5", "runs"), base: 3, exact: true,
			ends: []ended{{4, 3, "queued", false}}, opens: "runs", runs: true,
		},
		{
			name: "a prompt whose turn the client has noted, but not yet what it asks", event: Prompted, prompt: "p5", last: last("p3"), from: 9,
			file: said("p5", ""), base: 3, exact: true, opens: "typed",
		},
		{
			name: "such a prompt after an interruption", event: Prompted, prompt: "p5", open: open, last: last("p3"), from: 9,
			file: said("p4", "four", stopLine("p4")) + said("p5", ""), base: 4, ends: []ended{{4, 3, "four", true}}, opens: "typed",
		},
		{name: "a stop", event: Stopped, prompt: "p4", open: open, last: last("p3"), from: 9, file: four, base: 4, ends: []ended{{4, 3, "four", true}}},
		{
			name: "a stop in a client that gives a prompt no id before it is in the file", event: Stopped, prompt: "p4",
			open: &session.OpenTurn{Prompt: "four", Base: hash(4)}, last: last("p3"), from: 9, file: four, base: 4,
			ends: []ended{{4, 3, "four", true}},
		},
		{
			name: "a stop elsewhere", event: Stopped, prompt: "p4", open: open, last: last("p3"), from: 9, file: four, elsewhere: true,
			ends: []ended{{4, 3, "four", true}},
		},
		{
			name: "a stop whose prompt nobody told of", event: Stopped, prompt: "p4", last: last("p3"), from: 9, file: four,
			base: 3, exact: true, ends: []ended{{4, 3, "four", true}},
		},
		{
			name: "a stop after an interruption and a prompt from the queue", event: Stopped, prompt: "p5", open: open, last: last("p3"), from: 9,
			file: said("p4", "four", stopLine("p4")) + said("p5", "queued", answer("x")), base: 4,
			ends: []ended{{4, 3, "four", false}, {5, 4, "queued", true}},
		},
		{
			name: "a stop, and the open turn left nothing", event: Stopped, prompt: "p5", open: open, last: last("p3"), from: 9,
			file: said("p5", "queued", answer("x")), base: 4, ends: []ended{{4, 3, "", false}, {5, 4, "queued", true}},
		},
		{
			name: "a stop while the next turn runs already", event: Stopped, prompt: "p4", open: open, last: last("p3"), from: 9,
			file: four + said("p5", "queued"), base: 4, ends: []ended{{4, 3, "four", true}},
		},
		{
			name: "a second stop of the same turn", event: Stopped, prompt: "p3", last: last("p3"), from: 5, file: said("p3", "three", answer("once more")),
			base: 2, ends: []ended{{3, 2, "three", true}},
		},
		{
			name: "an error", event: Erred, prompt: "p4", open: open, last: last("p3"), from: 9, file: said("p4", "four"), base: 4,
			ends: []ended{{4, 3, "four", true}},
		},
		{name: "an end between turns", event: Ended, prompt: "p9", last: last("p3"), from: 9},
		{name: "an end before anything was recorded", event: Ended, file: said("p0", "zero")},
		{name: "an end in a turn", event: Ended, open: open, last: last("p3"), from: 9, file: said("p4", "four"), base: 4, ends: []ended{{4, 3, "four", true}}},
		{
			name: "an end after a turn that nobody told of", event: Ended, last: last("p3"), from: 9, file: said("p4", "queued"), base: 3, exact: true,
			ends: []ended{{4, 3, "queued", true}},
		},
		{name: "a stop of a client without ids", event: Stopped, last: last(""), from: 9, file: four, base: 3, exact: true, ends: []ended{{4, 3, "four", true}}},
		{
			name: "a stop after a fork by the client, whose old turns share one id", event: Stopped, prompt: "p4",
			open: &session.OpenTurn{PromptID: "p4", Base: hash(4)}, file: said("p4", "one") + said("p4", "four", answer("x")), base: 4,
			ends: []ended{{4, 0, "four", true}},
		},
	} {
		f := inputs{
			Signal: Signal{Event: tt.event, PromptID: tt.prompt, Prompt: "typed", Transcript: "/t"}, id: mission, worktree: "/w", last: 3, head: hash(1),
			state:   session.Known{Open: tt.open, Last: tt.last, Worktree: map[bool]string{true: "/other", false: "/w"}[tt.elsewhere]},
			segment: flushed{NewLines: transcript.NewLines{Bytes: []byte(tt.file)}, from: tt.from},
		}
		if tt.from > 0 {
			f.segment.after = 3
		}
		if f.again() {
			f.segment.after = 2
		}
		p := decide(f)
		var got []ended
		for _, e := range p.ends {
			got = append(got, ended{e.number, e.after, e.summary.Prompt, e.seen})
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.ends) {
			t.Errorf("%s: ends %+v, want %+v", tt.name, got, tt.ends)
		}
		if (tt.ends != nil || tt.opens != "") && (p.start.base != hash(tt.base) || p.start.exact != tt.exact) {
			t.Errorf("%s: starts at %.2s, exact %t; want %02x, %t", tt.name, p.start.base, p.start.exact, tt.base, tt.exact)
		}
		var opens opening
		if p.opens != nil {
			opens = *p.opens
		}
		if opens.prompt != tt.opens || opens.running != tt.runs {
			t.Errorf("%s: opens %q, running %t; want %q, %t", tt.name, opens.prompt, opens.running, tt.opens, tt.runs)
		}
	}
}

func TestKnownAndRepeated(t *testing.T) {
	t.Parallel()
	stop := Signal{Event: Stopped, Session: "s", PromptID: "p", Reply: "r"}
	halt := Signal{Event: Halted, Session: "s", PromptID: "p"}
	stopped, halted := &session.LastTurn{PromptID: "p", Key: stop.key()}, &session.LastTurn{PromptID: "p", Key: halt.key()}
	for _, tt := range []struct {
		name            string
		s               Signal
		st              session.Known
		spoke           bool
		known, repeated bool
	}{
		{"a new prompt", Signal{Event: Prompted, PromptID: "q"}, session.Known{Open: &session.OpenTurn{PromptID: "p"}}, false, false, false},
		{"a prompt in the queue", Signal{Event: Prompted, PromptID: "p"}, session.Known{Open: &session.OpenTurn{PromptID: "p"}}, false, true, false},
		{"a prompt in the queue, when the turn has just ended", Signal{Event: Prompted, PromptID: "p"}, session.Known{Last: &session.LastTurn{PromptID: "p"}}, false, true, false},
		{"a prompt of a client without ids", Signal{Event: Prompted}, session.Known{Open: &session.OpenTurn{}}, false, false, false},
		{"the first stop", stop, session.Known{Last: &session.LastTurn{Key: "other"}}, false, false, false},
		{"the same stop again", stop, session.Known{Last: &session.LastTurn{Key: stop.key()}}, false, false, true},
		{"an equal stop, after which the agent has spoken", stop, session.Known{Last: &session.LastTurn{Key: stop.key()}}, true, false, false},
		{
			"the same stop again, while the next turn runs", stop,
			session.Known{Open: &session.OpenTurn{PromptID: "q"}, Last: &session.LastTurn{Key: stop.key()}},
			true, false, true,
		},
		{"a turn is interrupted", halt, session.Known{Open: &session.OpenTurn{PromptID: "p"}, Last: &session.LastTurn{PromptID: "o"}}, false, false, false},
		{"it is interrupted again", halt, session.Known{Last: halted}, false, false, true},
		{"it stops after it was interrupted", stop, session.Known{Last: halted}, false, false, true},
		{"it is interrupted after it stopped", halt, session.Known{Last: stopped}, false, false, true},
		{"it went on after it stopped, and was interrupted", halt, session.Known{Last: stopped}, true, false, false},
		{"it is interrupted, while the next turn runs", halt, session.Known{Open: &session.OpenTurn{PromptID: "q"}, Last: stopped}, true, false, true},
	} {
		if got := known(tt.s, &tt.st); got != tt.known {
			t.Errorf("%s: known is %t", tt.name, got)
		}
		if got := repeated(tt.s, &tt.st, func() bool { return tt.spoke }); got != tt.repeated {
			t.Errorf("%s: repeated is %t", tt.name, got)
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	const head, base, tree = 1, 2, 3 // commits and their trees
	for _, tt := range []struct {
		name           string
		p              place
		commit, parent byte
	}{
		{"as HEAD", place{tree: hash(head), head: hash(head), headTree: hash(head), start: start{base: hash(base)}, baseTree: hash(base)}, head, 0},
		{"as HEAD, attached", place{tree: hash(head), head: hash(head), headTree: hash(head), onBranch: true}, head, 0},
		{"as at the start", place{tree: hash(base), head: hash(head), headTree: hash(head), start: start{base: hash(base), head: hash(head)}, baseTree: hash(base)}, base, 0},
		{"as at the start, and HEAD has moved", place{tree: hash(base), head: hash(head), headTree: hash(head), start: start{base: hash(base), head: hash(9)}, baseTree: hash(base)}, 0, head},
		{"as at the start, attached", place{tree: hash(base), head: hash(head), headTree: hash(head), start: start{base: hash(base)}, baseTree: hash(base), onBranch: true}, 0, head},
		{"new", place{tree: hash(tree), head: hash(head), headTree: hash(head), start: start{base: hash(base), head: hash(head)}, baseTree: hash(base)}, 0, base},
		{"new, and HEAD has moved", place{tree: hash(tree), head: hash(head), headTree: hash(head), start: start{base: hash(base), head: hash(9)}, baseTree: hash(base)}, 0, head},
		{"new, attached", place{tree: hash(tree), head: hash(head), headTree: hash(head), start: start{base: hash(base), head: hash(head)}, baseTree: hash(base), onBranch: true}, 0, head},
		{"new, on an unborn branch", place{tree: hash(tree), start: start{base: hash(base)}, baseTree: hash(base)}, 0, base},
		{"new, and HEAD is unborn again", place{tree: hash(tree), start: start{base: hash(base), head: hash(9)}, baseTree: hash(base)}, 0, 0},
		{"empty, on an unborn branch", place{tree: hash(base), start: start{base: hash(base)}, baseTree: hash(base)}, base, 0},
	} {
		commit, parent := tt.p.commit()
		if commit != hash(tt.commit) || parent != hash(tt.parent) {
			t.Errorf("%s: commit %.2s, parent %.2s; want %02x, %02x", tt.name, commit, parent, tt.commit, tt.parent)
		}
	}
}

// TestStands: a turn is recorded from where it began, unless HEAD has switched to another branch since.
func TestStands(t *testing.T) {
	t.Parallel()
	const main, other, detached = "main", "other", ""
	for _, tt := range []struct {
		name          string
		from, to      byte // HEAD's commit; 0 on an unborn branch
		before, now   string
		exact         bool // the prompt was not seen
		gone          bool
		asks, descend bool
		want          bool
	}{
		{name: "nothing", from: 1, to: 1, before: main, now: main, want: true},
		{name: "nothing, and the prompt was not seen", from: 1, to: 1, before: main, now: main, exact: true, want: true},
		{name: "there and back, and the branch is renamed", from: 1, to: 1, before: main, now: other, want: true},
		{name: "new branch, at the same commit", from: 1, to: 1, before: main, now: other, exact: true, want: true},
		{name: "detach", from: 1, to: 1, before: main, now: detached, want: true},
		{name: "attach", from: 1, to: 1, before: detached, now: main, want: true},
		{name: "still unborn", before: main, now: main, want: true},
		{name: "still unborn, and the prompt was not seen", before: main, now: main, exact: true, want: true},
		{name: "another unborn branch", before: main, now: other, want: true},
		{name: "the start is gone", from: 1, to: 1, before: main, now: main, gone: true},
		{name: "the start is gone, and HEAD has moved", from: 1, to: 2, before: main, now: main, gone: true},
		{name: "the start is gone, and HEAD has gone on", from: 1, to: 2, before: main, now: other, gone: true, descend: true},
		{name: "the start on an unborn branch is gone", before: main, now: main, gone: true},
		{name: "first commit", to: 1, before: main, now: main, want: true},
		{name: "from an unborn branch to another one", to: 1, before: main, now: other, want: true},
		{name: "from an unborn branch to a commit", to: 1, before: main, now: detached, want: true},
		{name: "first commit, and the prompt was not seen", to: 1, before: main, now: main, exact: true},
		{name: "commit, amend, reset or rebase", from: 1, to: 2, before: main, now: main, want: true},
		{name: "commit or reset when detached", from: 1, to: 2, before: detached, now: detached, want: true},
		{name: "commit, and the prompt was not seen", from: 1, to: 2, before: main, now: main, exact: true},
		{name: "commit on a new branch, and the prompt was not seen", from: 1, to: 2, before: main, now: other, exact: true, descend: true},
		{name: "unborn again", from: 1, before: main, now: main, want: true},
		{name: "unborn again, and the prompt was not seen", from: 1, before: main, now: main, exact: true},
		{name: "orphan", from: 1, before: main, now: other},
		{name: "orphan when detached", from: 1, before: detached, now: other},
		{name: "new branch, and commit", from: 1, to: 2, before: main, now: other, asks: true, descend: true, want: true},
		{name: "other branch", from: 1, to: 2, before: main, now: other, asks: true},
		{name: "detach at a descendant", from: 1, to: 2, before: main, now: detached, asks: true, descend: true, want: true},
		{name: "detach elsewhere", from: 1, to: 2, before: main, now: detached, asks: true},
		{name: "from a commit to a branch ahead of it", from: 1, to: 2, before: detached, now: main, asks: true, descend: true, want: true},
		{name: "from a commit to another branch", from: 1, to: 2, before: detached, now: main, asks: true},
	} {
		s, asked := start{base: hash(9), branch: tt.before, exact: tt.exact}, false
		head := hash(tt.to)
		s.head = hash(tt.from)
		got, err := s.valid(!tt.gone, head, tt.now, func() (bool, error) { asked = true; return tt.descend, nil })
		if err != nil || got != tt.want || asked != tt.asks {
			t.Errorf("%s: %t, %v, git was asked: %t; want %t, %t", tt.name, got, err, asked, tt.want, tt.asks)
		}
	}
	lost := errors.New("no such commit")
	s := start{head: hash(1), branch: main}
	if got, err := s.valid(true, hash(2), other, func() (bool, error) { return false, lost }); got || !errors.Is(err, lost) {
		t.Errorf("git can't tell: %t, %v", got, err)
	}
}

// A sitting is a session that is recorded without git: every signal is decided on, and what the plan
// says is noted.
type sitting struct {
	t     *testing.T
	agent *agent.Agent
	state session.Known
	turns []*turns.Turn // by number, from 1
}

func (s *sitting) take(sig Signal, id record.ID) {
	s.t.Helper()
	if known(sig, &s.state) || repeated(sig, &s.state, func() bool { return s.spoke(sig, id) }) {
		return
	}
	f := inputs{Signal: sig, id: id, worktree: "/w", state: s.state, last: len(s.turns), head: hash(1)}
	f.segment = s.read(sig.Transcript, f.cursor())
	if f.segment.from == 0 && !f.segment.none && (f.segment.Restarted || s.state.Transcript != sig.Transcript) {
		f.segment.after = s.goesOnFrom(sig)
	}
	p := decide(f)
	if p.ends == nil && p.opens == nil {
		return
	}
	done := outturn{head: hash(1), opens: start{base: hash(1), head: hash(1)}}
	for _, e := range p.ends {
		turn := describe(&f, e, p.start, &snapshot.Snapshot{})
		turn.Code, turn.Base = hash(1), hash(1)
		switch {
		case e.number == len(s.turns)+1:
			s.turns = append(s.turns, turn)
		case e.number == len(s.turns) && f.again():
			s.turns[e.number-1] = turn
		default:
			s.t.Fatalf("turn %d is recorded after turn %d", e.number, len(s.turns))
		}
		done.turns = append(done.turns, turn)
		p.start = start{base: hash(1), head: hash(1)}
		f.last = len(s.turns)
	}
	s.state = f.next(p, done, func(offset int64, turn int) session.Cursor {
		c, err := transcript.At(sig.Transcript, offset)
		gittest.Must(s.t, err)
		return session.Cursor{Offset: c.Offset, Check: c.Check, Turn: turn}
	})
}

func (s *sitting) read(path string, c session.Cursor) flushed {
	f := flushed{from: c.Offset, after: c.Turn}
	seg, err := transcript.ReadSegment(path, transcript.Cursor{Offset: c.Offset, Check: c.Check})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.none = true
	case err != nil:
		s.t.Fatal(err)
	case seg.Restarted && path == s.state.Transcript:
		s.t.Fatal("the cursor does not fit the file")
	case seg.Restarted:
		f.from, f.after = 0, 0
	}
	f.NewLines = seg
	return f
}

func (s *sitting) spoke(sig Signal, id record.ID) bool {
	sum := transcript.Summarise(s.agent.Reader(), s.read(sig.Transcript, s.state.Cursors[id]).Bytes)
	return sum.Reply != "" || len(sum.Tools) > 0
}

// TestDecideAtRandom plays sessions of random events against the simplest model that there is: each
// turn of the client is recorded once, in order, with its prompt and the way it ended.
func TestDecideAtRandom(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range gittest.Size(600, 150) {
		playAtRandom(t, uint64(seed))
		if t.Failed() {
			return
		}
	}
}

func playAtRandom(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	var script []string
	var wants []record.Outcome
	s := &sitting{t: t, agent: agent.Default()}
	id := record.ID("a1b2c3d4")
	deliver := func(e replay.Event) {
		event, ok := map[string]SignalKind{"UserPromptSubmit": Prompted, "Stop": Stopped, "StopFailure": Erred, "SessionEnd": Ended}[e.Name]
		if !ok {
			return
		}
		sig := Signal{
			Event: event, At: e.At, Session: e.Session, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.Reply, Again: e.Again, Transcript: e.Transcript,
		}
		for range 1 + r.IntN(5)/4 { // settings and a plugin: twice
			s.take(sig, id)
		}
	}
	c := replay.New(gittest.TempDir(t), "/home/dev/repo", deliver)
	prompts := 0
	prompt := func() string { prompts++; return fmt.Sprintf("prompt %d", prompts) }
	note := func(what string) { script = append(script, what) }
	grow := func() { // turns that the client has begun are wanted
		for len(wants) < len(c.Said()) {
			wants = append(wants, record.Interrupted)
		}
	}
	over := func(o record.Outcome, end func()) {
		running := len(c.Said()) - 1
		end()
		grow()
		wants[running] = o
	}
	for range 4 + r.IntN(30) {
		if !c.Busy() {
			switch r.IntN(8) {
			case 0:
				note("end")
				c.End("other")
			case 1:
				note("resume")
				c.Resume()
			default:
				note("prompt")
				c.Prompt(prompt())
				grow()
			}
			continue
		}
		switch r.IntN(12) {
		case 0, 1, 2:
			note("stop")
			over(record.Done, func() { c.Stop("done") })
		case 3:
			note("stop twice")
			over(record.Done, func() { c.Block("done", "go on"); c.StopAgain("done now") })
		case 4:
			note("fail")
			over(record.Failed, func() { c.Fail("API Error: 500") })
		case 5:
			note("fail unheard")
			over(record.Failed, func() { c.FailUnheard("API Error: 500") })
		case 6, 7:
			note("esc")
			over(record.Interrupted, c.Esc)
		case 8:
			note("queue")
			c.Prompt(prompt())
		case 9:
			note("kill")
			c.Flush()
			c.Kill(false)
			if r.IntN(2) == 0 {
				note("sweep")
				deliver(replay.Event{Name: "SessionEnd", Session: c.Session, Transcript: c.Path, At: time.Now()})
			}
			note("resume")
			c.Resume()
		case 10:
			note("end")
			c.End("other")
		default:
			note("tool")
			c.Tool("Edit")
		}
	}
	note("end")
	c.End("other")
	var got, want []string
	for _, turn := range s.turns {
		got = append(got, fmt.Sprintf("%d %s %s", turn.Turn, turn.Prompt, turn.Outcome))
	}
	for i, said := range c.Said() {
		want = append(want, fmt.Sprintf("%d %s %s", i+1, said.Prompt, wants[i]))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("seed %d: %s\ngot\n%s\nwant\n%s", seed, strings.Join(script, ", "), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
