package main

import (
	"slices"
	"strings"
	"testing"
)

func TestReadSpot(t *testing.T) {
	t.Parallel()
	files := []string{"f", "a:b", "12", "x:12", "x", "sub/g", "-f", "t:/x/"}
	isFile := func(name string) bool { return slices.Contains(files, name) }
	for _, tt := range []struct {
		args string // separated by |
		want spot
		err  string // that the message has
	}{
		{args: "f:12", want: spot{"f", 12, 12, ""}},
		{args: "f:12-20", want: spot{"f", 12, 20, ""}},
		{args: "f:12,20", want: spot{"f", 12, 20, ""}},
		{args: "f:12,+3", want: spot{"f", 12, 14, ""}},
		{args: "f|12", want: spot{"f", 12, 12, ""}},
		{args: "f|12-20", want: spot{"f", 12, 20, ""}},
		{args: "f|12,12", want: spot{"f", 12, 12, ""}},
		{args: "-f|1", want: spot{"-f", 1, 1, ""}},
		{args: "f:/some text/", want: spot{file: "f", text: "some text"}},
		{args: "f:/a:/b/", want: spot{file: "f", text: "a:/b"}},
		{args: "f:/12/", want: spot{file: "f", text: "12"}},
		{args: "f|some text", want: spot{file: "f", text: "some text"}},
		{args: "f|/usr/", want: spot{file: "f", text: "/usr/"}},
		{args: "f|12-+3", want: spot{file: "f", text: "12-+3"}},
		{args: "f|-3", want: spot{file: "f", text: "-3"}},
		{args: "f|3-", want: spot{file: "f", text: "3-"}},
		{args: "f|12:", want: spot{file: "f", text: "12:"}},
		{args: "sub/g:3", want: spot{"sub/g", 3, 3, ""}},
		// What compilers and grep print.
		{args: "f:12:5", want: spot{"f", 12, 12, ""}},
		{args: "f:12:", want: spot{"f", 12, 12, ""}},
		{args: "f:12:x := y:z", want: spot{"f", 12, 12, ""}},
		// Names with colons: a file that is there wins, and the longest name.
		{args: "a:b:3", want: spot{"a:b", 3, 3, ""}},
		{args: "a:b:/x/", want: spot{file: "a:b", text: "x"}},
		{args: "x:12:3", want: spot{"x:12", 3, 3, ""}},
		{args: "x:13:3", want: spot{"x", 13, 13, ""}},
		{args: "t:/x/:4", want: spot{"t:/x/", 4, 4, ""}},
		{args: "nowhere:12", want: spot{"nowhere", 12, 12, ""}},
		{args: "nowhere:12:3", want: spot{"nowhere", 12, 12, ""}},
		{args: "12:1", want: spot{"12", 1, 1, ""}},
		{args: "", err: "an empty"},
		{args: "f", err: `needs a line of "f"`},
		{args: "x:12", err: `needs a line of "x:12"`},
		{args: "nowhere", err: "names no line"},
		{args: ":12", err: "names no line"},
		{args: "f:", err: "names no line"},
		{args: "f://", err: "names no line"},
		{args: "f:0", err: "counted from 1"},
		{args: "f:20-12", err: "ends before it begins"},
		{args: "f:12,+0", err: "ends before it begins"},
		{args: "f|", err: "an empty"},
		{args: "f|some|text", err: "not 3 arguments"},
		{args: "3|f", err: `"3" is no file`},
		{args: "gone|3", want: spot{"gone", 3, 3, ""}},
		{args: "f:99999999999", err: "names no line"},
	} {
		args := strings.Split(tt.args, "|")
		if tt.args == "" {
			args = []string{"", "1"}
		}
		got, err := readSpot(args, isFile)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: error %v, want %q", args, err, tt.err)
		}
		if err == nil && got != tt.want {
			t.Errorf("%q: %+v, want %+v", args, got, tt.want)
		}
	}
	if _, err := readSpot(nil, isFile); err == nil {
		t.Error("nothing is no error")
	}
}

func TestBlamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, dashed string // separated by blanks
		rev, file    string
		err          string
	}{
		{args: "f", file: "f"},
		{args: "HEAD~3 f", rev: "HEAD~3", file: "f"},
		{args: "HEAD~3", dashed: "f", rev: "HEAD~3", file: "f"},
		{dashed: "-f", file: "-f"},
		{args: "a1b2/12^ f", rev: "a1b2/12^", file: "f"},
		{err: "needs a file"},
		{args: "a b c", err: "not 3 names"},
		{dashed: "f HEAD", err: "not 2 names"},
		{args: "v1..v2 f", err: "is a range"},
	} {
		rev, file, err := blamed(strings.Fields(tt.args), strings.Fields(tt.dashed))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q -- %q: error %v, want %q", tt.args, tt.dashed, err, tt.err)
		}
		if err == nil && (rev != tt.rev || file != tt.file) {
			t.Errorf("%q -- %q: %q, %q, want %q, %q", tt.args, tt.dashed, rev, file, tt.rev, tt.file)
		}
	}
}
