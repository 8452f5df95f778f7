package recorder_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// FuzzHistory plays what clients and users do in any order, and checks what holds whatever they do:
// one record for every turn, with its prompt, its outcome and the worktree's tree, and
// conversations that are prefixes of the clients' files. Each byte of the input is a decision.
func FuzzHistory(f *testing.F) {
	gittest.Check(f)
	for seed := range gittest.Size(14, 2) {
		source := rand.New(rand.NewPCG(uint64(seed), 0))
		var data []byte
		for range 12 {
			data = binary.LittleEndian.AppendUint64(data, source.Uint64())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		t.Parallel()
		h := &history{Lab: lab.New(t), data: data[:min(len(data), 96)]}
		switch h.choose(3) {
		case 0:
			h.forgets = true
		case 1:
			h.Lab.Start()
			h.forgets, h.stays = true, true // off its branch, a session that was forgotten is a new one
		case 2:
			h.Lab.Start()
		}
		for range 1 + h.choose(2) {
			h.players = append(h.players, h.player())
		}
		for len(h.data) > 0 && !t.Failed() {
			h.step()
		}
		for _, p := range h.players {
			p.c.End("other")
			p.end(record.Interrupted)
		}
		h.settle(true)
		if t.Failed() {
			for _, did := range h.did {
				t.Log(did)
			}
		}
	})
}

// A history is a lab in which things happen.
type history struct {
	*lab.Lab
	data    []byte
	players []*player
	forgets bool // the local state is deleted now and then
	stays   bool // HEAD stays on its branch
	did     []string
	n       int
}

// A player is a client, and what it is known to have run.
type player struct {
	h     *history
	c     *replay.Client
	runs  []run
	queue []string
	again bool // the last turn goes on after its Stop
}

// A run is one turn as it ought to be recorded.
type run struct {
	session string
	prompt  string
	outcome record.Outcome // "" while it runs
	tree    string         // "" if no event saw its end
}

// choose takes the next decision, from 0 to n-1.
func (h *history) choose(n int) int {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return int(b) % n
}

func (h *history) say(format string, args ...any) {
	h.did = append(h.did, fmt.Sprintf(format, args...))
}

func (h *history) player() *player {
	p := &player{h: h, c: h.Client()}
	p.c.PID = 4000 + len(h.players)*100
	p.c.Hook = func(e replay.Event) {
		switch h.choose(4) {
		case 0: // a plugin is installed beside the settings
			h.say("  %s, twice at once", e.Name)
			var both sync.WaitGroup
			both.Go(func() { h.Record(e) })
			both.Go(func() { h.Record(e) })
			both.Wait()
		case 1:
			h.say("  %s, twice", e.Name)
			h.Record(e)
			h.Record(e)
		default:
			h.say("  %s", e.Name)
			h.Record(e)
		}
	}
	return p
}

// step lets one thing happen.
func (h *history) step() {
	p := h.players[h.choose(len(h.players))]
	switch what := h.choose(10); {
	case what < 3:
		h.edit()
	case what == 3:
		h.user()
	default:
		p.act()
	}
}

// act is something that the client or its user does.
func (p *player) act() {
	h := p.h
	h.n++
	name := fmt.Sprintf("prompt %d", h.n)
	p.c.Late = h.choose(3) == 0
	if !p.c.Busy() {
		switch h.choose(8) {
		case 0:
			h.say("%.4s: exit and resume", p.c.Session)
			p.c.End("prompt_input_exit")
			p.c.Resume()
		case 1:
			h.say("%.4s: killed and resumed", p.c.Session)
			p.c.Flush()
			p.c.Kill(h.choose(2) == 0)
			p.c.Resume()
		case 2:
			h.say("%.4s: /clear", p.c.Session)
			p.c.Clear()
			h.settle(false)
		default:
			h.say("%.4s: %s", p.c.Session, name)
			p.c.Prompt(name)
			p.begin(name)
		}
		return
	}
	if p.again {
		h.say("%.4s: ends again", p.c.Session)
		p.again = false
		p.runs[len(p.runs)-1].tree = h.Tree()
		p.c.StopAgain("answer again to " + name)
		p.next()
		h.settle(false)
		return
	}
	switch h.choose(12) {
	case 0:
		h.say("%.4s: %s, queued", p.c.Session, name)
		p.c.Prompt(name)
		p.queue = append(p.queue, name)
	case 1:
		p.c.Tool("Bash")
	case 2:
		h.say("%.4s: Esc", p.c.Session)
		p.c.Esc()
		p.end(record.Interrupted)
		p.next()
	case 3:
		h.say("%.4s: fails", p.c.Session)
		tree := h.Tree()
		p.c.Fail("API Error: " + name)
		p.end(record.Failed)
		p.runs[len(p.runs)-1].tree = tree
		p.next()
		h.settle(false)
	case 4:
		h.say("%.4s: fails, unheard", p.c.Session)
		p.c.FailUnheard("API Error: " + name)
		p.end(record.Failed)
		p.next()
	case 5:
		h.say("%.4s: ends in mid-turn", p.c.Session)
		p.c.End("other")
		p.end(record.Interrupted)
		p.queue = nil
		p.c.Resume()
		h.settle(false)
	case 6:
		h.say("%.4s: is blocked", p.c.Session)
		p.c.Block("answer to "+name, "not yet")
		p.end(record.Done)
		p.again = true
	default:
		h.say("%.4s: stops", p.c.Session)
		tree := h.Tree()
		p.c.Stop("answer to " + name)
		p.end(record.Done)
		p.runs[len(p.runs)-1].tree = tree
		p.next()
		h.settle(false)
	}
}

func (p *player) begin(prompt string) {
	p.runs = append(p.runs, run{session: p.c.Session, prompt: prompt})
}

// end is the end of the running turn, if there is one.
func (p *player) end(outcome record.Outcome) {
	if n := len(p.runs); n > 0 && p.runs[n-1].outcome == "" {
		p.runs[n-1].outcome = outcome
	}
}

// next is the turn of the prompt that waits in the queue.
func (p *player) next() {
	if len(p.queue) > 0 {
		p.begin(p.queue[0])
		p.queue = p.queue[1:]
	}
}

// edit changes the worktree, as an agent or anybody does.
func (h *history) edit() {
	h.n++
	name := fmt.Sprintf("file %d", h.choose(5))
	switch h.choose(7) {
	case 0:
		h.say("remove %s", name)
		h.Remove(name)
	case 1:
		h.say("chmod %s", name)
		_ = os.Chmod(filepath.Join(h.Dir, name), 0o755) // it may not be there
	case 2:
		h.say("directory %s", name)
		h.Remove(name)
		h.Write(name+"/below", fmt.Sprint(h.n))
	case 3:
		h.say("write ignored")
		h.Write("x.ignored", fmt.Sprint(h.n))
	default:
		h.say("write %s", name)
		h.Remove(name)
		h.Write(name, fmt.Sprint(h.n%10))
	}
}

// user is something that the user does with git.
func (h *history) user() {
	h.n++
	do := [][]string{
		{"add", "-A"},
		{"commit", "-q", "-a", "--allow-empty", "-m", "the user's"},
		{"commit", "-q", "--allow-empty", "--amend", "-m", "amended"},
		{"checkout", "-q", "--detach"},
		{"checkout", "-q", "-b", fmt.Sprintf("branch%d", h.n)},
		{"reset", "-q"},
		{"stash", "-q"},
		{"gc", "-q", "--prune=now"},
	}[h.choose(8)]
	if do[0] == "checkout" && h.stays {
		return
	}
	h.say("git %v", do)
	if do[0] == "gc" {
		h.Git("reflog", "expire", "--expire=now", "--all")
	}
	h.Git(do...)
	if h.forgets && h.choose(4) == 0 {
		// Without a turn of its own in the ledger, a session that was forgotten has no past.
		for _, p := range h.players {
			if !slices.ContainsFunc(p.runs, func(r run) bool { return r.session == p.c.Session && r.tree != "" }) {
				return
			}
		}
		h.say("the local state is deleted")
		h.Forget("")
	}
}

// settle compares what was recorded with what was run. At the end, nothing is left that could still
// be recorded.
func (h *history) settle(end bool) {
	h.T.Helper()
	missions, err := ledger.List(h.T.Context(), h.GitRepo())
	gittest.Must(h.T, err)
	records := make(map[string][]*turns.Turn)
	for id := range missions {
		for _, t := range h.List(id) {
			records[t.Session] = append(records[t.Session], t)
		}
		if end {
			h.Verify(id)
		}
	}
	for _, p := range h.players {
		sessions := make(map[string][]run)
		for _, r := range p.runs {
			sessions[r.session] = append(sessions[r.session], r)
		}
		for session, runs := range sessions {
			h.compare(session, records[session], runs, end)
			delete(records, session)
		}
	}
	for session, list := range records {
		h.T.Errorf("session %s ran no turn, but has\n%s", session, lab.Describe(list))
	}
	if end {
		h.Fsck()
	}
}

func (h *history) compare(session string, list []*turns.Turn, runs []run, end bool) {
	h.T.Helper()
	if len(list) > len(runs) || end && len(list) != len(runs) {
		h.T.Errorf("session %s ran %d turns %+v, recorded are\n%s", session, len(runs), runs, lab.Describe(list))
		return
	}
	code, _ := h.Trees(list)
	for i, t := range list {
		r := runs[i]
		if t.Prompt != r.prompt || t.Outcome != r.outcome && r.outcome != "" {
			h.T.Errorf("session %s: turn %d is %s %q, want %s %q:\n%s", session, t.Turn, t.Outcome, t.Prompt, r.outcome, r.prompt, lab.Describe(list))
		}
		if r.tree != "" && code[i] != r.tree {
			h.T.Errorf("session %s: turn %d has another tree:\n%s", session, t.Turn, h.Git("diff", "--stat", r.tree, code[i]))
		}
		if i > 0 && list[i-1].Mission == t.Mission && t.Turn <= list[i-1].Turn {
			h.T.Errorf("session %s: turn %d after turn %d", session, t.Turn, list[i-1].Turn)
		}
	}
}
