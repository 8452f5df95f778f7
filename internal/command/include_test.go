package command

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/copyignored"
)

func TestIncluded(t *testing.T) {
	left := func(n int) (list []copyignored.Skipped) {
		for i := range n {
			list = append(list, copyignored.Skipped{Path: fmt.Sprintf("deps/\x1b[2J%d", i), Why: "it is\nthere already"})
		}
		return list
	}
	named := func(n int) (lines string) {
		for i := range n {
			lines += fmt.Sprintf("\n  not copied: deps/\\x1b[2J%d (it is there already)", i)
		}
		return lines
	}
	for _, tt := range []struct {
		done copyignored.Copied
		want string
	}{
		{copyignored.Copied{}, ""},
		{copyignored.Copied{Amount: copyignored.Amount{Files: 1, Bytes: 17}}, "copied 1 ignored file (17 B)"},
		{copyignored.Copied{Amount: copyignored.Amount{Files: 1204, Bytes: 31 << 20}}, "copied 1204 ignored files (31 MiB)"},
		{copyignored.Copied{Skipped: left(1)}, strings.TrimPrefix(named(1), "\n")},
		{copyignored.Copied{Amount: copyignored.Amount{Files: 2}, Skipped: left(5)}, "copied 2 ignored files (0 B)" + named(5)},
		{copyignored.Copied{Amount: copyignored.Amount{Files: 2}, Skipped: left(17)}, "copied 2 ignored files (0 B)" + named(5) + "\n  and 12 more"},
	} {
		if got := strings.Join(included(&tt.done), "\n"); got != tt.want {
			t.Errorf("included(%+v) =\n%s\nwant\n%s", tt.done, got, tt.want)
		}
	}
}

func TestTops(t *testing.T) {
	for _, tt := range []struct{ paths, want string }{
		{".env", ".env"},
		{"deps/a deps/b/c .env", "deps/, .env"},
		{"a/x b/x c/x d/x e/x", "a/, b/, c/, d/, e/"},
		{"a/x b/x c/x d/x e/x f g", "a/, b/, c/, d/, e/, and 2 more"},
		{"\x1b[2J/x", `\x1b[2J/`},
	} {
		if got := tops(strings.Fields(tt.paths)); got != tt.want {
			t.Errorf("tops(%q) = %q, want %q", tt.paths, got, tt.want)
		}
	}
}
