package gittest

import (
	"os"
	"os/signal"
	"syscall"
)

// heed makes sure that the signals of a terminal end what the tests start, also where whoever started the tests has them
// ignored, as nohup and a shell's & do: what a process ignores, its children ignore, but not what it catches.
func heed() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // which nobody reads
		}
	}
}
