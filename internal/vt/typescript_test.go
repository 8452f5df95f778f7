package vt

import (
	"strings"
	"testing"
)

// The first line of a file of script's tells the size, and ends without a carriage return.
func TestTypescript(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("x", 100)
	const told = `Script started on 2026-11-30 06:19:47+00:00 [COMMAND="x COLUMNS="1" LINES="1"]" TERM="xterm" COLUMNS="100" LINES="3"]`
	const untold = `Script started on 2026-11-30 06:19:47+00:00 [COMMAND="x" <not executed on terminal>]`
	for _, tt := range []struct{ name, in, want string }{
		{"told", told + "\n" + row + "\x1b[3;1H\x1b[9Bend", told + "\n" + row + "\n\nend\n"},
		{"not told", untold + "\none\r\n", untold + "\none\n"},
		{"only that", told, told + "\n"},
		{"elsewhere", "$ cat typescript\r\n" + told + "\r\n\x1b[20;1Hend", "$ cat typescript\n" + told + "\n" + strings.Repeat("\n", 16) + "end\n"},
	} {
		if got := render(t, tt.in); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if got := renderBytes(t, tt.in); got != tt.want {
			t.Errorf("%s, byte by byte: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
