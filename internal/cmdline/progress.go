package cmdline

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A Progress shows on a terminal what is being done, before other output.
type Progress struct {
	once sync.Once
	end  chan struct{}
	told sync.WaitGroup
}

const (
	patience = 300 * time.Millisecond // before it is shown
	interval = 100 * time.Millisecond
)

// StartProgress shows what doing returns, which is safe, if w is a terminal.
func StartProgress(w io.Writer, doing func() string) *Progress {
	p := &Progress{end: make(chan struct{})}
	if f, ok := w.(*os.File); !ok || !IsTerminal(f) {
		return p
	}
	p.told.Go(func() {
		wait, shown := time.After(patience), false
		for {
			select {
			case <-p.end:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-wait:
				fmt.Fprintf(w, "\r%s\x1b[K", doing())
				wait, shown = time.After(interval), true
			}
		}
	})
	return p
}

// Stop erases the progress. It must come before other output.
func (p *Progress) Stop() {
	p.once.Do(func() { close(p.end) })
	p.told.Wait()
}
