package git

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

func TestNamesObject(t *testing.T) {
	exit := func(status int) error {
		return exec.Command("git", "-c", fmt.Sprintf("alias.end=!exit %d", status), "end").Run()
	}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{&Error{Err: exit(128), Stderr: "fatal: bad tree object 491299b08db6c0133d1782ebd6b68c1ad9d4a901"}, true},
		{&Error{Err: exit(128), Stderr: "fatal: offset beyond end of packfile (truncated pack?)"}, true},
		{fmt.Errorf("list: %w", &Error{Err: exit(128), Stderr: "fatal: pack-491299b08db6c0133d1782ebd6b68c1ad9d4a901.idx: too small"}), true},
		{&Error{Err: exit(255), Stderr: "error: could not parse commit 491299b08db6c0133d1782ebd6b68c1ad9d4a901"}, true},
		{&Error{Err: exit(1), Stderr: "fatal: bad tree object 491299b08db6c0133d1782ebd6b68c1ad9d4a901"}, false},
		{&Error{Err: exit(128), Stderr: "fatal: bad revision 'deadbeef'"}, false},
		{errors.New("491299b08db6c0133d1782ebd6b68c1ad9d4a901"), false},
		{nil, false},
	} {
		if got := NamesObject(tt.err); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}
