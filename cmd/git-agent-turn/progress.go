package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"gitagent/internal/cmdline"
)

// A progress tells on a terminal what is being done, while there is nothing else to see.
type progress struct {
	once sync.Once
	end  chan struct{}
	told sync.WaitGroup
}

const (
	patience = 300 * time.Millisecond // before anything is told
	interval = 100 * time.Millisecond
)

// startProgress begins to tell what is being done, if w is a terminal.
func startProgress(w io.Writer, doing func() string) *progress {
	p := &progress{end: make(chan struct{})}
	if f, ok := w.(*os.File); !ok || !cmdline.IsTerminal(f) {
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

// stop takes away what was told, before anything else is written.
func (p *progress) stop() {
	p.once.Do(func() { close(p.end) })
	p.told.Wait()
}
