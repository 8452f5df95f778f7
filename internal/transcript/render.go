package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/cmdline"
)

// A Form is how a conversation is shown.
type Form struct {
	Results int  // lines of a tool's result to show
	Full    bool // show everything: whole results and arguments, thinking, what the client says

	When    func(time.Time) string // formats a prompt's time; nil to show no times
	Columns int                    // the width of the terminal; 0 for lines as they are
	Colour  bool
}

// A Renderer is a writer that takes the lines of a session, in pieces of any
// size, and writes the conversation for people to read. [Renderer.Close] writes
// the rest.
//
//	-- turn 2, Sat Nov 21 00:24:49 2026 --
//	> T2 please go on
//
//	-- thinking, 6 words --
//	* Turn two: bash, two tools in one message.
//
//	+ Bash(echo two > two.txt && cat two.txt)
//	  | two
//
// A line's mark tells its speaker and can't be forged: ">" the user, "*" the
// model, "+" a tool call, "--" us. The text behind it is untrusted, and
// escaped. In a tool's output, terminal sequences are carried out or removed
// first, but with [Form.Full] they are escaped, too: no text can hide there.
//
// Memory is bounded by the longest record and about 100 bytes per record.
type Renderer struct {
	w    *bufio.Writer
	form Form

	line    []byte // not complete yet
	skipped int    // bytes so far of a line that is too long
	at      int    // offset of the line

	reader  Reader
	seen    once
	aside   int             // a sub-agent's records since the last of the conversation
	called  int             // number of calls so far
	calls   map[string]call // without a result so far, by id
	waiting int             // bytes of their texts
	last    byte            // the mark of the last block; '~' for a folded one
	head    string          // of the next block
	told    time.Time
	beside  []ShownSubagent // sub-agents not shown yet
}

type call struct {
	id     string
	number int
	text   string
	at     time.Time
}

const (
	maxRecord = 32 << 20    // bytes of the longest line shown; no request to the service is longer
	maxCalls  = 1 << 20     // bytes of calls that wait for their results
	maxPlain  = 500         // columns of a cut line without a terminal
	pause     = time.Minute // after which the time is shown again
)

// NewRenderer returns a renderer that writes to w. If reader is nil,
// [Renderer.Begin] must come before any lines.
func NewRenderer(w io.Writer, reader Reader, form Form) *Renderer {
	return &Renderer{w: bufio.NewWriter(w), form: form, reader: reader, seen: make(once), calls: make(map[string]call)}
}

// Begin ends a turn's lines and begins another's, shown under name.
func (r *Renderer) Begin(name string, reader Reader) error {
	err := r.end()
	r.reader, r.seen, r.at, r.aside, r.head = reader, make(once), 0, 0, name
	return err
}

// Write takes more lines. Errors are those of the underlying writer.
func (r *Renderer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		piece := rest[:max(end, 0)]
		if end < 0 {
			piece = rest
		}
		if r.skipped > 0 || len(r.line)+len(piece) > maxRecord {
			r.skipped += len(r.line) + len(piece)
			r.line = nil
		} else if end < 0 || len(r.line) > 0 {
			r.line = append(r.line, piece...)
			piece = r.line
		}
		if end < 0 {
			break
		}
		if err := r.endLine(piece); err != nil {
			return 0, err
		}
		rest = rest[end+1:]
	}
	return len(p), nil
}

func (r *Renderer) endLine(line []byte) error {
	if r.skipped > 0 {
		r.note(time.Time{}, "a record of "+cmdline.Size(int64(r.skipped))+" is left out")
		r.at += r.skipped + 1
		r.skipped = 0
	} else {
		if len(line) > 0 {
			r.record(line)
		}
		r.at += len(line) + 1
	}
	r.line = r.line[:0]
	_, err := r.w.Write(nil) // the error of an earlier write, if any
	return err
}

// Close shows a last line without a newline, and all that is pending.
func (r *Renderer) Close() error { return cmp.Or(r.end(), r.w.Flush()) }

func (r *Renderer) end() error {
	err := r.endLine(r.line)
	r.flush()
	r.showOthers()
	return err
}

// Instead ends the lines of a turn. If none was shown, as there are none or
// their format is unknown, it shows the given prompt and reply.
func (r *Renderer) Instead(at time.Time, prompt, reply string) error {
	if err := r.end(); err != nil || r.head == "" {
		return err
	}
	r.prompt(at, "", prompt, nil)
	r.block('*', time.Time{}, cmdline.Plain, cmdline.EscapeLines(reply))
	r.note(time.Time{}, "there is no transcript")
	_, err := r.w.Write(nil)
	return err
}

func (r *Renderer) record(line []byte) {
	e := r.reader.Read(r.at, line)
	if !r.seen.first(e.ID) {
		return
	}
	if e.Subagent {
		r.aside++
		return
	}
	if c := e.Compacted; c != nil {
		r.compaction(e.At, c)
	}
	if e.Interrupted {
		r.note(e.At, "interrupted")
	}
	for i := range e.Parts {
		r.part(&e, &e.Parts[i])
	}
}

func (r *Renderer) part(e *Entry, p *Part) {
	at := e.At
	switch p.Kind {
	case Asked, Queued:
		mark := ""
		if p.Kind == Queued || e.Opens != nil && e.Opens.Source == "queued" {
			mark = "typed while the agent worked"
		}
		r.prompt(at, mark, p.Text, p.Files)
	case Said:
		if e.Failed {
			r.block('!', at, cmdline.Red, cmdline.EscapeLines(p.Text))
		} else {
			r.block('*', at, cmdline.Plain, cmdline.EscapeLines(p.Text))
		}
	case Thought:
		r.fold(at, "thinking", p.Text)
	case Call:
		r.begun(at, p)
	case Answer:
		r.result(at, p)
	case Shell:
		r.output("  | ", p.Text)
	case Task:
		r.note(at, strings.TrimSuffix("a task has ended: "+cmdline.OneLine(p.Name), ": "))
		r.output("  | ", p.Text)
	case Gist:
		r.fold(at, "summary", p.Text)
	case Told, Added:
		if r.form.Full || !e.Interrupted && !strings.HasPrefix(p.Text, "<") { // reminders are in tags
			r.fold(at, "the client says", p.Text)
		}
	case Other:
		r.other(at, p)
	}
}

func (r *Renderer) prompt(at time.Time, mark, text string, files []Attached) {
	var parts []string
	if strings.TrimSpace(text) != "" {
		parts = append(parts, cmdline.EscapeLines(strings.TrimRight(text, "\n")))
	}
	for _, f := range files {
		parts = append(parts, f.String())
	}
	if len(parts) == 0 {
		return
	}
	r.begin('>', at, mark, true)
	r.lines("> ", "> ", cmdline.Bold, strings.Join(parts, "\n"), true)
}

func (r *Renderer) compaction(at time.Time, c *Compacted) {
	text := "the conversation was compacted"
	if c.Auto {
		text += " by the client"
	}
	if c.Tokens > 0 {
		text += fmt.Sprintf(", at %d tokens", c.Tokens)
	}
	r.note(at, text)
}

// fold shows the length of a text that few want to read or, in full, the text.
func (r *Renderer) fold(at time.Time, what, text string) {
	n := 0
	for range strings.FieldsSeq(text) {
		n++
	}
	if n == 0 {
		return
	}
	r.note(at, what+", "+cmdline.Plural(n, "word"))
	r.last = '~'
	if r.form.Full {
		r.lines("  ~ ", "  ~ ", cmdline.Dim, cmdline.EscapeLines(strings.Trim(text, "\n")), true)
		r.last = '-'
	}
}

// other shows a block of any other kind.
func (r *Renderer) other(at time.Time, p *Part) {
	for _, f := range p.Files {
		r.block('*', at, cmdline.Plain, f.String())
	}
	if r.form.Full && len(p.Files) == 0 {
		r.fold(at, cmp.Or(cmdline.OneLine(p.Name), "a block"), p.Text)
	}
}

// begun keeps a tool's call, which is shown with its result.
func (r *Renderer) begun(at time.Time, p *Part) {
	if !r.seen.first(p.Call) {
		return
	}
	c := call{strings.Clone(p.Call), r.called, r.call(p), at}
	if r.waiting+len(c.text) > maxCalls {
		r.flush()
	}
	r.called, r.waiting, r.calls[c.id] = r.called+1, r.waiting+len(c.text), c
	if c.id == "" { // no result can name it
		r.flush()
	}
}

// call formats a tool's call, in full with its arguments.
func (r *Renderer) call(p *Part) string {
	input := p.Input
	name := cmdline.OneLine(p.Name)
	if kind := Unquote(input.Get("subagent_type")); kind != "" {
		name += ", a sub-agent"
	}
	head := r.cut("+ "+name+"("+cmdline.OneLine(Argument(input)), 1) + ")"
	var b strings.Builder
	b.WriteString(r.paint(cmdline.Cyan, head) + "\n")
	if list := input.Get("todos"); list.IsArray() {
		list.ForEach(func(_, item gjson.Result) bool {
			box := map[string]string{"completed": "[x] ", "in_progress": "[>] "}[item.Get("status").Str]
			b.WriteString(r.cut("  : "+cmp.Or(box, "[ ] ")+cmdline.OneLine(Unquote(item.Get("content"))), 0) + "\n")
			return true
		})
	}
	if r.form.Full && input.IsArray() {
		b.WriteString("  : " + cmdline.Escape(input.Raw) + "\n")
	}
	if r.form.Full && input.IsObject() {
		input.ForEach(func(k, v gjson.Result) bool {
			value := v.Raw
			if v.Type == gjson.String {
				value = Unquote(v)
			}
			name := cmdline.OneLine(Unquote(k)) + ":"
			if strings.Contains(value, "\n") {
				b.WriteString("  : " + name + "\n")
				name = "  "
			}
			for line := range strings.Lines(cmdline.EscapeLines(strings.TrimRight(value, "\n"))) {
				b.WriteString("  : " + name + " " + strings.TrimRight(line, "\n") + "\n")
			}
			return true
		})
	}
	return b.String()
}

// foremost returns a call's most telling argument, such as its file, or "".
func foremost(input gjson.Result) string {
	for _, name := range []string{"command", "file_path", "path", "pattern", "query", "url", "description", "subject"} {
		if s := Unquote(input.Get(name)); s != "" {
			return s
		}
	}
	return ""
}

// Argument returns the most telling argument of a call, or all of them.
func Argument(input gjson.Result) string {
	if s := foremost(input); s != "" {
		return s
	}
	var all []string
	size := 0
	input.ForEach(func(k, v gjson.Result) bool {
		if v.IsArray() || v.IsObject() {
			return true
		}
		value := v.String()[:min(len(v.String()), maxPlain)]
		all, size = append(all, k.String()+": "+value), size+len(value)
		return size < maxPlain
	})
	return strings.ToValidUTF8(strings.Join(all, ", "), "")
}

func (r *Renderer) result(at time.Time, p *Part) {
	c, found := r.calls[p.Call]
	if !found { // its call is not in these lines, or was shown already
		c = call{text: r.paint(cmdline.Cyan, "+ (result)") + "\n", at: at}
	} else {
		delete(r.calls, p.Call)
		r.waiting -= len(c.text)
	}
	r.show(c)
	prefix := "  | "
	if p.Failed {
		prefix = "  ! "
	}
	r.output(prefix, p.Text)
	for _, f := range p.Files {
		r.lines(prefix, prefix, cmdline.Dim, f.String(), false)
	}
}

// output shows what a program printed or, unless in full, its first lines.
func (r *Renderer) output(prefix, text string) {
	style := cmdline.Dim
	if prefix == "  ! " {
		style = cmdline.Red
	}
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	left := strings.Count(text, "\n") + 1
	most := left
	if !r.form.Full && left > r.form.Results+1 { // a line about one line would save nothing
		most = r.form.Results
	}
	for line := range strings.Lines(text) {
		if most == 0 {
			r.put(r.paint(cmdline.Dim, fmt.Sprintf("%s... %d more lines", prefix, left)) + "\n")
			return
		}
		most, left = most-1, left-1
		if !r.form.Full {
			line = stripANSI(strings.TrimRight(line, "\r\n"))
			if limit := 8 * max(maxPlain, r.form.Columns); len(line) > limit {
				line = line[:limit] + "…"
			}
		}
		line = strings.ReplaceAll(cmdline.EscapeLines(line), "\t", "    ")
		r.put(r.paint(style, r.cut(strings.TrimRight(prefix+line, " \n"), 0)) + "\n")
	}
}

// String describes what can't be shown: an image, a document.
func (a Attached) String() string {
	about := cmdline.OneLine(a.Kind)
	if a.Media != "" {
		about += ", " + cmdline.OneLine(a.Media[:min(len(a.Media), maxPlain)])
	}
	if a.Size > 0 {
		about += ", " + cmdline.Size(a.Size)
	}
	return "[" + about + "]"
}

func (r *Renderer) block(by byte, at time.Time, style cmdline.Style, text string) {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	r.begin(by, at, "", false)
	mark := string(by)
	if style == cmdline.Plain {
		mark = r.paint(cmdline.Green, mark)
	}
	r.lines(mark+" ", "  ", style, text, true)
}

func (r *Renderer) note(at time.Time, text string) {
	r.begin('-', at, "", false)
	style := cmdline.Dim
	if text == "interrupted" {
		style = cmdline.Red
	}
	r.put(r.paint(style, r.cut("-- "+text, 3)+" --") + "\n")
}

// begin begins a block: pending calls, a blank line unless it continues the
// last block, then a line with the turn's name, the time if due, and mark.
func (r *Renderer) begin(by byte, at time.Time, mark string, exactly bool) {
	if by != '+' {
		r.flush()
	}
	if r.aside > 0 {
		r.gap('-')
		r.put(r.paint(cmdline.Dim, "-- a sub-agent, "+cmdline.Plural(r.aside, "record")+" --") + "\n")
		r.aside = 0
	}
	style := cmdline.Dim
	if r.head != "" {
		style = cmdline.Yellow
	}
	head := strings.Join(slices.DeleteFunc([]string{r.head, r.when(at, exactly), mark}, func(s string) bool { return s == "" }), ", ")
	r.gap(by)
	if r.head = ""; head != "" {
		r.put(r.paint(style, "-- "+head+" --") + "\n")
	}
}

func (r *Renderer) gap(by byte) {
	goesOn := by == r.last && by != '>' && by != '*' || r.last == '~' && by != '>'
	if r.last != 0 && (!goesOn || r.head != "") {
		r.put("\n")
	}
	r.last = by
}

// when returns the time to show, or "".
func (r *Renderer) when(at time.Time, exactly bool) string {
	gone := at.Sub(r.told)
	if r.form.When == nil || at.IsZero() || !exactly && !r.told.IsZero() && gone < pause {
		return ""
	}
	before := r.told.Local()
	r.told = at
	if at = at.Local(); at.Year() == before.Year() && at.YearDay() == before.YearDay() {
		return at.Format("15:04")
	}
	return cmdline.OneLine(r.form.When(at))
}

// flush shows the calls that have no result yet.
func (r *Renderer) flush() {
	if len(r.calls) == 0 {
		return
	}
	calls := slices.SortedFunc(maps.Values(r.calls), func(a, b call) int { return cmp.Compare(a.number, b.number) })
	r.calls, r.waiting = make(map[string]call), 0 // one that was cleared would keep its size
	for _, c := range calls {
		r.show(c)
	}
}

func (r *Renderer) show(c call) {
	r.begin('+', c.at, "", false)
	r.put(c.text)
	r.showStartedBy(c.id)
}

// lines writes a text with prefixes for the first and the next lines.
func (r *Renderer) lines(first, next string, style cmdline.Style, text string, prose bool) {
	columns := 0
	if prose && r.form.Columns > 0 {
		columns = max(r.form.Columns-len(next), 20)
	}
	for line := range cmdline.Wrap(text, columns) {
		r.put(r.paint(style, strings.TrimRight(first+line, " ")) + "\n")
		first = next
	}
}

// cut cuts a line to the terminal's width less room, but not in full form.
func (r *Renderer) cut(line string, room int) string {
	if r.form.Full {
		return line
	}
	return cmdline.Truncate(line, max(cmp.Or(r.form.Columns, maxPlain)-room, 20))
}

func (r *Renderer) paint(style cmdline.Style, text string) string {
	if !r.form.Colour {
		return text
	}
	return style.Paint(text)
}

func (r *Renderer) put(text string) { _, _ = r.w.WriteString(text) } // endLine returns the error
