package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keep" {
		main()
	}
	os.Exit(m.Run())
}

// TestKeep: the exit status is the command's, and what it left in the background, in whatever session, is gone.
func TestKeep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit, then string
		ends        bool // this program
		want        int
	}{
		{"1h", "exit 3", false, 3},
		{"1h", "exit 0", false, 0},
		{"1h", "kill -9 $$", false, 1},
		{"1h", "wait", true, 1},
		{"1ms", "wait", false, hung},
	} {
		cmd := exec.Command(os.Args[0], "keep", tt.limit, "/bin/sh", "-c", "setsid sleep 1000 >/dev/null & echo $!; "+tt.then)
		var out bytes.Buffer
		cmd.Stdout = &out
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if tt.ends {
			_ = stdin.Close()
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != tt.want {
			t.Errorf("%s, %s: status %d, want %d", tt.limit, tt.then, got, tt.want)
		}
		if text := bytes.TrimSpace(out.Bytes()); len(text) > 0 {
			pid, err := strconv.Atoi(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("%s, %s: what it started is still there (%v)", tt.limit, tt.then, err)
			}
		} else if tt.limit == "1h" && !tt.ends {
			t.Errorf("%s: it started nothing", tt.then)
		}
	}
}
