package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// turnSize is what a turn adds to the transcript, bytes.
const turnSize = 20 << 10

// A writer writes a transcript as the client does: the same records with the same fields in the
// same order, filled with made-up prose, code and base64. What it writes depends on nothing but its
// seed and the time.
type writer struct {
	dir, session string
	file         string // what it writes
	random       *rand.Rand
	at           time.Time
	parent       string // uuid of the last record of the chain, quoted; null at first
	out          bytes.Buffer

	number   int // of the turn
	promptID string
	before   string // the id before
	last     string // of a record that a later one names
	prompt   string
	reply    string
}

func newWriter(dir, session string, seed int) writer {
	return writer{dir: dir, session: session, random: rand.New(rand.NewPCG(uint64(seed), 20)), at: time.Now(), parent: "null"}
}

// begin makes up the next turn's prompt and answer.
func (w *writer) begin(number int) {
	w.number = number
	if now := time.Now(); now.After(w.at) { // as what it writes is, which hooks look at
		w.at = now
	}
	w.promptID = w.uuid()
	w.prompt = fmt.Sprintf("T%d: %s", number, w.prose(300))
	w.reply = fmt.Sprintf("A%d done: %s", number, w.prose(600))
}

// command is what the agent runs.
const command = "go test ./... 2>&1 | tail -n 20"

// output makes up what the command prints. The turn has it so many times, and comes to about size bytes with that
// and the rest of what is to be written.
func (w *writer) output(copies, rest, size int) string {
	return w.prose(max(100, (size-w.out.Len()-rest)/copies))
}

// payloads are Claude Code's.
func (w *writer) payloads() (prompt, stop fields) {
	return fields{"prompt_id": w.promptID, "permission_mode": "bypassPermissions", "prompt": w.prompt},
		fields{
			"prompt_id": w.promptID, "permission_mode": "bypassPermissions", "stop_hook_active": false,
			"last_assistant_message": w.reply, "background_tasks": []any{}, "session_crons": []any{},
		}
}

// turn is what the turn adds to the file, about size bytes:
// a prompt, a thought, a file read, two edits, a command, and the answer as the last line.
func (w *writer) turn(size int) []byte {
	w.out.Reset()
	if w.number > 1 { // what the client appends after the Stop hook
		w.chain(`"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"git-agent-turn hook || true","durationMs":12}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":false,"level":"suggestion"`, "")
		w.side("last-prompt", `"lastPrompt":`+quote(w.prompt)+`,"leafUuid":`+w.parent)
		w.side("mode", `"mode":"normal"`)
	}
	w.chain(`"promptId":"`+w.promptID+`","type":"user","message":{"role":"user","content":`+quote(w.prompt)+`}`,
		fmt.Sprintf(`,"permissionMode":"bypassPermissions","promptSource":"typed","turnOrigin":"human","turnPosition":{"promptIndex":0,"turnIndex":%d}`, w.number))
	w.chain(`"attachment":{"type":"total_tokens_reminder","text":"<total_tokens>14986763 tokens left</total_tokens>"},"type":"attachment"`,
		`,"rendered":[{"content":"<system-reminder>\n<total_tokens>14986763 tokens left</total_tokens>\n</system-reminder>"}],"renderedRole":"system"`)
	w.side("api-request", `"id":"`+w.uuid()+`","version":"2.1.329","querySource":"repl","params":{"model":"claude-opus-4-8","max_tokens":64000,"thinking":{"type":"adaptive","display":"omitted"}},"keep":8,"requestDigest":"`+w.hex(64)+`"`)
	w.assistant(`{"type":"thinking","thinking":`+quote(w.prose(500))+`,"signature":"`+w.base64(1200)+`"}`, "tool_use")
	w.assistant(`{"type":"text","text":`+quote(w.prose(200))+`}`, "tool_use")
	for _, i := range []int{7, 50} {
		file := quote(w.dir + "/" + path(i))
		old, replaced := w.code(300), w.code(350)
		w.tool("Edit", `{"file_path":`+file+`,"old_string":`+quote(old)+`,"new_string":`+quote(replaced)+`}`,
			"The file has been updated successfully.",
			`{"filePath":`+file+`,"oldString":`+quote(old)+`,"newString":`+quote(replaced)+`,"originalFile":`+quote(source(i, w.number))+`,"structuredPatch":[{"oldStart":4,"oldLines":7,"newStart":4,"newLines":8,"lines":["-`+w.hex(30)+`","+`+w.hex(30)+`"]}],"userModified":false}`)
	}
	output := w.prose(700)
	w.tool("Bash", `{"command":"`+command+`","description":"run the tests"}`, output,
		`{"stdout":`+quote(output)+`,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`)
	const rest = 3800 // bytes of what follows beside the file that is read, which is there twice
	read := w.code(max(100, (size-w.out.Len()-rest)/2))
	file := quote(w.dir + "/" + path(w.number%100))
	w.tool("Read", `{"file_path":`+file+`}`, read, `{"type":"text","file":{"filePath":`+file+`,"content":`+quote(read)+`,"numLines":80,"startLine":1,"totalLines":80}}`)
	w.assistant(`{"type":"text","text":`+quote(w.reply)+`}`, "end_turn")
	return w.out.Bytes()
}

// chain writes a record of the chain. more follows the fields that all have.
func (w *writer) chain(fields, more string) {
	uuid := `"` + w.uuid() + `"`
	fmt.Fprintf(&w.out, `{"parentUuid":%s,"isSidechain":false,%s,"uuid":%s,"timestamp":%s%s,"userType":"external","entrypoint":"cli","cwd":%s,"sessionId":"%s","version":"2.1.329","gitBranch":"main"}`+"\n",
		w.parent, fields, uuid, w.time(), more, quote(w.dir), w.session)
	w.parent = uuid
}

// side writes a record that is not of the chain.
func (w *writer) side(kind, fields string) {
	fmt.Fprintf(&w.out, `{"type":"%s",%s,"timestamp":%s,"sessionId":"%s"}`+"\n", kind, fields, w.time(), w.session)
}

// assistant writes one block of the model's message.
func (w *writer) assistant(block, stop string) {
	w.chain(`"message":{"id":"msg_`+w.hex(18)+`","type":"message","role":"assistant","model":"claude-opus-4-8","content":[`+block+`],"stop_reason":"`+stop+`","stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":300,"cache_read_input_tokens":15000,"output_tokens":42,"service_tier":"standard"}},"apiBlockIndex":0,"requestId":"req_`+w.hex(18)+`","requestedModel":"claude-opus-4-8","type":"assistant"`,
		`,"effort":"high","madeBy":"model"`)
}

// tool writes a call of a tool and its result.
func (w *writer) tool(name, input, result, structured string) {
	id := "toolu_" + w.hex(18)
	w.assistant(`{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":`+input+`}`, "tool_use")
	w.chain(`"promptId":"`+w.promptID+`","type":"user","message":{"role":"user","content":[{"tool_use_id":"`+id+`","type":"tool_result","content":`+quote(result)+`,"is_error":false}]}`,
		`,"toolUseResult":`+structured+`,"sourceToolAssistantUUID":`+w.parent)
}

func (w *writer) time() string {
	w.at = w.at.Add(time.Duration(w.random.IntN(20)) * time.Millisecond)
	return `"` + w.at.UTC().Format("2006-01-02T15:04:05.000Z") + `"`
}

func (w *writer) uuid() string {
	h := w.hex(32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

func (w *writer) hex(n int) string { return w.letters(n, "0123456789abcdef") }

func (w *writer) base64(n int) string {
	return w.letters(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}

func (w *writer) letters(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[w.random.IntN(len(alphabet))]
	}
	return string(b)
}

// words are what prose and code are made of.
var words = strings.Fields(`the a of to in and that is for it with as was on be at by this are from or have an they which one you
 file test error function value change commit branch turn index tree object because should would when then there line package
 return string buffer reader writer handler request response token path name config option result cache lock worktree session`)

func (w *writer) word() string { return words[w.random.IntN(len(words))] }

func (w *writer) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(w.word())
		b.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". ", "\n"}[w.random.IntN(8)])
	}
	return strings.TrimSpace(b.String()[:n])
}

func (w *writer) code(n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch w.random.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "func %s%s(%s string) (%s int, err error) {\n", w.word(), w.word(), w.word(), w.word())
		case 1:
			fmt.Fprintf(&b, "\tif err := %s.%s(%q, %d); err != nil {\n\t\treturn 0, err\n\t}\n", w.word(), w.word(), w.word(), w.random.IntN(9999))
		case 2:
			fmt.Fprintf(&b, "\t// %s\n", strings.ReplaceAll(w.prose(60), "\n", " "))
		case 3:
			fmt.Fprintf(&b, "\t%s := append(%s, %s[%d:]...)\n}\n\n", w.word(), w.word(), w.word(), w.random.IntN(99))
		}
	}
	return b.String()[:n]
}

// quote is s as a JSON string.
func quote(s string) string { return string(must(json.Marshal(s))) }
