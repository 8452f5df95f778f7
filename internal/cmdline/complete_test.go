package cmdline

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	const (
		commands = "list\tlist the turns\nlog\t\nhook\t\npwd\t\nfail\t\n"
		flags    = "--json\tone object per line\n--all\tevery mission\n--mission\tof <id>\n--question\task <text>\n"
	)
	for _, tt := range []struct {
		args string // separated by spaces; '_' stands for an empty word
		want string
	}{
		{"", commands},
		{"_", commands},
		{"-C / _", commands},
		{"list", "pending=\"\" mission=\"\" args=[]\n"},
		{"list _", "pending=\"\" mission=\"\" args=[]\n"},
		{"list --mission m 12 _", "pending=\"\" mission=\"m\" args=[\"12\"]\n"},
		{"list 12 --mission m", "pending=\"\" mission=\"m\" args=[\"12\"]\n"},
		{"list --mission _", "pending=\"mission\" mission=\"\" args=[]\n"},
		{"list 12 --mission _", "pending=\"mission\" mission=\"\" args=[\"12\"]\n"},
		{"list --json _", "pending=\"\" mission=\"\" args=[]\n"},
		{"list --", flags},
		{"list 12 --", flags},
		{"list --mission m --", flags},
		{"list --js", "--json\tone object per line\n"},
		{"list -", flags + "-n\tat most <count>\n"},
		{"--v", "--version\tprint the version\n"},
		{"-C", "-C\trun as if started in <dir>\n"},
		{"log _", "start\tbegin\nshow\trender\n"},
		{"log start _", ""},
		{"-C _", ""},
		// An unknown command line gets no answer, and nothing runs.
		{"list --nope _", ""},
		{"nope _", ""},
		{"-C /nonexistent list _", ""},
		{"list -- claude _", ""},
		{"list -- --mi", ""},
		{"fail panic _", ""},
		{"hook _", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields(tt.args)
			for i, arg := range args {
				if arg == "_" {
					args[i] = ""
				}
			}
			stdout, stderr, status := runTest(t, testApp(), append(args, completeFlag)...)
			if stdout != tt.want || stderr != "" || status != 0 {
				t.Errorf("got  %q\nwant %q\nstderr %q, status %d", stdout, tt.want, stderr, status)
			}
		})
	}
}
