package transcript

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	resultLines = 20  // of a tool's result, as in the client
	maxInput    = 200 // bytes of a tool's input
)

// Text renders the conversation of the given lines as a person saw it: prompts, answers, tool calls
// with the beginning of their results. It returns at most the last most lines. Texts are a stranger's.
func Text(segment []byte, most int) []string {
	v := &viewer{opener: newOpener(), most: most}
	seen := make(once)
	for at, line := range lines(segment) {
		if r, ok := decode(line); ok && !r.sidechain && seen.first(r.uuid) {
			v.record(at, r, line)
		}
	}
	return v.shown[max(0, len(v.shown)-most):]
}

// A viewer shows records.
type viewer struct {
	opener *opener
	most   int
	shown  []string
}

func (v *viewer) record(at int, r record, line []byte) {
	t, opens := v.opener.open(at, r)
	switch {
	case opens:
		v.show("> ", "  ", t.Prompt)
	case r.kind == "system":
		v.show("", "", "-- the conversation was compacted --")
	case r.queued != "":
		v.show("> ", "  ", r.queued)
	case r.kind == "assistant" && r.message.model == synthetic && !r.apiError:
	case r.kind == "assistant", r.message.result:
		gjson.GetBytes(line, "message.content").ForEach(func(_, block gjson.Result) bool {
			v.block(block)
			return true
		})
	case strings.HasPrefix(r.message.text(), interruption):
		v.show("", "", "-- interrupted --")
	}
}

func (v *viewer) block(block gjson.Result) {
	switch block.Get("type").Str {
	case "text":
		v.show("* ", "  ", text(block.Get("text")))
	case "tool_use":
		v.show("* ", "  ", text(block.Get("name"))+"("+argument(block.Get("input"))+")")
	case "tool_result":
		var m message
		m.decodeContent(block.Get("content"))
		result := strings.Split(strings.TrimRight(m.text(), "\n"), "\n")
		if rest := len(result) - resultLines; rest > 0 {
			result = append(result[:resultLines], fmt.Sprintf("... and %d lines more", rest))
		}
		v.show("  | ", "  | ", strings.Join(result, "\n"))
	}
}

// argument returns what says most about a tool call: its command, its file, or all of its input.
func argument(input gjson.Result) string {
	for _, name := range []string{"command", "file_path", "path", "pattern", "query", "url", "description"} {
		if s := text(input.Get(name)); s != "" {
			return s
		}
	}
	switch {
	case len(input.Map()) == 0:
		return ""
	case len(input.Raw) <= maxInput:
		return input.Raw
	}
	return strings.ToValidUTF8(input.Raw[:maxInput], "") + "..."
}

// show adds a text, with first before its first line and next before the others.
func (v *viewer) show(first, next, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		v.shown = append(v.shown, first+strings.TrimRight(line, "\r\n"))
		first = next
	}
	if len(v.shown) > 2*v.most { // bounds memory by what is shown
		v.shown = append([]string(nil), v.shown[len(v.shown)-v.most:]...)
	}
}
