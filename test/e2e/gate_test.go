//go:build e2e

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// A gate holds the agent inside a tool call until the test lets it go.
// It is a named pipe: a command that reads it says by that that it runs,
// and ends when the test, however it ends, closes its side.
type gate struct {
	r    *rig
	path string
	file *os.File
}

func (r *rig) gate(name string) *gate {
	r.t.Helper()
	g := &gate{r: r, path: filepath.Join(r.home, name+".gate")}
	if err := syscall.Mkfifo(g.path, 0o600); err != nil {
		r.t.Fatalf("make gate %s: %v", name, err)
	}
	r.t.Cleanup(g.open)
	return g
}

// wait is a shell command that stays until the gate opens.
func (g *gate) wait() string { return "cat '" + g.path + "'" }

// read is wait for a program of Node's.
func (g *gate) read() string { return "require('fs').readFileSync('" + g.path + "')" }

// reached waits until the agent stands at the gate.
func (g *gate) reached() {
	g.r.t.Helper()
	g.r.await("a tool call at "+filepath.Base(g.path), func() bool {
		// ENXIO: nobody has the pipe open for reading yet.
		f, err := os.OpenFile(g.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil && !errors.Is(err, syscall.ENXIO) {
			g.r.t.Fatalf("open gate: %v", err)
		}
		g.file = f
		return err == nil
	})
}

// open lets go whoever stands at the gate.
func (g *gate) open() {
	if g.file != nil {
		g.file.Close()
		g.file = nil
	}
}
