package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const printed = `{"Action":"start","Package":"gitagent/turns"}
{"Action":"run","Package":"gitagent/turns","Test":"TestFast"}
{"Action":"output","Package":"gitagent/turns","Test":"TestFast","Output":"    x_test.go:1: not told\n"}
{"Action":"output","Package":"gitagent/turns","Test":"TestFast","Output":"        > [!check] stop 'the rest is left to make check'\n"}
{"Action":"pass","Package":"gitagent/turns","Test":"TestFast","Elapsed":0.5}
{"Action":"run","Package":"gitagent/turns","Test":"TestLong"}
{"Action":"output","Package":"gitagent/turns","Test":"TestLong","Output":"=== RUN   TestLong\n"}
{"Action":"output","Package":"gitagent/turns","Test":"TestLong","Output":"    x_test.go:2: left to make check\n"}
{"Action":"output","Package":"gitagent/turns","Test":"TestLong","Output":"--- SKIP: TestLong (0.00s)\n"}
{"Action":"skip","Package":"gitagent/turns","Test":"TestLong","Elapsed":0}
{"Action":"output","Package":"gitagent/turns","Test":"TestTool","Output":"    x_test.go:3: tmux is missing\n"}
{"Action":"skip","Package":"gitagent/turns","Test":"TestTool","Elapsed":0}
{"Action":"output","Package":"gitagent/turns","Test":"TestAll/part","Output":"    x_test.go:4: 1, want 2\n"}
{"Action":"fail","Package":"gitagent/turns","Test":"TestAll/part","Elapsed":2}
{"Action":"fail","Package":"gitagent/turns","Test":"TestAll","Elapsed":3}
{"Action":"output","Package":"gitagent/turns","Output":"FAIL\tgitagent/turns\t3.000s\n"}
{"Action":"fail","Package":"gitagent/turns","Elapsed":3}
{"Action":"output","Package":"gitagent/test/replay","Output":"?   \tgitagent/test/replay\t[no test files]\n"}
{"ImportPath":"gitagent/hooks","Action":"build-output","Output":"hooks/x.go:1: undefined: x\n"}
go: something else
`

func TestRead(t *testing.T) {
	var out strings.Builder
	got, err := read(strings.NewReader(printed), &out)
	if err != nil {
		t.Fatal(err)
	}
	const want = `    x_test.go:4: 1, want 2
FAIL	gitagent/turns	3.000s
hooks/x.go:1: undefined: x
go: something else
`
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
	}
	if got.passed != 1 || got.failed != 2 || got.skipped != 2 {
		t.Errorf("%d passed, %d failed, %d skipped", got.passed, got.failed, got.skipped)
	}
	if slow, want := got.slowest(2), []timed{{"turns TestAll/part", 2}, {"turns TestFast", .5}}; !slices.Equal(slow, want) {
		t.Errorf("slowest: %v, want %v", slow, want)
	}
	out.Reset()
	all := new(tally)
	all.add(got)
	all.add(got)
	all.print(&out)
	for _, want := range []string{"\nSkipped: 2, tmux is missing\n", "\nLeft to make check: 4 tests and scripts\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// TestWhole: what make check leaves out has passed with all its parts, or is such a part.
func TestWhole(t *testing.T) {
	var in strings.Builder
	end := func(test, action, said string) {
		fmt.Fprintf(&in, `{"Action":"output","Package":"p","Test":%q,"Output":%q}`+"\n", test, "    x_test.go:1: "+said+"\n")
		fmt.Fprintf(&in, `{"Action":%q,"Package":"p","Test":%q}`+"\n", action, test)
	}
	end("TestWhole/one", "pass", "")
	end("TestWhole/two/deep", "pass", "")
	end("TestWhole/two", "pass", "")
	end("TestWhole", "pass", "")
	end("TestPart/one", "pass", "")
	end("TestPart/two/one", "pass", "")
	end("TestPart/two/two", "skip", "left to make check")
	end("TestPart/two", "pass", "")
	end("TestPart/three", "pass", "the rest is left to make check")
	end("TestPart/four", "fail", "")
	end("TestPart", "fail", "")
	end("TestTool", "skip", "tmux is missing")
	end("TestLeft", "pass", "the rest is left to make nightly")
	end("TestNight/one", "skip", "left to make nightly")
	end("TestNight", "pass", "")
	got, err := read(strings.NewReader(in.String()), new(strings.Builder))
	if err != nil {
		t.Fatal(err)
	}
	if whole, want := got.whole(), "p TestWhole\np TestPart/one\np TestLeft\np TestNight\n"; whole != want {
		t.Errorf("passed whole:\n%s\nwant:\n%s", whole, want)
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		args, want string // the names of the stages; "" if it is an error
	}{
		{"", ""},
		{"all", ""},
		{"test", "tests"},
		{"check race lint", "race lint"},
		{"check tests lint kills", ""},
	} {
		got, err := choose(strings.Fields(tt.args))
		var names []string
		for _, s := range got {
			names = append(names, s.name)
		}
		if strings.Join(names, " ") != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("choose(%s) = %s, %v; want %s", tt.args, names, err, tt.want)
		}
	}
}
