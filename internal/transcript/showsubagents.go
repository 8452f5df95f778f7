package transcript

import (
	"bytes"
	"io"

	"gitagent/internal/cmdline"
)

// A ShownSubagent is a sub-agent as shown below the call that started it or, if
// the turn's lines lack that, at their end.
type ShownSubagent struct {
	Call string                // its id
	Text string                // one line, with untrusted text escaped
	Show func(io.Writer) error // writes the sub-agent's own conversation, as the client did; for [Form.Full], else nil
}

// ShowSubagents sets the sub-agents of the turn just begun, before its lines.
func (r *Renderer) ShowSubagents(list []ShownSubagent) { r.beside = list }

func (r *Renderer) showStartedBy(call string) {
	var others []ShownSubagent
	for _, b := range r.beside {
		if call == "" || b.Call != call {
			others = append(others, b)
			continue
		}
		r.put(r.paint(cmdline.Dim, r.cut("  -- "+b.Text, 3)+" --") + "\n")
		r.showOwn(b)
	}
	r.beside = others
}

// showOthers shows those that began before the turn.
func (r *Renderer) showOthers() {
	list := r.beside
	r.beside = nil
	for _, b := range list {
		r.gap('-')
		r.put(r.paint(cmdline.Dim, r.cut("-- "+b.Text, 3)+" --") + "\n")
		r.showOwn(b)
	}
}

func (r *Renderer) showOwn(b ShownSubagent) {
	if b.Show == nil {
		return
	}
	form := r.form
	form.Columns = max(0, form.Columns-len(besideMark))
	own := NewRenderer(&marked{r: r}, Own(r.reader), form)
	err := b.Show(own)
	if err == nil {
		err = own.Close()
	}
	if err != nil {
		r.put("  -- " + cmdline.OneLine(err.Error()) + " --\n")
	}
}

const besideMark = "  @ "

// marked puts besideMark before each line.
type marked struct {
	r     *Renderer
	begun bool // the line has its mark
}

func (m *marked) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if !m.begun {
			m.r.put(besideMark)
		}
		m.begun = line[len(line)-1] != '\n'
		m.r.put(string(line))
	}
	return len(p), nil
}
