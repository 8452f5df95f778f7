// Package replay plays Claude Code in tests.
//
// A [Client] writes a session's file as the real client does, record by record, and tells of what
// happens with the events that the real client's hooks get, in the same order and with the same
// gaps: nothing is told when the user presses Esc, a prompt that waited in the queue runs
// unannounced, and the last record of a turn may be written when its Stop hook already runs.
//
//	c := replay.New(config, worktree, hook)
//	c.Prompt("write a file") // UserPromptSubmit
//	c.Tool("Write")
//	c.Stop("I wrote it.") // Stop
//	c.Exit()              // SessionEnd
//
// The records have the real ones' types and fields as far as anybody reads them, and some bulk that
// nobody reads. What was said is known to the client as well: see [Client.Said].
package replay

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gitagent/internal/agent/claude"
)

// A Client is one process of the agent's client with its session. It is used by one goroutine.
type Client struct {
	Session string // of the present conversation; Clear changes it
	Path    string // of the session's file
	Cwd     string
	PID     int

	// Hook gets every event, when it happens; the client waits for it. nil: no hooks are installed.
	Hook func(Event)
	// Late writes what was said last while the hook runs, not before, as the real client may.
	Late bool
	// Context is how many tokens the model reads with each request. 0 stands for 123.
	Context int
	// Hold keeps what is said in memory until [Client.Flush]: a writer that is later than any hook
	// waits.
	Hold bool
	// Failing says that what is answered is an error.
	Failing bool
	// Before tells of calls before they run, too: PreToolUse.
	Before bool

	config  string
	pending []byte
	said    []Said
	running bool
	queue   []string
	parent  string // uuid of the last record of the conversation
	side    string // the sub-agent whose file this is
	turns   int
}

// Said is one turn as the client knows it.
type Said struct {
	PromptID string
	Prompt   string
	Reply    string // the last text, or that of an error
	Offset   int64  // of the first byte of the record of its prompt
}

// New makes a client with a session that has no file yet. Its files are below config.
func New(config, cwd string, hook func(Event)) *Client {
	c := &Client{Cwd: cwd, PID: 4000, Hook: hook, config: config}
	c.begin(NewID())
	return c
}

// NewID is a random UUID, as the client makes them for sessions, prompts and records.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c *Client) begin(session string) {
	c.Session, c.parent, c.turns = session, "", 0
	dir := c.Cwd
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	c.Path = claude.Path(c.config, dir, session)
}

// Said is what was said in all turns of all conversations of this client, in order.
func (c *Client) Said() []Said { return c.said }

// Busy reports whether a turn runs.
func (c *Client) Busy() bool { return c.running }

// Start tells that the conversation begins, or begins anew: "startup", "resume", "fork", "clear",
// "compact". [Client.Clear] and [Client.Compact] do not tell of it.
func (c *Client) Start(source string) { c.tell(Event{Name: "SessionStart", Source: source}) }

// Compact tells that the conversation is about to be compacted.
func (c *Client) Compact(trigger string) { c.tell(Event{Name: "PreCompact", Trigger: trigger}) }

// Prompt gives a prompt. While a turn runs it waits in the queue; its hook has then the running
// turn's id.
func (c *Client) Prompt(text string) {
	if c.running {
		c.tell(Event{Name: "UserPromptSubmit", PromptID: c.last().PromptID, Prompt: text})
		c.aside("queue-operation", "operation", "enqueue", "content", text)
		c.queue = append(c.queue, text)
		return
	}
	id := NewID()
	c.tell(Event{Name: "UserPromptSubmit", PromptID: id, Prompt: text})
	c.start(id, text, "typed")
}

// start writes the record that a turn begins with. At the hook's time it is never in the file yet.
func (c *Client) start(id, text, source string) {
	c.turns++
	c.running = true
	c.said = append(c.said, Said{PromptID: id, Prompt: text, Offset: c.Size()})
	c.chain("user", map[string]any{
		"promptId": id, "promptSource": source, "turnOrigin": "human", "origin": map[string]any{"kind": "human"},
		"turnPosition": map[string]any{"promptIndex": c.turns, "turnIndex": c.turns},
		"message":      map[string]any{"role": "user", "content": text},
	})
	c.chain("attachment", map[string]any{"attachment": map[string]any{"type": "prompt_snapshot", "text": bulk}})
	c.aside("last-prompt", "lastPrompt", text)
}

// bulk is what most of a real file consists of.
const bulk = "Most of the bytes of a session's file are what the client keeps for itself. "

// Say lets the agent say something in mid-turn.
func (c *Client) Say(text string) { c.answer(text, "tool_use") }

func (c *Client) answer(text, stop string) {
	if len(c.said) > 0 {
		c.last().Reply = text
	}
	c.model(map[string]any{"type": "text", "text": text}, stop)
}

// model adds what the model has sent.
func (c *Client) model(content map[string]any, stop string) {
	c.chain("assistant", map[string]any{"requestId": NewID(), "message": map[string]any{
		"id": NewID(), "type": "message", "role": "assistant", "model": "claude-opus-4-8", "stop_reason": stop,
		"content": []any{content},
		"usage":   map[string]any{"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": max(3, c.Context-120), "output_tokens": 7},
	}})
}

// user adds what the model is sent in the course of a turn.
func (c *Client) user(content any, fields map[string]any) {
	fields["promptId"], fields["message"] = c.last().PromptID, map[string]any{"role": "user", "content": content}
	c.chain("user", fields)
}

// Tool lets the agent use a tool, with its result.
func (c *Client) Tool(name string) { c.Use(name, map[string]any{}, "ok", false) }

// Use is Tool with what the tool is given, and what it answers.
func (c *Client) Use(name string, input map[string]any, result string, failed bool) {
	id := NewID()
	c.model(map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}, "tool_use")
	c.user([]any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}},
		map[string]any{"toolUseResult": map[string]any{"stdout": result}}) // the real client keeps it twice
}

// Call is Use with what the tool does, of which the hook is told afterwards:
// PostToolBatch.
func (c *Client) Call(name string, input map[string]any, do func()) {
	c.Answered(name, input, "ok", do)
}

// Answered is Call with what the tool answers.
func (c *Client) Answered(name string, input map[string]any, result string, do func()) {
	id := NewID()
	c.model(map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}, "tool_use")
	c.run(Event{Calls: []Call{{id, name, input}}}, do)
	c.user([]any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": c.Failing}}, map[string]any{"toolUseResult": map[string]any{"stdout": result}})
}

// SideCall is Call of a sub-agent, in its own directory. What it says is left out.
func (c *Client) SideCall(agent, cwd, name string, input map[string]any, do func()) {
	c.run(Event{Agent: agent, Cwd: cwd, Calls: []Call{{NewID(), name, input}}}, do)
}

// SideStop tells that a sub-agent has ended.
func (c *Client) SideStop(agent, cwd string) {
	c.tell(Event{Name: "SubagentStop", Agent: agent, Cwd: cwd, PromptID: c.last().PromptID})
}

func (c *Client) run(e Event, do func()) {
	e.PromptID = c.last().PromptID
	if c.Before {
		e.Name = "PreToolUse"
		c.tell(e)
	}
	do()
	e.Name = "PostToolBatch"
	c.tell(e)
}

// Delegate lets a sub-agent do a task, which it answers after one use of a tool.
func (c *Client) Delegate(task, answer string) {
	id, call := "a"+strings.ReplaceAll(NewID(), "-", "")[:16], NewID()
	c.model(map[string]any{"type": "tool_use", "id": call, "name": "Agent", "input": map[string]any{
		"description": task, "prompt": task, "subagent_type": "general-purpose",
	}}, "tool_use")
	side := &Client{Session: c.Session, Cwd: c.Cwd, Path: filepath.Join(strings.TrimSuffix(c.Path, ".jsonl"), "subagents", "agent-"+id+".jsonl"), side: id}
	side.said = []Said{{PromptID: c.last().PromptID}}
	side.user(task, map[string]any{})
	side.Tool("Glob")
	side.model(map[string]any{"type": "text", "text": answer}, "end_turn")
	side.Flush()
	about, err := json.Marshal(map[string]any{"agentType": "general-purpose", "description": task, "toolUseId": call, "finished": true})
	check(err)
	check(os.WriteFile(strings.TrimSuffix(side.Path, ".jsonl")+".meta.json", about, 0o600))
	c.user([]any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": answer}}, map[string]any{"toolUseResult": map[string]any{"agentId": id}})
}

// Compacted is a compaction that the client has made: how many tokens the context had before and has after it.
func (c *Client) Compacted(trigger string, before, after int) {
	c.chain("system", map[string]any{
		"subtype": "compact_boundary", "content": "Conversation compacted",
		"compactMetadata": map[string]any{"trigger": trigger, "preTokens": before, "postTokens": after},
	})
	c.Context = after
}

// Command is a command of the client's own, such as /rename, with what it says. No hook tells of it.
func (c *Client) Command(name, said string) {
	for _, text := range []string{"<command-name>" + name + "</command-name>", "<local-command-stdout>" + said + "</local-command-stdout>"} {
		c.chain("system", map[string]any{"subtype": "local_command", "content": text})
	}
}

// Stop ends the turn with an answer. A prompt that waits in the queue then runs, and no hook tells
// of it.
func (c *Client) Stop(reply string) {
	c.stop(reply, false)
	c.over()
}

// Block ends the turn like Stop, but some other hook has the agent go on: end it again with
// [Client.StopAgain].
func (c *Client) Block(reply, feedback string) {
	c.stop(reply, false)
	c.user("Stop hook feedback:\n"+feedback, map[string]any{"isMeta": true})
}

// StopAgain ends a turn that went on after its first Stop.
func (c *Client) StopAgain(reply string) {
	c.stop(reply, true)
	c.over()
}

func (c *Client) stop(reply string, again bool) {
	c.answer(reply, "end_turn")
	c.tell(Event{Name: "Stop", PromptID: c.last().PromptID, Reply: reply, Again: again})
}

// Fail ends the turn with an error of the model's service.
func (c *Client) Fail(text string) {
	c.failed(text)
	c.tell(Event{Name: "StopFailure", PromptID: c.last().PromptID, Reply: text, Error: "unknown"})
	c.over()
}

// FailUnheard is Fail where the client ended the hook before it could do anything.
func (c *Client) FailUnheard(text string) {
	c.failed(text)
	c.over()
}

func (c *Client) failed(text string) {
	c.last().Reply = text
	c.synthetic(text, map[string]any{"isApiErrorMessage": true})
}

func (c *Client) synthetic(text string, fields map[string]any) {
	fields["message"] = map[string]any{
		"id": NewID(), "type": "message", "role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence",
		"content": []any{map[string]any{"type": "text", "text": text}},
		"usage":   map[string]any{"input_tokens": 0, "output_tokens": 0},
	}
	c.chain("assistant", fields)
}

// Esc is the user's interruption of the turn. No hook tells of it.
func (c *Client) Esc() {
	c.user([]any{map[string]any{"type": "text", "text": "[Request interrupted by user]"}}, map[string]any{})
	c.over()
}

// over writes what follows a turn, and runs the next prompt of the queue.
func (c *Client) over() {
	c.chain("system", map[string]any{"subtype": "stop_hook_summary", "hookCount": 1})
	c.aside("last-prompt", "lastPrompt", c.last().Prompt)
	c.aside("cost-state", "totalCostUSD", "0.01")
	c.running = false
	if len(c.queue) > 0 {
		text := c.queue[0]
		c.queue = c.queue[1:]
		c.aside("queue-operation", "operation", "dequeue")
		c.start(NewID(), text, "queued")
	}
}

// End tells of the session's end, with a reason of the client's: "other", "prompt_input_exit",
// "clear". With "other" the event has the last turn's id, with the others that of a slash command.
func (c *Client) End(reason string) {
	e := Event{Name: "SessionEnd", Reason: reason}
	switch {
	case reason != "other":
		e.PromptID = NewID()
	case len(c.said) > 0:
		e.PromptID = c.last().PromptID
	}
	c.running, c.queue = false, nil
	c.tell(e)
}

// Clear ends the conversation and begins another one, in the same process.
func (c *Client) Clear() {
	c.End("clear")
	c.Flush()
	c.begin(NewID())
}

// Kill is SIGKILL: what was not written is lost, and nothing tells of it. The file may end within a
// line.
func (c *Client) Kill(torn bool) {
	c.pending = nil
	if torn {
		c.append([]byte(`{"type":"assistant","uuid":"0`))
	}
	c.running, c.queue = false, nil
}

// Resume is a new process that goes on with the conversation.
func (c *Client) Resume() {
	c.PID++
	if data, err := os.ReadFile(c.Path); err == nil && len(data) > 0 && data[len(data)-1] != '\n' {
		c.append([]byte("\n")) // the client seals a torn line
	}
	c.synthetic("No response requested.", map[string]any{})
}

// Second is another process with the same session and file: the client does not refuse it.
func (c *Client) Second() *Client {
	c.Flush()
	other := *c
	other.PID++
	other.said, other.queue, other.running = nil, nil, false
	return &other
}

// Fork is a new process with a copy of the conversation, as --fork-session makes it: another
// session id, and all old prompts have one new id.
func (c *Client) Fork() *Client {
	f := &Client{Cwd: c.Cwd, PID: c.PID + 1, Hook: c.Hook, config: c.config}
	f.begin(NewID())
	data, err := os.ReadFile(c.Path)
	check(err)
	promptID := NewID()
	for line := range bytes.Lines(data) {
		var record map[string]any
		check(json.Unmarshal(line, &record))
		record["sessionId"] = f.Session
		if _, ok := record["promptId"]; ok {
			record["promptId"] = promptID
		}
		f.write(record)
	}
	f.parent, f.turns = c.parent, c.turns
	return f
}

func (c *Client) last() *Said { return &c.said[len(c.said)-1] }

// tell calls the hook. What was said before is in the file by then or, of a late client, gets there
// meanwhile.
func (c *Client) tell(e Event) {
	e.Session, e.Transcript, e.Cwd, e.PID, e.At = c.Session, c.Path, cmp.Or(e.Cwd, c.Cwd), c.PID, time.Now()
	var writing sync.WaitGroup
	switch {
	case c.Hold:
	case c.Late:
		writing.Go(c.Flush)
	default:
		c.Flush()
	}
	if c.Hook != nil {
		c.Hook(e)
	}
	writing.Wait()
}
