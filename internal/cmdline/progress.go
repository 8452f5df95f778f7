package cmdline

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A Progress tells on a terminal what is being done, while there is nothing else to see.
type Progress struct {
	once sync.Once
	end  chan struct{}
	told sync.WaitGroup
}

const (
	patience = 300 * time.Millisecond // before anything is told
	interval = 100 * time.Millisecond
)

// StartProgress begins to tell what is being done, if w is a terminal. What doing returns must already be
// safe.
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

// Stop takes away what was told, before anything else is written.
func (p *Progress) Stop() {
	p.once.Do(func() { close(p.end) })
	p.told.Wait()
}
