package session

import (
	"os/exec"
	"testing"

	"gitagent/test/gittest"
)

// TestZombie: a client that was killed and that nobody has looked after is gone.
func TestZombie(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	gittest.Must(t, err)
	out, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	gittest.Must(t, cmd.Start())
	c := ReadClient(cmd.Process.Pid)
	if !c.Live() || c.Start == "" {
		t.Errorf("%+v does not live", c)
	}
	in.Close()
	if n, err := out.Read(make([]byte, 1)); n > 0 || err == nil { // until it has closed its files
		t.Fatalf("cat says something: %v", err)
	}
	for c.Live() && t.Context().Err() == nil {
		// Between closing its files and being gone lie microseconds.
	}
	gittest.Must(t, cmd.Wait())
	if c.Live() {
		t.Error("it lives after its end")
	}
}
