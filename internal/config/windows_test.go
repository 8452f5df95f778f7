package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSetWindows(t *testing.T) {
	t.Parallel()
	windows := map[string]int{"claude-opus-4-5*": 167_000, "a.b": 5}
	const fresh = `"a.b" = 5` + "\n" + `"claude-opus-4-5*" = 167000` + "\n"
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "[context.windows]\n" + fresh},
		{"another table", "[retry]\nsession_tail_size = 1 # mine", "[retry]\nsession_tail_size = 1 # mine\n[context.windows]\n" + fresh},
		{"the table, empty", "[context.windows]", "[context.windows]\n" + strings.TrimSuffix(fresh, "\n")},
		{"the table between others", "[context]\nwarning = 1\n [ context . windows ] # tokens\nx = 1\n[retry]\n", "[context]\nwarning = 1\n [ context . windows ] # tokens\n" + fresh + "x = 1\n[retry]\n"},
		{"one of the keys", "[context.windows]\n  \"claude-opus-4-5*\"  =  200_000  # my plan\n", "[context.windows]\n\"a.b\" = 5\n  \"claude-opus-4-5*\"  =  167000  # my plan\n"},
		{"both keys", "[context.windows]\n'claude-opus-4-5*' = 1\n\"a.b\"=0x1F\n", "[context.windows]\n'claude-opus-4-5*' = 167000\n\"a.b\"=5\n"},
		{"lines of Windows", "[context.windows]\r\n\"a.b\" = 1\r\n", "[context.windows]\r\n\"claude-opus-4-5*\" = 167000\r\n\"a.b\" = 5\r\n"},
		{"lines of Windows, another table", "[retry]\r\n", "[retry]\r\n[context.windows]\r\n\"a.b\" = 5\r\n\"claude-opus-4-5*\" = 167000\r\n"},
		{"a header in a text", "x = '''\n[context.windows]\n'''\n", ""},
		{"an inline table", "[context]\nwindows = {\"a.b\" = 1}\n", ""},
		{"dotted keys", "context.windows.x = 1\n", ""},
		{"not TOML", "[context", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "dir", "config.toml")
			if tt.before != "" {
				if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := SetWindows(path, windows)
			got, _ := os.ReadFile(path)
			if tt.after == "" {
				if err == nil || string(got) != tt.before {
					t.Errorf("error %v, and the file is\n%s", err, got)
				}
				return
			}
			if err != nil || string(got) != tt.after {
				t.Errorf("error %v, got\n%q\nwant\n%q", err, got, tt.after)
			}
			c, _ := Load(path, "")
			if c.Context.Windows["claude-opus-4-5*"] != 167_000 || c.Context.Windows["a.b"] != 5 {
				t.Errorf("windows are %v", c.Context.Windows)
			}
		})
	}
}

// FuzzSetWindows checks that an edit changes nothing else in a text, and that a second edit changes
// nothing at all.
func FuzzSetWindows(f *testing.F) {
	for _, text := range []string{"", everyKey, "[context.windows]\nx = 1 # a\n", "context = {windows = {}}", "[context]\nwindows.x = 1", "x = '''\n[context.windows]\n'''"} {
		f.Add(text, "x", 7)
	}
	f.Fuzz(func(t *testing.T, text, pattern string, tokens int) {
		if pattern == "" || tokens < 0 || checkDepth(text) != nil || len(text) > 1000 {
			return
		}
		windows := map[string]int{pattern: tokens}
		after, err := setWindows(text, windows)
		if err != nil {
			return
		}
		before, err := parse(text)
		if err != nil || !sets(before, after, windows) {
			t.Fatalf("%q became %q: %v", text, after, err)
		}
		if again, err := setWindows(after, windows); err != nil || again != after {
			t.Errorf("%q became %q, then %q, %v", text, after, again, err)
		}
	})
}
