package vt

import "bufio"

type printer struct {
	w      *bufio.Writer
	buf    []byte
	goesOn bool // the last line is incomplete
	err    error
}

// row writes a row of the main screen, once.
func (p *printer) row(r *row) {
	if r.clean {
		return
	}
	r.clean = true
	p.buf = r.text(p.buf[:0], r.wrapped)
	if !r.wrapped {
		p.buf = append(p.buf, '\n')
	}
	p.goesOn = r.wrapped
	p.write(p.buf)
}

// line writes a line of the alternate screen.
func (p *printer) line(text string) {
	p.buf = p.buf[:0]
	if p.goesOn {
		p.buf = append(p.buf, '\n')
	}
	p.goesOn = false
	p.buf = append(append(p.buf, text...), '\n')
	p.write(p.buf)
}

func (p *printer) write(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

// flush completes the last line and writes what is buffered.
func (p *printer) flush() error {
	if p.goesOn {
		p.write([]byte{'\n'})
	}
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}
