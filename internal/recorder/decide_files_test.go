package recorder

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// A pen writes a client's file, and says in which order the client writes and runs its hooks: of each
// pair of texts, the first is in the file before the hook runs.
type pen struct {
	name   string
	ids    bool // its events have the ids of prompts
	steers bool // a prompt in a running turn is told with that turn's id
	fails  bool // it has an event for a turn that the model's service has failed

	head   func(file string, base *told, end int) string // of a file
	begins func(id, prompt string) (before, after string)
	queues func(id, prompt string) string
	works  func(id, text string) string
	ends   func(id, text string, how record.Outcome) (before, after string)
}

// A told is a file of a client's.
type told struct {
	id, path string
	size     int
	after    int // turn that it goes on from
	turns    []*run
}

// A run is a turn as the client knows it.
type run struct {
	id, prompt string
	how        record.Outcome
	in         *told
	start, end int
	number     int
}

var pens = []pen{
	{
		name: "codex", ids: true, steers: true,
		head: func(file string, base *told, end int) string {
			goesOn := ""
			if base != nil {
				goesOn = fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_byte_offset":%d}`, base.id, end)
			}
			return fmt.Sprintf(`{"ordinal":0,"type":"session_meta","payload":{"id":%q,"cwd":"/home/dev/repo"%s}}`+"\n", file, goesOn)
		},
		begins: func(id, prompt string) (before, after string) {
			before = fmt.Sprintf(`{"ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":%q,"turn_attribution":{"turn_trigger":"user"}}}`+"\n", id)
			before += fmt.Sprintf(`{"ordinal":2,"type":"turn_context","payload":{"turn_id":%q,"cwd":"/home/dev/repo","model":"m"}}`+"\n", id)
			return before, asks(prompt)
		},
		queues: func(_, prompt string) string { return asks(prompt) },
		works:  func(_, text string) string { return says(text, "commentary") },
		ends: func(id, text string, how record.Outcome) (before, after string) {
			event := func(kind, more string) string {
				return fmt.Sprintf(`{"ordinal":9,"type":"event_msg","payload":{"type":%q,"turn_id":%q%s}}`+"\n", kind, id, more)
			}
			switch how {
			case record.Done:
				return says(text, "final_answer"), event("task_complete", `,"last_agent_message":"x"`)
			case record.Failed:
				return "", event("task_complete", fmt.Sprintf(`,"error":{"message":%q}`, text))
			}
			return `{"ordinal":8,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<turn_aborted>\nThe user interrupted."}]}}` + "\n",
				event("turn_aborted", `,"reason":"interrupted"`)
		},
	},
	{name: "opencode", ids: true, fails: true, head: goesOn, begins: userMessage, queues: waits, works: replies, ends: stops},
	{name: "opencode", fails: true, head: goesOn, begins: userMessage, queues: waits, works: replies, ends: stops}, // as one without ids
}

func asks(prompt string) string {
	return fmt.Sprintf(`{"ordinal":3,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":%q}]}}}`+"\n", prompt)
}

func says(text, phase string) string {
	return fmt.Sprintf(`{"ordinal":4,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"a-%s","phase":%q,"content":[{"type":"Text","text":%q}]}}}`+"\n", text, phase, text)
}

func goesOn(_ string, base *told, end int) string {
	if base == nil {
		return ""
	}
	shared := ""
	for _, t := range base.turns {
		if t.end <= end {
			shared = t.id
		}
	}
	return fmt.Sprintf(`{"after":%q}`+"\n", shared)
}

func userMessage(id, prompt string) (before, after string) {
	return "", fmt.Sprintf(`{"id":%q,"info":{"id":%q,"role":"user"},"parts":[{"type":"text","text":%q}]}`+"\n", id, id, prompt)
}

func waits(id, prompt string) string {
	return fmt.Sprintf(`{"id":"q-%s","queued":true,"info":{"id":"q-%s","role":"user"},"parts":[{"type":"text","text":%q}]}`+"\n", id, id, prompt)
}

func replies(id, text string) string {
	return fmt.Sprintf(`{"id":"r-%s","info":{"id":"r-%s","role":"assistant","finish":"tool-calls"},"parts":[{"type":"text","text":%q}]}`+"\n", text, text, text)
}

func stops(id, text string, how record.Outcome) (before, after string) {
	more := map[record.Outcome]string{record.Done: `"finish":"stop"`, record.Failed: `"error":{"name":"APIError","data":{"message":"no"}}`, record.Interrupted: `"error":{"name":"MessageAbortedError"}`}[how]
	return fmt.Sprintf(`{"id":"e-%s","info":{"id":"e-%s","role":"assistant",%s},"parts":[{"type":"text","text":%q}]}`+"\n", text, text, more, text), ""
}

// A play is a session of a client whose events may arrive twice or not at all.
type play struct {
	*sitting
	pen
	random  *rand.Rand
	dir     string
	session string
	script  []string
	all     []*run  // in the order in which they began
	line    []*run  // of the conversation as it is now
	files   []*told // one for each that was begun, or begun anew
	running *run
}

// TestDecideFiles plays sessions of random events over the files of each kind: each turn is recorded once, in
// order, with its prompt and how it ended, and the parts of each file adjoin.
func TestDecideFiles(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for i, pen := range pens {
		for seed := range uint64(gittest.Size(500, 150)) {
			p := &play{sitting: &sitting{t: t, agent: agent.Of(pen.name)}, pen: pen, random: rand.New(rand.NewPCG(seed, uint64(i))), dir: t.TempDir(), session: "01990000-0000-7000-8000-000000000001"}
			p.perform()
			if t.Failed() {
				t.Fatalf("%s, seed %d: %s", pen.name, seed, strings.Join(p.script, ", "))
			}
		}
	}
}

func (p *play) now() *told { return p.files[len(p.files)-1] }

func (p *play) write(text string) {
	c := p.now()
	p.check(os.MkdirAll(filepath.Dir(c.path), 0o700))
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	p.check(err)
	_, err = f.WriteString(text)
	p.check(err)
	p.check(f.Close())
	c.size += len(text)
}

func (p *play) check(err error) {
	gittest.Must(p.t, err)
}

// open begins a file that goes on after a part of another one, if there is any.
func (p *play) open(base *told, end int) {
	n := len(p.files)
	c := &told{id: fmt.Sprintf("01990000-0000-7000-8000-0000000000%02x", n+1)}
	switch p.pen.name {
	case "codex":
		name := p.session
		if n > 0 {
			name += "_" + c.id
		}
		c.path = filepath.Join(p.dir, "sessions", "2026", "11", "22", fmt.Sprintf("rollout-2026-11-22T01-%02d-37-%s.jsonl", n, name))
	default:
		name := "ses_1"
		if n > 0 {
			name += fmt.Sprintf(".%d", n)
		}
		c.path = filepath.Join(p.dir, name+".jsonl")
	}
	p.files = append(p.files, c)
	if head := p.head(c.id, base, end); head != "" {
		p.write(head)
	}
}

// tell delivers an event, once or more; it may be lost.
func (p *play) tell(e SignalKind, id, prompt, reply string, safe bool) {
	if !safe && p.random.IntN(8) == 0 {
		p.script = append(p.script, "(lost)")
		return
	}
	s := Signal{Event: e, At: time.Now(), Agent: p.pen.name, Session: p.session, PromptID: id, Prompt: prompt, Reply: reply, Transcript: p.now().path}
	times := 1
	if p.ids {
		times += p.random.IntN(4) / 3
	} else {
		s.PromptID = ""
	}
	for range times {
		p.take(s, "a1b2c3d4")
	}
}

// safe says that an event must not be lost: what nobody told of counts only between turns of the same file,
// and without ids nothing but their order tells the first turns of a file from what was there before.
func (p *play) safe() bool {
	c := p.now()
	return len(c.turns) <= 1 || !p.ids && p.state.Cursors["a1b2c3d4"].Turn < c.turns[0].number
}

func (p *play) prompt() {
	c := p.now()
	n := len(p.all) + 1
	r := &run{id: fmt.Sprintf("msg_%04d", n), prompt: fmt.Sprintf("prompt %04d.", n), how: record.Interrupted, in: c, start: c.size, number: n}
	p.all, p.line, c.turns, p.running = append(p.all, r), append(p.line, r), append(c.turns, r), r
	before, after := p.begins(r.id, r.prompt)
	p.write(before)
	p.tell(Prompted, r.id, r.prompt, "", p.safe())
	p.write(after)
}

func (p *play) stop(how record.Outcome, heard bool) {
	r := p.running
	text := fmt.Sprintf("%s %04d %d", how, r.number, p.random.IntN(1000))
	before, after := p.ends(r.id, text, how)
	p.write(before)
	events := map[record.Outcome]SignalKind{record.Done: Stopped, record.Failed: Erred, record.Interrupted: Halted}
	if heard {
		was := len(p.script)
		p.tell(events[how], r.id, "", text, p.safe())
		heard = len(p.script) == was
	}
	if heard || how == record.Failed {
		r.how = how
	}
	p.write(after)
	r.end, p.running = p.now().size, nil
}

// rewind goes back in the conversation, to the end of one of its turns or to its beginning.
func (p *play) rewind() {
	k := p.random.IntN(len(p.line))
	p.line = slices.Clone(p.line[:k])
	if k == 0 {
		p.open(nil, 0)
		return
	}
	last := p.line[k-1]
	p.open(last.in, last.end)
	p.now().after = last.number
}

func (p *play) perform() {
	p.open(nil, 0)
	for range 4 + p.random.IntN(25) {
		do := ""
		if p.running == nil {
			do = []string{"prompt", "prompt", "prompt", "prompt", "end", "rewind"}[p.random.IntN(6)]
			if len(p.line) == 0 {
				do = "prompt"
			}
		} else {
			do = []string{"done", "done", "done", "halt", "fail", "work", "work", "queue", "kill"}[p.random.IntN(9)]
		}
		p.script = append(p.script, do)
		switch do {
		case "prompt":
			p.prompt()
		case "done":
			p.stop(record.Done, true)
		case "halt":
			p.stop(record.Interrupted, true)
		case "fail":
			p.stop(record.Failed, p.fails)
		case "work":
			p.write(p.works(p.running.id, fmt.Sprintf("work %d", p.random.IntN(1_000_000))))
		case "queue":
			text := fmt.Sprintf("more %d", p.random.IntN(1_000_000))
			if p.steers {
				p.tell(Prompted, p.running.id, text, "", true)
			}
			p.write(p.queues(p.running.id+"-"+text[5:], text))
		case "kill":
			p.running.end, p.running = p.now().size, nil
		case "end":
			p.tell(Ended, "", "", "", true)
		case "rewind":
			p.tell(Ended, "", "", "", true) // what is open ends in its own file
			p.rewind()
		}
	}
	if p.running != nil {
		p.running.end = p.now().size
	}
	p.tell(Ended, "", "", "", true)
	p.compare()
}

func (p *play) compare() {
	var got, want []string
	for _, t := range p.turns {
		got = append(got, fmt.Sprintf("%d %s %s", t.Turn, t.Prompt, t.Outcome))
	}
	for _, r := range p.all {
		want = append(want, fmt.Sprintf("%d %s %s", r.number, r.prompt, r.how))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		p.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		return
	}
	for i, c := range p.files {
		data, _ := os.ReadFile(c.path) // there is none if nothing was said in it
		at, after := int64(0), c.after
		for _, r := range c.turns {
			t := p.turns[r.number-1]
			s := t.Transcript
			if s == nil || s.Missing != "" || s.From != at || s.To < s.From || s.To > int64(len(data)) || s.After != after {
				p.t.Errorf("turn %d has %+v in file %d of %d bytes; want one from %d on, after turn %d", r.number, s, i, len(data), at, after)
				return
			}
			text := string(data[s.From:s.To])
			if !strings.Contains(text, r.prompt) || strings.Count(text, "prompt ") != 1 {
				p.t.Errorf("turn %d (%s) has\n%s", r.number, r.prompt, text)
			}
			at, after = s.To, r.number
		}
	}
}

// goesOnFrom is the number of the turn from which a file goes on.
func (s *sitting) goesOnFrom(sig Signal) int {
	if s.agent.Continues == nil {
		return 0
	}
	shared, _, err := s.agent.Continues(sig.Transcript, 0)
	gittest.Must(s.t, err)
	for _, t := range slices.Backward(s.turns) {
		if shared != "" && leadsTo(t, shared, sig.Agent) {
			return t.Turn
		}
	}
	return 0
}
