package owners

import (
	"maps"
	"slices"
	"testing"
)

// TestFiles has names, modes and ends of files, changed by a and b in turn.
func TestFiles(t *testing.T) {
	tests := []struct {
		name   string
		start  map[string]string
		steps  []map[string]string
		others map[string]string
	}{
		{
			"own rename of a file that another writes in",
			map[string]string{"f": "1\n2\n3\n"},
			[]map[string]string{{"f": gone, "g": "1\n2\n3\nown\n"}, {"g": "1\nb\n2\n3\nown\n"}},
			map[string]string{"g": "1\nb\n2\n3\n"},
		},
		{
			"another's rename",
			map[string]string{"f": "1\n2\n3\n"},
			[]map[string]string{{"f": "1\nown\n2\n3\n"}, {"f": gone, "g": "1\nown\n2\n3\n"}},
			map[string]string{"g": "1\n2\n3\n"},
		},
		{
			"own rename, and another's file",
			map[string]string{"f": "1\n2\n"},
			[]map[string]string{{"f": gone, "g": "1\n2\n"}, {"h": "b\n"}},
			map[string]string{"f": "1\n2\n", "h": "b\n"},
		},
		{
			"own move onto a file",
			map[string]string{"f": "1\n2\n", "g": "3\n"},
			[]map[string]string{{"f": gone, "g": "1\n2\n"}, {"h": "b\n"}},
			map[string]string{"f": "1\n2\n", "g": "3\n", "h": "b\n"},
		},
		{
			"a mode of each",
			map[string]string{"f": "1\n", "g": "1\n"},
			[]map[string]string{{"f": "x:1\n"}, {"g": "x:1\nb\n"}, {"g": "1\nb\n"}},
			map[string]string{"f": "1\n", "g": "x:1\nb\n"},
		},
		{
			"newlines at the end",
			map[string]string{"f": "1\n2", "g": "1"},
			[]map[string]string{{"f": "1\n2\nown\n", "g": "1\nown"}, {"f": "b\n1\n2\nown\n", "g": "b\n1\nown"}},
			map[string]string{"f": "b\n1\n2", "g": "b\n1"},
		},
		{
			"lines that end in CR",
			map[string]string{"f": "1\r\n2\r\n"},
			[]map[string]string{{"f": "1\r\nown\r\n2\r\n"}, {"f": "1\r\nown\r\n2\r\nb\r\n"}},
			map[string]string{"f": "1\r\n2\r\nb\r\n"},
		},
		{
			"a file that another made and the turn removed",
			map[string]string{},
			[]map[string]string{{"f": "own\n"}, {"g": "b\n"}, {"g": gone}},
			map[string]string{"g": "b\n"},
		},
		{
			"binary files and links",
			map[string]string{"f": "\x001", "g": "->x", "h": "text\n"},
			[]map[string]string{{"f": "\x002", "h": "\x00"}, {"g": "->y", "f": "\x003"}, {"f": "\x004", "g": "->z"}},
			map[string]string{"f": "\x003", "g": "->y", "h": "text\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(tt.start)
			for i, files := range tt.steps {
				w.who([]string{"a", "b"}[i%2], int64(2000+1000*i), files)
			}
			r, err := Of(w.turn)
			if err != nil || r == nil {
				t.Fatalf("Of = %v, %v", r, err)
			}
			for _, which := range []func(File) Content{othersOf, sharedOf} {
				if got := w.all(r, which); !maps.Equal(got, tt.others) {
					t.Errorf("got %q, want %q", got, tt.others)
				}
			}
		})
	}
}

// TestUnsure has a change that commands of two may have made.
func TestUnsure(t *testing.T) {
	w := newWorld(map[string]string{"f": "1\n2\n"})
	w.who("a", 2000, map[string]string{"f": "1\nown\n2\n"})
	for who, to := range map[string]int64{"a": 4000, "b": 4100, "c": 40_000} {
		w.turn.Claims = append(w.turn.Claims, Claim{Who: who, From: 3000, To: to})
	}
	w.state(3500, map[string]string{"f": "1\nown\n"})
	w.state(3900, map[string]string{"f": "1\nown\nnew\n"})
	r, err := Of(w.turn)
	if err != nil || r == nil || !slices.Equal(r.With, []string{"b"}) {
		t.Fatalf("Of = %v, %v", r, err)
	}
	others, shared := w.text(r.Files["f"].Others), w.text(r.Files["f"].Shared)
	if others != "1\n2\n" || shared != "1\nnew\n" {
		t.Errorf("others %q, shared %q", others, shared)
	}
}
