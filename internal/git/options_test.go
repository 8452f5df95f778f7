package git

import (
	"os"
	"reflect"
	"slices"
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
	wary := []string{"-c", "core.bigFileThreshold=32m"}
	a, b := new(os.File), new(os.File)
	of := func(dir string, env, options []string, held []*os.File) start {
		return start{dir: dir, env: env, options: options, held: held}
	}
	user, hooked := of("/w", []string{env[0], env[1], "LC_ALL=de_DE.UTF-8"}, before.options, nil), before
	user.user, hooked.hooks = true, true
	german := user
	german.env = append(slices.Clone(user.env), "LC_ALL=C")
	for _, tt := range []struct {
		name    string
		options []Option
		want    start
	}{
		{"none", nil, before},
		{"env", []Option{Env("A=1", "B=2"), Env("A=3")}, of("/w", append(env[:4:4], "A=1", "B=2", "A=3"), before.options, nil)},
		{"wary", []Option{Wary}, of("/w", append(env[:4:4], "GIT_ALLOC_LIMIT=128m"), append([]string{"-c", "a=b"}, wary...), nil)},
		{"underived", []Option{Underived}, of("/w", env, underived, nil)},
		{"others", []Option{Others}, of("/w", []string{env[0], env[2], env[3]}, before.options, nil)},
		{"others, and another index", []Option{Others, Env("GIT_INDEX_FILE=o")}, of("/w", []string{env[0], env[2], env[3], "GIT_INDEX_FILE=o"}, before.options, nil)},
		{"others after its variable", []Option{Env("GIT_INDEX_FILE=o"), Others}, of("/w", []string{env[0], env[2], env[3]}, before.options, nil)},
		{"sparing", []Option{Sparing}, of(".", env, []string{"-C", "/w", "-c", "a=b"}, nil)},
		{"here", []Option{Here}, of(".", env, before.options, nil)},
		{"in a directory", []Option{In("/d"), In("")}, of("/d", env, before.options, nil)},
		{"the later directory", []Option{In("/d"), Here}, of(".", env, before.options, nil)},
		{"sparing a directory", []Option{In("/d"), Sparing}, of(".", env, []string{"-C", "/d", "-c", "a=b"}, nil)},
		{"a directory after sparing", []Option{Sparing, In("/d")}, of("/d", env, []string{"-C", "/w", "-c", "a=b"}, nil)},
		{"holding", []Option{Holding(a), Holding(b)}, of("/w", env, before.options, []*os.File{a, b})},
		{"as the user", []Option{AsUser}, user},
		{"with hooks", []Option{Hooked}, hooked},
		{"a variable after as the user", []Option{AsUser, Env("LC_ALL=C")}, german},
		{"several", []Option{Sparing, Underived, Wary}, of(".", append(env[:4:4], "GIT_ALLOC_LIMIT=128m"), slices.Concat([]string{"-C", "/w"}, underived, wary), nil)},
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
