package git

import (
	"os"
	"reflect"
	"testing"

	"gitagent/test/gittest"
)

// TestOptions: what each option changes, and that they add up in their order.
func TestOptions(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("GIT_TERMINAL_PROMPT", "")
	gittest.Must(t, os.Unsetenv("GIT_TERMINAL_PROMPT"))
	env := []string{"HOME=/home/dev", "GIT_INDEX_FILE=i", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}
	before := start{dir: "/w", env: env, options: []string{"-c", "a=b"}}
	underived := []string{"-c", "a=b", "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false"}
	a, b := new(os.File), new(os.File)
	for _, tt := range []struct {
		name    string
		options []Option
		want    start
	}{
		{"none", nil, before},
		{"env", []Option{Env("A=1", "B=2"), Env("A=3")}, start{"/w", append(env[:4:4], "A=1", "B=2", "A=3"), before.options, nil}},
		{"wary", []Option{Wary}, start{"/w", append(env[:4:4], "GIT_ALLOC_LIMIT=128m"), before.options, nil}},
		{"underived", []Option{Underived}, start{"/w", env, underived, nil}},
		{"others", []Option{Others}, start{"/w", []string{env[0], env[2], env[3]}, before.options, nil}},
		{"others, and another index", []Option{Others, Env("GIT_INDEX_FILE=o")}, start{"/w", []string{env[0], env[2], env[3], "GIT_INDEX_FILE=o"}, before.options, nil}},
		{"others after its variable", []Option{Env("GIT_INDEX_FILE=o"), Others}, start{"/w", []string{env[0], env[2], env[3]}, before.options, nil}},
		{"sparing", []Option{Sparing}, start{".", env, []string{"-C", "/w", "-c", "a=b"}, nil}},
		{"here", []Option{Here}, start{".", env, before.options, nil}},
		{"in a directory", []Option{In("/d"), In("")}, start{"/d", env, before.options, nil}},
		{"the later directory", []Option{In("/d"), Here}, start{".", env, before.options, nil}},
		{"sparing a directory", []Option{In("/d"), Sparing}, start{".", env, []string{"-C", "/d", "-c", "a=b"}, nil}},
		{"a directory after sparing", []Option{Sparing, In("/d")}, start{"/d", env, []string{"-C", "/w", "-c", "a=b"}, nil}},
		{"holding", []Option{Holding(a), Holding(b)}, start{"/w", env, before.options, []*os.File{a, b}}},
		{"as the user", []Option{AsUser}, start{"/w", []string{env[0], env[1], "LC_ALL=de_DE.UTF-8"}, before.options, nil}},
		{"a variable after as the user", []Option{AsUser, Env("LC_ALL=C")}, start{"/w", []string{env[0], env[1], "LC_ALL=de_DE.UTF-8", "LC_ALL=C"}, before.options, nil}},
		{"several", []Option{Sparing, Underived, Wary}, start{".", append(env[:4:4], "GIT_ALLOC_LIMIT=128m"), append([]string{"-C", "/w"}, underived...), nil}},
	} {
		r := &Repo{start: before}
		if got := r.With(tt.options...).start; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if !reflect.DeepEqual(r.start, before) {
			t.Fatalf("%s changed what it began with: %v", tt.name, r.start)
		}
	}
}
