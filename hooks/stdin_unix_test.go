//go:build !windows

package hooks

import (
	"os"
	"reflect"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// Clients connect standard input to a socket, perhaps in non-blocking mode:
// a read finds nothing there at first and must wait, not fail.
func TestParseSocket(t *testing.T) {
	t.Parallel()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	gittest.Must(t, err)
	for _, fd := range ends {
		gittest.Must(t, syscall.SetNonblock(fd, true))
	}
	client, stdin := os.NewFile(uintptr(ends[0]), "client"), os.NewFile(uintptr(ends[1]), "/dev/stdin")
	defer stdin.Close()
	payload := captured(t)["claude-code/PostToolBatch"]
	go func() {
		defer client.Close()
		for i := range payload { // so that the reader is ahead of the writer
			client.Write(payload[i : i+1])
		}
	}()
	e, err := Parse(stdin)
	gittest.Must(t, err)
	if want, _ := reference(payload); !reflect.DeepEqual(*e, want) {
		t.Errorf("got %+v, want %+v", *e, want)
	}
}
