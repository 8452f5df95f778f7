package git

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"gitagent/test/gittest"
)

func TestNamesObject(t *testing.T) {
	exit := func(status int) error {
		return exec.Command("git", "-c", fmt.Sprintf("alias.end=!exit %d", status), "end").Run()
	}
	name := gittest.Hash("491299b08db6c0133d1782ebd6b68c1ad9d4a901")
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{&Error{Err: exit(128), Stderr: "fatal: bad tree object " + name}, true},
		{&Error{Err: exit(128), Stderr: "fatal: offset beyond end of packfile (truncated pack?)"}, true},
		{fmt.Errorf("list: %w", &Error{Err: exit(128), Stderr: "fatal: pack-" + name + ".idx: too small"}), true},
		{&Error{Err: exit(255), Stderr: "error: could not parse commit " + name}, true},
		{&Error{Err: exit(1), Stderr: "fatal: bad tree object " + name}, false},
		{&Error{Err: exit(128), Stderr: "fatal: bad revision 'deadbeef'"}, false},
		{errors.New(name), false},
		{nil, false},
	} {
		if got := NamesObject(tt.err); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}
