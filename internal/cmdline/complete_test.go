package cmdline

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	const (
		commands = "list\tlist the turns\nlog\nhook\npwd\nfail\n"
		flags    = "--json\tone object per line\n--all\tevery mission\n--mission\tof <id>\n--question\task <text>\n"
	)
	about := "\n12\tsay\\x1b " + strings.Repeat("äx", 45) + "ä…\n"
	for _, tt := range []struct {
		args string // separated by spaces; '_' stands for an empty word
		want string
	}{
		{"", commands},
		{"_", commands},
		{"-C / _", commands},
		{"lo", "log\n"},
		{"help lo", "log\n"},
		{"list _", `typed="" mission="" args=[]` + about},
		{"list 1", `typed="1" mission="" args=[]` + about},
		{"list 2", "typed=\"2\" mission=\"\" args=[]\n"},
		{"list --mission m 12 _", `typed="" mission="m" args=["12"]` + about},
		{"list 12 --mission m _", `typed="" mission="m" args=["12"]` + about},
		{"list --json _", `typed="" mission="" args=[]` + about},
		{"list --mission _", "ab\ncd\n"},
		{"list 12 --mission c", "cd\n"},
		{"list --mission -", ""},
		{"list -n _", ""},
		{"list --", flags},
		{"list 12 --", flags},
		{"list --mission m --", flags},
		{"list --js", "--json\tone object per line\n"},
		{"list -", flags + "-n\tat most <count>\n"},
		{"--v", "--version\tprint the version\n"},
		{"-C", "-C\trun as if started in <dir>\n"},
		{"log _", "start\tbegin\nshow\trender\n"},
		{"log start _", ""},
		{"-C _", "\tfiles\n"},
		{"list -- claude _", "\tfiles\n"},
		{"list -- --mi", "\tfiles\n"},
		// An unknown command line gets no answer, and nothing runs.
		{"list --nope _", ""},
		{"list --secret --hush _", ""},
		{"nope _", ""},
		{"-C /nonexistent list _", ""},
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
