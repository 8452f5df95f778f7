package streamjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	maxLine      = 32 << 20 // bytes; longer lines are not shown. Results can hold whole documents
	maxArguments = 120      // runes of a tool's arguments
	maxResult    = 5        // lines of a tool's result
	maxWidth     = 200      // runes of each line
)

// A Renderer writes the client's output, in pieces of any size, as text. Its
// Close writes what is left at the end.
type Renderer struct {
	w   io.Writer
	err error // w's error

	line  []byte // incomplete
	skips bool   // the line is too long

	said    string          // last text of the model, or error
	pieces  string          // pieces of the text being written
	partial bool            // the last byte is not a newline
	waited  map[string]bool // by id, tasks that end in a tool's result, which is shown

	result Result
}

// A Result is how a run ended, or zero if the client did not report it.
type Result struct {
	Told    bool
	IsError bool   // even if the client reports success when the model's service failed
	Text    string // the answer or error
	Reason  string // completed, max_turns, api_error, aborted_tools, ...
	Session string // id
}

// NewRenderer returns a renderer that writes to w.
func NewRenderer(w io.Writer) *Renderer { return &Renderer{w: w, waited: make(map[string]bool)} }

// Result returns how the run ended, the last of several results.
func (r *Renderer) Result() Result { return r.result }

// Write takes more output. Errors are those of the underlying writer.
func (r *Renderer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && r.err == nil {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if r.skips = r.skips || len(r.line)+len(line) > maxLine; !r.skips {
			r.line = append(r.line, line...)
		}
		if ended && !r.skips {
			r.show(r.line)
		}
		if ended {
			r.line, r.skips = r.line[:0], false
		}
		p = rest
	}
	return n, r.err
}

// Close shows a last line without a newline.
func (r *Renderer) Close() error {
	if len(r.line) > 0 && !r.skips {
		r.show(r.line)
	}
	r.line = nil
	r.endLine()
	return r.err
}

func (r *Renderer) show(line []byte) {
	v := gjson.ParseBytes(line)
	if !json.Valid(line) || !v.IsObject() || !v.Get("type").Exists() {
		r.endLine()
		r.write(string(line) + "\n")
		return
	}
	indent := ""
	if v.Get("parent_tool_use_id").Str != "" {
		indent = "  " // by a sub-agent
	}
	switch v.Get("type").Str {
	case "system":
		r.system(v)
	case "stream_event":
		if indent == "" {
			r.piece(v.Get("event"))
		}
	case "assistant":
		v.Get("message.content").ForEach(func(_, block gjson.Result) bool {
			r.assistant(block, indent)
			return true
		})
	case "user":
		r.user(v, indent)
	case "result":
		r.end(v)
	}
}

func (r *Renderer) system(v gjson.Result) {
	switch v.Get("subtype").Str {
	case "init":
		r.print("", fmt.Sprintf("[%s in %s]", v.Get("model").Str, v.Get("cwd").Str))
	case "informational":
		r.print("", v.Get("content").Str)
	case "task_started":
		if v.Get("is_backgrounded").Type == gjson.False {
			r.waited[v.Get("task_id").Str] = true
		}
	case "task_notification":
		if r.waited[v.Get("task_id").Str] {
			return
		}
		r.print("  ", fmt.Sprintf("task %s: %s", v.Get("status").Str, oneLine(v.Get("summary").Str, maxWidth)))
	case "api_retry":
		wait := time.Duration(v.Get("retry_delay_ms").Num) * time.Millisecond
		r.print("", fmt.Sprintf("API error %d (%s), attempt %d of %d in %s",
			v.Get("error_status").Int(), v.Get("error").Str, v.Get("attempt").Int(), v.Get("max_retries").Int(), wait.Round(100*time.Millisecond)))
	}
}

// piece shows a piece of the main conversation's text.
func (r *Renderer) piece(event gjson.Result) {
	switch {
	case event.Get("type").Str == "content_block_start":
		r.pieces = ""
	case event.Get("delta.type").Str == "text_delta":
		text := printable(event.Get("delta.text").Str)
		r.pieces += text
		r.write(text)
	}
}

func (r *Renderer) assistant(block gjson.Result, indent string) {
	switch block.Get("type").Str {
	case "text":
		text := printable(block.Get("text").Str)
		r.said = text
		if indent == "" && r.pieces != "" && strings.HasPrefix(text, r.pieces) {
			r.write(text[len(r.pieces):])
			r.pieces = ""
			r.endLine()
			return
		}
		r.print(indent, text)
	case "tool_use":
		r.print(indent, fmt.Sprintf("● %s(%s)", oneLine(block.Get("name").Str, maxWidth), arguments(block.Get("input"))))
	}
}

// user shows the results of tools, and that the user interrupted.
func (r *Renderer) user(v gjson.Result, indent string) {
	synthetic := v.Get("isSynthetic").Bool() || indent != "" // a sub-agent's prompt is in its call
	v.Get("message.content").ForEach(func(_, block gjson.Result) bool {
		switch kind := block.Get("type").Str; {
		case kind == "tool_result":
			r.toolResult(block, indent)
		case kind == "text" && !synthetic:
			r.print(indent, printable(block.Get("text").Str))
		}
		return true
	})
}

func (r *Renderer) toolResult(block gjson.Result, indent string) {
	content := block.Get("content")
	text := content.Str
	if content.IsArray() {
		var texts []string
		content.ForEach(func(_, part gjson.Result) bool {
			if t := part.Get("text"); t.Exists() {
				texts = append(texts, t.Str)
			} else {
				texts = append(texts, "["+part.Get("type").Str+"]")
			}
			return true
		})
		text = strings.Join(texts, "\n")
	}
	lines := strings.Split(strings.Trim(printable(text), "\n"), "\n")
	mark := "  ⎿ "
	if block.Get("is_error").Bool() {
		mark = "  ⎿ Error: "
	}
	for i, line := range lines {
		if i == maxResult && len(lines) > maxResult+1 {
			r.print(indent, fmt.Sprintf("    … %d more lines", len(lines)-maxResult))
			return
		}
		r.print(indent, mark+cut(line, maxWidth))
		mark = "    "
	}
}

// end shows how the run ended, unless that was shown before.
func (r *Renderer) end(v gjson.Result) {
	r.result = Result{
		Told: true, IsError: v.Get("is_error").Bool(), Text: printable(v.Get("result").Str),
		Reason: v.Get("terminal_reason").Str, Session: v.Get("session_id").Str,
	}
	if r.result.Text == "" {
		var texts []string
		for _, e := range v.Get("errors").Array() {
			texts = append(texts, printable(e.Str))
		}
		r.result.Text = strings.Join(texts, "\n")
	}
	switch {
	case r.result.Text == r.said:
	case r.result.IsError:
		r.print("", fmt.Sprintf("Error (%s): %s", r.result.Reason, r.result.Text))
	default:
		r.print("", r.result.Text)
	}
	r.said = ""
}

// arguments returns a tool's arguments in a line, with names if there are many.
func arguments(input gjson.Result) string {
	var names, values []string
	input.ForEach(func(k, v gjson.Result) bool {
		if k.Str != "description" { // of what the tool is about to do
			names, values = append(names, k.Str), append(values, v.String())
		}
		return true
	})
	if len(values) == 1 {
		return oneLine(values[0], maxArguments)
	}
	for i := range values {
		values[i] = names[i] + ": " + values[i]
	}
	return oneLine(strings.Join(values, ", "), maxArguments)
}

// print writes each line of text after the indent.
func (r *Renderer) print(indent, text string) {
	r.endLine()
	text = strings.Trim(text, "\n")
	if text != "" {
		r.write(indent + strings.ReplaceAll(text, "\n", "\n"+indent) + "\n")
	}
}

func (r *Renderer) endLine() {
	if r.partial {
		r.write("\n")
	}
}

func (r *Renderer) write(text string) {
	if r.err != nil || text == "" {
		return
	}
	r.partial = !strings.HasSuffix(text, "\n")
	_, r.err = io.WriteString(r.w, text)
}

// printable returns text without control characters, except newlines and tabs.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, text)
}

// oneLine returns text with white space as single blanks, cut to most runes.
func oneLine(text string, most int) string {
	return cut(strings.Join(strings.Fields(printable(text)), " "), most)
}

func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
