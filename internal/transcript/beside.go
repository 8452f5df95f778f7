package transcript

import (
	"bytes"
	"io"

	"gitagent/internal/cmdline"
)

// A Beside is what is shown of a sub-agent, below the call by which it was started or, where that is not among
// the lines of the turn, at their end.
type Beside struct {
	Call string                // its id
	Text string                // a line; a stranger's text in it is escaped
	Show func(io.Writer) error // writes its own conversation, as the client did; for [Form.Full], else nil
}

// Beside has sub-agents shown with the turn that was begun last, whose own lines are yet to come.
func (r *Renderer) Beside(list []Beside) { r.beside = list }

// showBeside shows those that a call has started.
func (r *Renderer) showBeside(call string) {
	var others []Beside
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

// showOthers shows those that no call of the turn has started: they began before.
func (r *Renderer) showOthers() {
	list := r.beside
	r.beside = nil
	for _, b := range list {
		r.gap('-')
		r.put(r.paint(cmdline.Dim, r.cut("-- "+b.Text, 3)+" --") + "\n")
		r.showOwn(b)
	}
}

// showOwn shows what a sub-agent itself has said and done.
func (r *Renderer) showOwn(b Beside) {
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

// besideMark is before every line of a sub-agent's.
const besideMark = "  @ "

// marked puts it there.
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
