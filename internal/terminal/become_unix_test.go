//go:build unix

package terminal

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// becomes is set where this test's own program is to become the one that it names.
const becomes = "GIT_AGENT_TEST_BECOMES"

// TestBecome: the other program is the same process, with the same arguments, and reads what was read before.
func TestBecome(t *testing.T) {
	if program := os.Getenv(becomes); program != "" {
		read, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
		if os.Getenv("READ") == "" {
			read = nil
		}
		t.Fatal(err, Become(program, read))
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho $$ \"$2\"\nwc -c\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const size = 1<<20 + 5
	for read, rest := range map[string]string{"yes": "1048576", "": "5"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestBecome$")
		cmd.Env = append(os.Environ(), becomes+"="+program, "READ="+read)
		cmd.Stdin = strings.NewReader(strings.Repeat("x", size))
		var out strings.Builder
		cmd.Stdout = &out
		err := cmd.Run()
		fields := strings.Fields(out.String())
		if status := cmd.ProcessState.ExitCode(); status != 7 || len(fields) != 3 {
			t.Errorf("it printed %q, %v", &out, err)
		} else if fields[0] != strconv.Itoa(cmd.Process.Pid) || fields[1] != "^TestBecome$" || fields[2] != rest {
			t.Errorf("it printed %q, want %s bytes", &out, rest)
		}
	}
	if err := Become(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("nothing is said of a program that is not there")
	}
}
